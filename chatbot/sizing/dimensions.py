"""Read quantities with units from plain words, and find the one formula that has the unit asked for.

Each number takes the unit behind it: "2,900 tok/s per GPU" is tokens per hour and GPU, "95 s each" is GPU hours per
item of what was counted before. If two formulas use equally many quantities but differ in value, neither is right.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from chatbot.sizing.arithmetic import evaluate
from chatbot.sizing.given import share_of
from chatbot.sizing.reading.numerals import number_of
from ingest import Row

Dimensions = frozenset[tuple[str, int]]
"""Exponents of "usd", "h", "GB", "audio", "kWh", "g", "pue", "machine", "gpu", and of anything counted: "#photo"."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number; `text` is its arithmetic in hours, dollars, GB, kWh and grams.

    `at` is its turn and its position in the text. A quantity that is `idle` may go unused.
    """

    text: str
    dimensions: Dimensions
    at: tuple[int, int]
    numbers: tuple[float, ...] = ()
    idle: bool = False
    rows: tuple[Row, ...] = ()
    source: str = ""
    """Where the number comes from, in words, if the user does not give it."""

    @property
    def units(self) -> dict[str, int]:
        return dict(self.dimensions)


def dimensions(**exponents: int) -> Dimensions:
    return frozenset(exponents.items())


def times(*terms: tuple[Dimensions, int]) -> Dimensions:
    """The dimensions of a product of terms, each raised to its exponent."""
    found: dict[str, int] = {}
    for dims, sign in terms:
        for name, exponent in dims:
            found[name] = found.get(name, 0) + sign * exponent
    return frozenset((name, exponent) for name, exponent in found.items() if exponent)


# --- reading --------------------------------------------------------------------------------------------------------------

_CARD = r"(?:nvidia )?(?:gpus?|cards?|accelerators?|chips?|(?!p\d)[abhlvt]\d{1,3}[a-z]?s?(?: sxm)?)"
_MACHINE = r"(?:gpu |dev |spot |on-demand |big )?(?:nodes?|servers?|box(?:es)?|machines?|hosts?|instances?|notebooks?|vms?|workstations?|endpoints?|replicas?|pods?|workers?|containers?)|[a-z]\w{1,6}\.\w*large|of (?:them|those|these)"
_SPOKEN = r"(?:audio|speech|calls?|recordings?|videos?|podcasts?|footage|interviews?|meetings?|lectures?)"
_TIMES = (
    (r"ms|milliseconds?", "/ 3.6e6"), (r"s|secs?|seconds?", "/ 3600"), (r"mins?|minutes?", "/ 60"), (r"h|hrs?|hours?", ""), (r"d|days?|nights?", "× 24"),
    (r"weeks?", "× 168"), (r"mo|months?", "× 730"), (r"quarters?", "× 2190"), (r"y|yrs?|years?|annum", "× 8760"),
)  # fmt: skip
GIB = "× 1.073741824"
# The pattern of a unit, its dimensions, and the factor that converts it to the base unit.
_UNITS: tuple[tuple[str, Mapping[str, int], str], ...] = (
    (rf"{_CARD}[- ](?:hours?|hrs?|h)", {"h": 1, "gpu": 1}, ""),
    (r"(?:node|instance|machine|box|server)[- ](?:hours?|hrs?|h)", {"h": 1, "machine": 1}, ""),
    (rf"(?:hours?|h) (?:of )?(?:\w+ )?{_SPOKEN}", {"audio": 1}, ""),
    (r"gi?b[- ]?(?:months?|mo)", {"GB": 1, "h": 1}, "× 730"),
    *((rf"{scale}wh", {"kWh": 1}, factor) for scale, factor in (("k", ""), ("m", "× 1000"), ("g", "× 1e6"), ("", "/ 1000"))),
    *((rf"{scale}w|{name}watts?", {"kWh": 1, "h": -1}, factor) for scale, name, factor in (("k", "kilo", ""), ("m", "mega", "× 1000"), ("", "", "/ 1000"))),
    *((rf"{scale}(?:bits?(?:ps|/s| per second| a second)?|bps|ig)", {"GB": 1, "h": -1}, f"/ {factor} × 3600") for scale, factor in (("g", 8), ("m", 8000))),
    *((rf"{scale}ib", {"GB": 1}, f"{factor} {GIB}".strip()) for scale, factor in (("t", "× 1024"), ("g", ""), ("m", "/ 1024"))),
    *((rf"{scale}b(?:ytes?)?", {"GB": 1}, factor) for scale, factor in (("p", "× 1e6"), ("t", "× 1000"), ("g", ""), ("m", "/ 1000"))),
    *((rf"(?:{written})(?: (?:of )?co2\w*)?", {"g": 1}, factor) for written, factor in ((r"kg|kilos?", "× 1000"), (r"g|grams?", ""))),
    (r"(?:input|prompt) tok(?:en)?s?|in(?=,| and\b| \+| ?/| plus\b)|input", {"#input": 1}, ""),
    (r"(?:output|completion) tok(?:en)?s?|out(?=[,.?;]|$| (?:an?|per|each|every|and|or|vs|versus|against)\b| ?/)|output", {"#output": 1}, ""),
    (r"(?:tokens?|toks?)(?: in| out)?", {"#token": 1}, ""),
    (r"cents?|ct", {"usd": 1}, "/ 100"),
    (r"usd|us dollars?|dollars?|bucks|euros?|eur|€|\$", {"usd": 1}, ""),
    (r"rps|qps", {"#request": 1, "h": -1}, "× 3600"),
    *((written, {"h": 1}, factor) for written, factor in _TIMES),
    (_CARD, {"gpu": 1}, ""),
    (_MACHINE, {"machine": 1}, ""),
)  # fmt: skip
_SCALES = {"k": 1e3, "thousand": 1e3, "m": 1e6, "mn": 1e6, "mio": 1e6, "million": 1e6, "b": 1e9, "bn": 1e9, "billion": 1e9, "t": 1e12, "trillion": 1e12}
_SCALE = r"(?P<scale>k|thousand|mn|mio|m(?!\s?(?:/|per ))|million|bn|b|billion|t|trillion)(?![a-z/])"
_NUMBER = re.compile(rf"(?<![\w.,-])(?P<sign>[$€]\s?)?(?P<n>\d+(?:[.,]\d+)*|\.\d+)(?:\s?{_SCALE})?(?!\d|\w*\.\w)(?P<of>\s?(?:%|[x×](?![a-z])))?")
_ADJECTIVE = re.compile(r"(?!(?:per|an?|each|every|on|of|for|in|at|and|or|with|from|to|the|is|are|was|will|we|it|not|x|hours?|days?)\b)[a-z+-]+ ")
_PER = re.compile(rf"(?: a ?piece| each)?\s?(?:(?P<sure>/\s?|-?per[ -])|an? |each |every |p(?=s\b))(?P<n>1 ?|\d[\d,.]* ?)?(?:{_SCALE} ?)?")
_EACH = re.compile(r"[^.,;?!|\d]{0,30}?\b(?:each|apiece|a piece)\b")
_EACH_OF = re.compile(r"(?:^|[,;.:(] ?(?:and )?|\bif )each (?:of (?:them|these|which) )?(?:[a-z]+ ){0,6}$")
_CLAUSE = re.compile(r"[,;?!|]|[.] |[0-9]")
_ALIKE = {"img": "image", "photo": "image", "picture": "image", "frame": "image", "doc": "document", **dict.fromkeys(("req", "query", "querie", "call", "message", "prompt", "chat", "reply", "answer", "replie"), "request")}
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
# Numbers that are not quantities: names of cards and models, clock times, definitions of units, terms of a commitment.
_NAMES = re.compile(
    r"(?<![\w.])(?:(?P<card>(?:rtx )?[345]0[5-9]0(?: ?ti)?s?)|(?:llama|qwen|gemma|phi|gpt|v)[ -]?\d(?:\.\d)?|\d+(?:\.\d+)?b(?! (?:\w+ )?tok)"
    rf"|(?:{_WEEKDAY} )?(?:at )?\d{{1,2}}:\d\d|{_WEEKDAY} (?:at )?\d{{1,2}}|24 ?[/x] ?7|(?:24 ?h|7 ?[jd]) ?/ ?(?:24|7) ?[hjd]?"
    r"|\d{1,2}(?::00)? ?(?:h|am|pm|uhr)?(?: to |-|–| until )\d{1,2}(?::00)? ?(?:h|am|pm|uhr|o'clock)?(?=[ ,.;?)]|$)(?! ?(?:%|[a-z]*s\b))"
    r"|\d+[ -](?:person|people|man)\b|1 tb = 1,?0\d\d gb|of 365 days|[13][ -]?(?:years?|yrs?) (?:reserv|commit|savings|plan)\w*)(?!\w)"
)
_WRITTEN = tuple(
    (re.compile(written), dims, idle)
    for written, dims, idle in (
        (r"(\d+(?:[.,]\d+)?)\s?(?:x|×|times) (?:faster than )?real[ -]?time", dimensions(audio=1, h=-1, worker=-1), False),
        (r"(?:real[- ]time factor|rtf)(?: of| is|:|=)* (\d*[.,]?\d+)", dimensions(audio=-1, h=1, worker=1), False),
        (r"\bpue(?: of| is| at|:|=| around| about| quotes)*\s?(\d+(?:[.,]\d+)?)", dimensions(pue=1), False),
        (r"(?<![\w.])(\d+(?:[.,]\d+)?)\s?(?:x|×|times) (?:the |that |of the )*(?:(?:daily|usual|normal) )?(?:average|mean|usual|normal)\b", dimensions(), False),
        (r"(?<![\w.])(\d+) (?:epochs|times|passes|\w+ one after (?:another|the other))\b", dimensions(), False),
        (r"(?<![\w.])(\d+)[ -](?:x )?(?:gpu|card) (?=(?:node|server|box|machine|instance)\b)", dimensions(gpu=1, machine=-1), True),
    )
)
# Nouns for the alternatives that a question compares; a count of them may go unused.
_ALTERNATIVES = frozenset({"#site", "#quote", "#offer", "#option", "#region", "#location", "#place"})
_WHOLE = {"year": 8760.0, "month": 730.0, "week": 168.0, "day": 24.0}
_SPANS = frozenset({*_WHOLE, "hour", "night", "second", "minute"})
# Words between a unit and its "per": "500 GB of logs a day", "350 ms on a T4 per image".
_APART = re.compile(rf"(?: of)?(?: (?!(?:for|over|in|during|at|and|than|on)\b)[a-z]+){{1,2}}(?= (?:an?|per|every|each) (?:{'|'.join(_SPANS)})\b)| on (?:an? |one )?(?:{_CARD}|{_MACHINE})(?= per [a-z])")
_WHOLE_SPAN = re.compile(rf"\b(?:all|whole|entire|full) ({'|'.join(_WHOLE)})\b(?! long)")
_REST = re.compile(r"\b(?:rest|host|others?|overhead|plus|another|constant|total|altogether|together|in all|whole)\b")
_PLURAL = re.compile(r"(?!(?:gives|does|makes|takes|needs|costs|times)\b)(?:[a-z][a-z-]+[^\W\d_aius]s|req|img|people|ppl|staff)(?!\w)")
_SINGULAR = re.compile(r"(?!day|other|more|piece|one|it\b)[a-z]{3,}(?!\w)")
_AND_FOR = re.compile(r"(?:\bplus|\+|\band)(?: about| some| another)? $")
_ALONE = re.compile(r"\b(?:on|with|for)\s(?:only |just |about )*$")
_A_PRICE = re.compile(rf"(?: a piece| apiece| each)?\s?(?:/|per |an? |-?per-)\s?(?:(?:{_CARD}|{_MACHINE})[ -]?)?(?:h|hr|hour|months?|mo|year|gi?b|[km]wh|m|mio|million|mtok)\b")
_BOTH_WAYS = re.compile(r" (?:each|per|both|in each) (?:way|direction)s?\b")
# Tokens of prompt and answer are told apart only if they have different prices.
_BY_KIND = re.compile(r"(?:per|/) ?(?:1 ?)?m\w* (?:input|output|prompt|out\b|in\b(?=,| and| ?/| \+))")
_A_THING = re.compile(r"\b(?:an?|one|each|every) ([a-z]+)(?: of ours)? (?:is|has|takes|averages|uses)(?: about| around)? (?:[\d,.k]+ in and )?$")
_BATCH = re.compile(r"batch(?: size)?(?: of| is)? $")
_SEEN = re.compile(r"\b(?:peak|traffic|we (?:see|get|have|need)|demand|in total|altogether|together)\b")


@cache
def _units() -> tuple[tuple[re.Pattern[str], Dimensions, str], ...]:
    return tuple((re.compile(rf"(?:{written})(?!\w)"), frozenset(dims.items()), factor) for written, dims, factor in _UNITS)


def named(noun: str) -> str:
    """The dimension of a counted noun: "#image" for "photos"."""
    stem = noun.removesuffix("s")
    return f"#{_ALIKE.get(stem, stem)}"


def _unit_at(text: str, at: int, *, one: bool = False) -> tuple[Dimensions, str, int] | None:
    """Return the unit that begins at a position: its dimensions, its factor and where it ends.

    Nouns in the plural are units too; with `one`, so are nouns in the singular.
    """
    for pattern, dims, factor in _units():
        if match := pattern.match(text, at):
            return dims, factor, match.end()
    noun = (_SINGULAR if one else _PLURAL).match(text, at)
    return (frozenset({(named(noun.group()), 1)}), "", noun.end()) if noun else None


@dataclass(frozen=True, slots=True)
class Share:
    """A share, as a formula writes it, with the role that the words beside it give it."""

    role: str
    text: str
    at: tuple[int, int]
    numbers: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """What one turn gives.

    `left` are the numbers without a unit, `text` is the turn with bars over all numbers that were read, and `counted`
    is what it counted last.
    """

    quantities: tuple[Quantity, ...]
    shares: tuple[Share, ...]
    left: tuple[str, ...]
    text: str
    counted: Dimensions


def read_all(texts: Iterable[str]) -> list[Turn]:
    """Read the quantities of turns, normalised by `as_read`. What one turn counts is what "each" means in the next."""
    turns, texts = list[Turn](), list(texts)
    by_kind = any(map(_BY_KIND.search, texts))
    for number, text in enumerate(texts):
        turns.append(read(text, number, turns[-1].counted if turns else dimensions(), by_kind=by_kind))
    return turns


def read(text: str, turn: int, counted: Dimensions = frozenset(), *, by_kind: bool = False) -> Turn:
    """Read the quantities of a turn; `counted` is what the turn before counted last, and `by_kind` that tokens of prompts and answers have their own prices."""
    found: list[Quantity] = []
    shares: list[Share] = []
    left: list[str] = []
    text = masked = _NAMES.sub(lambda name: ("gpu" if name["card"] else "").ljust(len(name.group())), text)
    if not (by_kind or _BY_KIND.search(text)):
        text = masked = re.sub(r"\b(?:input|prompt|output|completion|generated) (?=tok)", lambda kind: " " * len(kind.group()), text)
    for pattern, dims, idle in _WRITTEN:
        for match in pattern.finditer(text):
            number = next(filter(None, match.groups())).replace(",", ".")
            found.append(Quantity(number, dims, (turn, match.start()), (float(number),), idle))
        text = masked = pattern.sub(lambda match: "|" * len(match.group()), text)
    if shape := _cache_of_a_token(text):
        found.append(Quantity(shape, frozenset({("GB", 1), ("#token", -1)}), (turn, 0), tuple(map(float, re.findall(r"\d+(?:e9)?", shape)))))
        text = _SHAPE.sub(lambda match: "|" * len(match.group()), text)
        text = masked = _CONTEXT.sub(lambda match: f"{int(match[1]) * 1024} tokens each", text)
    found += [Quantity(f"{_WHOLE[match[1]]:g}", dimensions(h=1), (turn, match.start()), (_WHOLE[match[1]],), idle=match.group().startswith("all")) for match in _WHOLE_SPAN.finditer(text)]
    end = 0
    for match in _NUMBER.finditer(text):
        if match.start() < end:
            continue
        quantity, end = _quantity(text, match, turn, counted)
        if not quantity and found and {("kWh", 1), ("h", -1)} <= found[-1].dimensions and _AND_FOR.search(text[: match.start()]) and text[end:].startswith(" for "):
            quantity = Quantity(f"{match['n']}{found[-1].text[found[-1].text.find(' ') :]}", dimensions(kWh=1, h=-1), (turn, match.start()), (number_of(match["n"]),))
        if "%" in (match["of"] or ""):
            share = number_of(match["n"]) / 100
            shares.append(Share(share_of(text, match.start(), match.end()), f"{share:.6g}", (turn, match.start()), (share,)))
            end = match.end()
        elif quantity:
            found += [] if any((q.text, q.dimensions) == (quantity.text, quantity.dimensions) and len(q.dimensions) == 1 for q in found) else [quantity]
            now = frozenset(pair for pair in quantity.dimensions if pair[1] == 1 and pair[0].startswith(_COUNTED))
            counted = now if now and not (counted and {name for name, _ in now} <= _TOKENS) else counted
        elif match["n"] != "1":
            left.append(match.group())
        masked = f"{masked[: match.start()]}{'|' * (end - match.start())}{masked[end:]}"
    timed = any(("h", 1) in q.dimensions for q in found) and not any({("usd", 1), ("h", -1)} <= q.dimensions for q in found)
    hourly = frozenset({("usd", 1), ("h", -1), ("worker", -1)})
    found = [replace(q, dimensions=hourly) if timed and q.dimensions == dimensions(usd=1) and re.search(r"(?:\bat|@) $", text[: q.at[1]]) else q for q in found]
    if any({("usd", 1), ("GB", -1)} <= q.dimensions for q in found):
        found = [replace(q, text=q.text.replace(f" {GIB}", "")) for q in found]  # storage that is sold by the GB is sold by the GiB
    return Turn(tuple(_in_parallel(found)), tuple(shares), tuple(left), masked, counted)


def _in_parallel(quantities: Sequence[Quantity]) -> list[Quantity]:
    """Give tokens of prompts what is said only of those of answers: "45 million input and 6 million output tokens a day"."""
    found = list(quantities)
    for one, other in (("#input", "#output"), ("#output", "#input")):
        for n, of in ((n, of) for n, q in enumerate(quantities) for of in quantities if q.dimensions == {(one, 1)} and of.units.get(other) == 1 and len(of.dimensions) > 1):
            found[n] = replace(found[n], text=" ".join([found[n].text, *of.text.split(" ")[1:]]), dimensions=times((of.dimensions, 1), (frozenset({(other, 1)}), -1), (found[n].dimensions, 1)))
    return found


_SHAPE = re.compile(r"(?P<layers>\d+) layers\b|(?P<heads>\d+) (?:kv|key[/-]value) heads?\b|(?:head[ -]?dim(?:ension)?(?: of| is)? )(?P<dim>\d+)|(?P<dim_>\d+) (?:head[ -]?)?dim\b")


_CONTEXT = re.compile(r"(?<![\w.])(\d{1,4})k(?: (?:tok(?:en)?s?|prompts?|context|ctx))?(?: each)?(?!\w)")


def _cache_of_a_token(text: str) -> str:
    """Return the formula for the GB per token of a KV cache; "" unless layers, heads and head dimension are given.

    Without a format, the cache has 16 bits.
    """
    sizes = {name.rstrip("_"): number for match in _SHAPE.finditer(text) for name, number in match.groupdict().items() if number}
    if len(sizes) < 3:
        return ""
    bytes_ = 4 if "fp32" in text else 1 if re.search(r"\bfp8|\bint8|\b8[ -]?bit", text) else 2
    return f"2 × {sizes['layers']} × {sizes['heads']} × {sizes['dim']} × {bytes_} / 1e9"


_COUNTED = ("#", "gpu", "machine", "worker")
_TOKENS = {"#token", "#input", "#output"}
_HOURLY = ("/ 3600", "/ 60", "")


def _quantity(text: str, match: re.Match[str], turn: int, counted: Dimensions) -> tuple[Quantity | None, int]:
    """Read a number with the unit behind it; return the quantity (None without a unit) and where it ends."""
    value = (float(match["n"]) if match["n"].startswith(".") else number_of(match["n"])) * _SCALES.get(match["scale"] or "", 1.0)
    at, factor, before = match.end(), "", text[max(0, match.start() - 40) : match.start()]
    if match["sign"] or _A_PRICE.match(text, at):
        dims = dimensions(usd=1)
    elif unit := _unit_behind(text, at):
        dims, factor, at = unit
    elif _BATCH.search(before):
        dims = frozenset({("#example", 1), ("#step", -1)})
    elif _ALONE.search(before) and re.match(r"\W*(?:$|[,.;?!]|and\b|in\b)", text[at:]):
        dims = dimensions(worker=1)
    else:
        return None, at
    if "usd" in dict(dims) and re.fullmatch(r"[1-9]\d{0,2}\.\d{3}", match["n"]) and value < 1000 and not _PER.match(text, at):
        value *= 1000  # "2.850 €": the point separates thousands
    factors, hourly = [f"{value:.10g}", factor], False
    if "usd" not in dict(dims) and ("h", -1) not in dims and (apart := _APART.match(text, at)):
        at = apart.end()
    while per := _PER.match(text, at):
        unit = _unit_at(text, per.end(), one=bool(per["sure"] or dims == dimensions(usd=1)) and not per["n"])
        if unit is None and per["scale"] and "usd" in dict(dims):
            unit = (frozenset({("#token", 1)}), "", per.end())
        if unit is None:
            break
        many = (number_of(per["n"].strip()) if per["n"] else 1.0) * _SCALES.get(per["scale"] or "", 1.0)
        factors += [f"/ {many:g}".replace("e+0", "e") if many != 1 else "", unit[1].translate(str.maketrans("/×", "×/"))]
        hourly = hourly or (unit[0] == dimensions(h=1) and unit[1] in _HOURLY)
        dims, at = times((dims, 1), (unit[0], -1)), unit[2]
    if both := _BOTH_WAYS.match(text, at):
        factors, at = [*factors, "× 2"], both.end()
    near = f"{_CLAUSE.split(before)[-1]} {_CLAUSE.split(text[at : at + 40])[0]}"
    names = {name for name, _ in dims}
    if dims == dimensions(g=1) and not factor:
        dims = times((dims, 1), (dimensions(kWh=1), -1))
    elif re.search(r"\b(?:every|each)\s(?:about |roughly )?$", before) and names == {"h"}:
        pass
    elif names <= {"#input", "#output", "#token"} and (of := _A_THING.search(before)):
        dims = times((dims, 1), (frozenset({(named(of[1]), 1)}), -1))
    elif counted and _is_each(text, at, before, counted, dims):
        dims = times((dims, 1), (counted, -1))
    elif names == {"h"} and not counted and _EACH.match(text, at):
        dims = times((dims, 1), (frozenset({(named("thing"), 1)}), -1))  # nothing was counted before: "photos, 0.4 s each"
    elif not names & {"gpu", "machine"} and (_draws(names, near) or (hourly and names - {"GB", "kWh"} > {"h"} and not _SEEN.search(near))):
        worker = "gpu" if re.search(rf"\b(?:{_CARD})\b", near) else "machine" if re.search(rf"\b(?:{_MACHINE})\b", near) else "worker"
        dims = times((dims, 1), (frozenset({(worker, 1)}), -1))
    if dict(dims).get("h") == 1 and {name[0] for name, exponent in dims if exponent < 0} == {"#"} and len(dims) == 2:
        dims = times((dims, 1), (dimensions(worker=1), 1))  # the time that each takes on one worker
    idle = (value in (730, 8760) and dims == dimensions(h=1)) or bool(names & _ALTERNATIVES) or (dims == dimensions(GB=1) and bool(re.search(rf"(?:{_CARD})\s$", before)))
    return Quantity(" ".join(filter(None, factors)), dims, (turn, match.start()), (value,), idle), at


def _is_each(text: str, at: int, before: str, counted: Dimensions, dims: Dimensions) -> bool:
    """Whether a quantity is per item of what was counted before. A price or a power is per machine instead.

    Examples: "650 tokens each", "episodes of 52 min", "700 tokens on average".
    """
    names, of = {name for name, _ in dims}, re.search(r"(\w+) of $", before)
    if {name for name, _ in counted} & names or ({"usd", "kWh"} & names and "h" in names and any(name.startswith("#") for name, _ in counted)):
        return False
    average = names == {"#token"} and re.search(r"\b(?:avg|average|mean)\b", f"{before[-15:]} {text[at : at + 12]}")
    return bool(_EACH.match(text, at) or _EACH_OF.search(before) or average or (of and ((named(of[1]), 1) in counted or of[1] in _SPANS)))


def _draws(names: set[str], near: str) -> bool:
    """Whether a power is per machine or GPU, not a total or that of the rest."""
    return names == {"kWh", "h"} and not _REST.search(near)


def _unit_behind(text: str, at: int) -> tuple[Dimensions, str, int] | None:
    """The unit behind a number, with at most two words between them: "14 million product photos"."""
    at += len(text[at:]) - len(text[at:].lstrip(" -"))
    for _ in range(3):
        if unit := _unit_at(text, at):
            return unit
        word = _ADJECTIVE.match(text, at)
        if not word:
            return None
        at = word.end()
    return None


# --- solving --------------------------------------------------------------------------------------------------------------

_MOST = 9


@dataclass(frozen=True, slots=True)
class Solution:
    """A formula with the dimensions asked for, and the positions of the quantities in it."""

    formula: str
    used: frozenset[tuple[int, int]]


def solve(quantities: Sequence[Quantity], target: Dimensions, must: frozenset[tuple[int, int]], *, adds: bool = False) -> Solution | None:
    """Return the product of the most quantities that has the dimensions of the target, or None.

    If that product leaves out a quantity in `must` and `adds` is true, a formula with one sum of two products is
    preferred. None if two formulas of equally many quantities differ in value.
    """
    quantities = _aligned(quantities, target)
    if len(quantities) > _MOST:
        return None
    products = _products(quantities, target)
    best = _only((len(used), _is_exact(dims, target), formula, used) for used, made in products.items() for dims, formula in made if (len(used) > 1 or "GB" in dict(target)) and _matches(dims, target))
    if not adds or (best and must <= best.used) or len(quantities) > _MOST - 1:
        return best
    return _only(_sums(products, target, must)) or best


def _aligned(quantities: Sequence[Quantity], target: Dimensions) -> list[Quantity]:
    """Give machines, GPUs and workers one name if only one kind is counted; drop them if none is.

    GPUs and machines stay apart if both are counted or a quantity relates them.
    """
    counted = {name for q in quantities if not q.idle and len(q.dimensions) == 1 for name, exponent in q.dimensions if exponent == 1 and name in _WORKERS}
    of_one = any(q.idle and {"gpu", "machine"} == {name for name, _ in q.dimensions} for q in quantities)
    each = any({"gpu", "machine"} == {name for name, _ in q.dimensions} for q in quantities if not q.idle)
    if not counted and target != dimensions(machine=1):
        drop = {"machine", "worker"} if of_one else set(_WORKERS)
        return [replace(q, dimensions=frozenset(pair for pair in q.dimensions if pair[0] not in drop)) for q in quantities]
    if each or of_one or {"gpu", "machine"} <= counted:
        same = {"worker": "machine"}
    else:
        same = dict.fromkeys(_WORKERS, "machine")
    return [replace(q, dimensions=times(*((frozenset({(same.get(name, name), 1)}), exponent) for name, exponent in q.dimensions))) for q in quantities]


_WORKERS = ("gpu", "machine", "worker")


def _products(quantities: Sequence[Quantity], target: Dimensions) -> dict[frozenset[tuple[int, int]], list[tuple[Dimensions, str]]]:
    """All products and quotients, keyed by the positions of their quantities.

    A number without dimensions only multiplies, and a quantity is never divided by one of the same dimensions.
    """
    made: list[tuple[tuple[tuple[Quantity, int], ...], Dimensions]] = [((), dimensions())]
    for quantity in quantities:
        signs = (1,) if quantity.idle and quantity.dimensions == dimensions(h=1) else _signs(quantity.dimensions, target)
        made += [
            ((*factors, (quantity, sign)), times((dims, 1), (quantity.dimensions, sign)))
            for factors, dims in made
            for sign in signs
            if not any(other.dimensions == quantity.dimensions and of * sign < 0 for other, of in factors) and _is_apart(quantity, [other for other, _ in factors], target)
        ]
    found: dict[frozenset[tuple[int, int]], list[tuple[Dimensions, str]]] = {}
    for factors, dims in made:
        if "usd" not in dict(target) or not any(sign < 0 and q.dimensions == dimensions(h=1) for q, sign in factors) or any(q.dimensions in _SPENT for q, _ in factors):
            found.setdefault(frozenset(q.at for q, _ in factors), []).append((dims, _written(factors)))
    return found


# Amounts of money that may be spread over a period.
_SPENT = (dimensions(usd=1), dimensions(usd=1, machine=-1), dimensions(usd=1, gpu=-1), dimensions(usd=1, worker=-1))


def _is_apart(quantity: Quantity, others: Sequence[Quantity], target: Dimensions) -> bool:
    """Whether a quantity can join a product, which has one power and one price, or two if money is divided by a price."""
    if {("kWh", 1), ("h", -1)} <= quantity.dimensions:
        return not any({("kWh", 1), ("h", -1)} <= other.dimensions for other in others)
    priced = sum("usd" in dict(q.dimensions) for q in (quantity, *others))
    return "usd" not in dict(quantity.dimensions) or priced <= (1 if "usd" in dict(target) else 2)


def _signs(dims: Dimensions, target: Dimensions) -> tuple[int, ...]:
    """Whether a quantity may multiply (1) or divide (-1) in a product.

    More machines take less time and cost more. A count divides if the target is per item of it.
    """
    of = dict(target)
    name, exponent = next(iter(dims)) if len(dims) == 1 else ("", 0)
    if not dims or name == "pue":
        return (1,)
    if exponent == 1 and name in _WORKERS and name not in of:
        return (-1,) if of.get("h") == 1 and not {"usd", "kWh", "g"} & of.keys() else (1,)
    if exponent == 1 and (name.startswith("#") or name in ("audio", "GB")):
        return (of[name],) if name in of else (1,)
    return (1, -1)


def _written(factors: Sequence[tuple[Quantity, int]]) -> str:
    above = [q.text for q, sign in factors if sign > 0]
    below = [f" / ({q.text})" if " " in q.text else f" / {q.text}" for q, sign in factors if sign < 0]
    return f"{' × '.join(above) or '1'}{''.join(below)}"


def _matches(dims: Dimensions, target: Dimensions) -> bool:
    """Whether dimensions equal the target, ignoring a PUE and which nouns are counted (photos, images)."""
    rest = times((dims, 1), (target, -1))
    return all(name.startswith("#") or (name, exponent) == ("pue", 1) for name, exponent in rest) and sum(exponent for name, exponent in rest if name != "pue") == 0


def _is_exact(dims: Dimensions, target: Dimensions) -> bool:
    return {pair for pair in times((dims, 1), (target, -1)) if pair[0] != "pue"} == set()


def _sums(products: Mapping[frozenset[tuple[int, int]], list[tuple[Dimensions, str]]], target: Dimensions, must: frozenset[tuple[int, int]]) -> Iterator[tuple[int, bool, str, frozenset[tuple[int, int]]]]:
    """Yield the formulas with a sum of two products of the same dimensions, times or divided by a third product.

    The second item is true, and ranks first, if all quantities of one product precede those of the other.
    """
    terms = {used: [(dims, formula) for dims, formula in made if {("usd", 1), ("kWh", 1), ("g", 1)} & dims] for used, made in products.items() if used}
    for first, those in terms.items():
        for second, these in terms.items():
            if first & second or min(first) > min(second) or not those or not these:
                continue
            for beside, made in products.items():
                if beside & (first | second) or not must <= (used := first | second | beside):
                    continue
                for dims, formula in those:
                    for other, formula_ in these:
                        if times((dims, 1), (other, -1)) or (len(first) == len(second) == 1 and dims == dimensions(usd=1)):
                            continue
                        for factor, by in made:
                            for sign in (1, -1):
                                if _is_exact(times((dims, sign), (factor, 1)), target):
                                    whole = f"({formula} + {formula_})"
                                    text = f"{by} / {whole}" if sign < 0 else f"{whole} × {by}".removesuffix(" × 1").replace("× 1 /", "/") if beside else whole
                                    yield len(used), max(first) < min(second), text, used


def _only(found: Iterable[tuple[int, bool, str, frozenset[tuple[int, int]]]]) -> Solution | None:
    """The best-ranked formula: first by the flag, then by the most quantities. None if the best ones differ in value."""
    ranked = sorted(found, key=lambda one: (one[1], one[0]), reverse=True)
    best = [one for one in ranked if one[:2] == ranked[0][:2]]
    values = [evaluate(formula) for _, _, formula, _ in best]
    return Solution(best[0][2], best[0][3]) if best and max(values) - min(values) <= 1e-6 * abs(values[0]) else None
