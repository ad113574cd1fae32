"""Read what a question asks of a table of instance types: which rows, which columns, which order."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Literal, NamedTuple

from chatbot.language.names import names
from chatbot.language.words import STOP_WORDS, WORD
from chatbot.table.bounds import (
    DECIMAL,
    NUMBER,
    Bound,
    Reading,
    in_dollars,
    in_figures,
    of_each_device,
    take_amounts,
    take_bounds,
    take_columns,
    value_of,
)
from chatbot.table.columns import ACCELERATOR, DEVICE, HOURLY, NUMBERED, TRAITS, WORDS, Column
from chatbot.table.comparing import Comparison, take_comparison
from chatbot.table.entities import take_regions
from chatbot.table.ratios import Ratio, take_ratio

Order = tuple[Column | Literal["size"], bool]
"""The column to sort by ("size": vCPUs, then memory), and whether the greatest comes first."""


@dataclass(frozen=True, slots=True)
class Trait:
    """Words that the cell of a column must contain or, if `denied`, must not contain."""

    header: str
    words: str
    denied: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """The rows that a question asks for: conditions on them, the columns to report, and the order.

    `types` and `families` are in the order of the question; a row must have one of the `accelerators`. `asked` are the
    columns to report, with prices in `region` and by `purchase`, "spot" or "on demand" ("" if none is named). `seeks`
    says that the question looks for instance types, not for facts about them. `compared` measures the rows by that of
    another type. `without` are families and accelerators that are not wanted.

    `order` asks for its first row, for the one at `place` or, if it only `sorts`, for all rows; `per` orders by a ratio instead. `listed` is the
    request that found the `types`. `leans` says that earlier turns give part of the request.
    """

    types: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    accelerators: tuple[str, ...] = ()
    bounds: tuple[Bound, ...] = ()
    traits: tuple[Trait, ...] = ()
    asked: tuple[Column, ...] = ()
    order: Order | None = None
    seeks: bool = False
    compared: Comparison | None = None
    region: str = ""
    purchase: str = ""
    without: tuple[str, ...] = ()
    per: Ratio | None = None
    sorts: bool = False
    listed: "Request | None" = None
    leans: bool = False
    place: int = 1


# Words that imply an order without naming a column.
_ALONE: tuple[tuple[Literal["price", "size"], bool, str], ...] = (
    ("price", True, r"most expensive|priciest|dearest"),
    ("price", False, r"cheapest|cheaper|least expensive|less expensive|most affordable|lowest[- ]priced|lowest (?:[\w-]+ )?rate"),
    ("size", True, r"largest|biggest"),
    ("size", False, r"smallest"),
)
_DIRECTIONS = {
    True: r"most|highest|largest|biggest|greatest|maximum|max|fastest|more|higher|larger|bigger|greater|faster",
    False: r"least|lowest|smallest|fewest|minimum|min|slowest|less|lower|smaller|fewer|slower",
}
# "The smallest GPU instance" is not the instance with the fewest GPUs.
_COUNTING = {True: r"most|highest|maximum|max|more|higher", False: r"least|lowest|fewest|minimum|min|less|lower|fewer"}
_DENIED = r"(?:(?P<no>(?:with|has|have|having) no|without|no|not|lacking|(?:do|does|did)(?: not|n['’]?t) (?:have|support)) )?(?:any |an? )?"
ROWS = r"(?:instances?|instance types?|types?|sizes?|machines?|vms?|members?|boxes)"
_SEEKS = re.compile(
    rf"\b(?:which|what|list|show|find|looking for|name|any|all|every|table of|overview of|are there|how many|number of)\b(?: (?!does\b|do\b|is\b)[\w.-]+){{0,4}}? {ROWS}\b"
    rf"|^\W*(?:\w+[- ]){{0,5}}{ROWS} (?:with|without|whose|that|having|under|below|over|costing|cheaper than|list|table|overview)\b|\b(?:largest|biggest|smallest|cheapest|most expensive|least expensive)\b|^\W*(?:which|what) (?:of|has|have)\b|\b(?:is|are) there (?:an?|any)\b|\bwhich one\b"
)
_WHICH = re.compile(r"\W*(?:which|what|any)\b")
_SPECIFIED = re.compile(r"\b(?:specs?|specifications?|details|configuration)\b|^\W*(?:tell me about|describe|show(?: me)?)\b")
_SPECIFICATION: tuple[Column, ...] = ("accelerators", "total", "vcpus", "memory", "network", "storage", "processor")
_HOW_MANY = re.compile(r"\b(?:how many|number of)\b")
_TYPE = (
    r"(?<![\w.-])(?P<family>[a-z][a-z0-9]*(?:-[a-z0-9]+)?)\s?\.\s?"
    r"(?P<size>nano|micro|small|medium|large|\d*xl(?:arge)?|metal(?:-\d+xl)?)(?![\w-])"
)
_FAMILY = r"(?<![\w.-])(?P<card>nvidia )?(?P<family>[a-z]+-?\d[a-z0-9-]*)(?![\w-]|\.\d)(?P<after> (?:tensor core )?gpus?)?"
# "Which g instances": all families that begin with a letter.
_LINES = r"(?:series|famil(?:y|ies)|instances?|types?|ones)\b"
_LETTERS = r"(?:[b-hj-z]|inf|trn|hpc)"
_BEFORE_LINES = rf"(?=(?:(?:,| and| or| &) {_LETTERS})*[- ]{_LINES})"
_LETTER = rf"\b(?P<letter>{_LETTERS}){_BEFORE_LINES}"
_MEASURE = (
    r"\b(?:than|as|like|instead of|(?:alternatives?|replacements?|upgrades?|successors?) (?:to|for|of|from)|(?:i|we) (?:now |already |currently )?(?:use|run|have))"
    rf"(?: (?:an?|the|on|in|of|with|our|my|that|those))* {_TYPE}(?: (?:has|have|does|instances?)\b)*"
)
_FRAME = frozenset(
    ["ec2", "aws", "amazon", "instance", "instances", "type", "types", "size", "sizes", "family", "families", "series", "machine", "machines", "vm", "vms", "virtual", "member", "members", "support", "supports", "supported", "offer", "offers", "offered", "equipped", "feature", "features", "featured", "contain", "contains", "carry", "carries", "exist", "exists", "available", "number", "total", "amount", "count", "spec", "specs", "specification", "specifications", "details", "configuration", "capacity", "table", "provide", "provides", "watts", "gb", "gib", "gigabytes", "tb", "tib", "terabytes", "gbps", "together", "altogether", "compare", "include", "includes", "use", "uses", "used", "inside", "built", "among", "between", "across", "compared", "overall", "installed", "attached", "each", "different", "show", "find", "describe", "give", "need", "want", "box", "boxes", "please", "pls", "plz", "thx", "thanks", "nice", "great", "cool", "perfect", "hi", "hey", "can", "could", "make", "get", "side", "slide", "slides", "overview", "summary", "rank", "ranked", "list", "listed", "row", "rows", "column", "columns", "ones", "looking"]
)
# Stop words that change what is asked.
_MATTERS = frozenset({"not", "no", "nor", "without", "than", "until", "instead", "why", "against"})


SENTENCES = re.compile(r"(?<=[?!.;])\s+|\s[-–—]+\s")


def read_request(question: str, types: Collection[str], families: Collection[str], accelerators: Collection[str]) -> Request | None:
    """Read the request in a question; None if any of its words goes beyond it. The known names are in lower case.

    A word is understood if it belongs to a name, a column, a condition or the frame of a question.
    """
    found = _taken(question, types, families, accelerators, anyhow=False)
    if found is None:
        return None
    request, text, named = found.request, _on_one_line(question), found.request.types
    # A region only matters for prices.
    if _is_ambiguous(text, request.asked) or (request.region and not found.priced):
        return None
    if request.per and len(named) == 1 and request.per.of in ("gb", "accelerators"):
        return None  # the price of one machine by its accelerators, which may be used in part, is computed elsewhere
    if (request.seeks or (request.order and not named)) and not (request.accelerators or request.families or found.unaccelerated):
        request = replace(request, traits=tuple(dict.fromkeys((*request.traits, *_kind(text)))))
    if named and request.accelerators and "accelerators" not in request.asked and _HOW_MANY.search(text):
        request = replace(request, asked=("accelerators", *request.asked))
    if named and {*request.asked} <= {"price"} and not (request.bounds or request.order) and _SPECIFIED.search(text):
        request = replace(request, asked=(*_SPECIFICATION, *request.asked))
    left = strange(found.rest)
    per_unit = request.per and (named or request.families) and len(left) <= _BESIDE and not names_left(found.rest) and not _TERMS.search(found.rest)
    return None if left and not per_unit else request


def _purchase(text: str) -> str:
    return "spot" if re.search(r"\bspot\b", text) else "on demand" if re.search(r"\bon[- ]demand\b", text) else ""


def _on_one_line(text: str) -> str:
    """Normalise a text: lower case, one line, and the most common wording.

    Variants that are replaced are, for example, "GPU NVIDIA", "more than a GPU", "g6-sizes", "w/o" and "thirty-two".
    """
    text = in_figures(" ".join(text.lower().split()))
    for pattern, plain in _PLAINLY:
        text = pattern.sub(plain, text)
    text = " ".join(text.split())
    text = re.sub(rf"\b({DEVICE}s?) (nvidia|amd|intel)\b", r"\2 \1", text)
    return re.sub(rf"(?<=\bthan|\bonly) an?(?= {DEVICE}\b)", " one", re.sub(r"(?<=\d)-(?=(?:sizes?|instances?|types?)\b)", " ", text))


_SUPERLATIVE = r"(?:cheapest|priciest|dearest|largest|biggest|smallest|most expensive|least expensive)\b"
_NOT_OF = r"\b(?! ?[\w-]*(?:gpu|card|accelerator|chip|gb|v?cpu))"  # "cheapest 8 GPU instance" does not ask for eight
_FIRST = re.compile(rf"\b(?:top|first) (?P<top>{NUMBER})\b|\b(?P<ahead>{NUMBER}) (?={_SUPERLATIVE})|\bcheapest (?P<behind>{NUMBER}){_NOT_OF}")


def wanted_first(question: str) -> int | None:
    """The number of rows of an order that are asked for ("the five most expensive"); None if not said."""
    found = _FIRST.search(in_figures(question.lower()))
    return int(value_of(next(filter(None, found.groups())))) if found else None


# Variants of a wording, and the one that the conditions' patterns expect.
_PLAINLY = tuple((re.compile(pattern), plain) for pattern, plain in (
    (r"(?<![\w.])ml\.(?=[a-z]+\d)", ""), (r"\bmulti[- ]?gpu", "more than one gpu"),
    (r"(?:, ?)?\b(?:\w+ ){0,3}(?:says?|said|claims?|thinks?|swears?|insists?|(?:tells|telling|told) (?:me|us))\b[^.?!;]*", ""),  # what others claim is not a condition
    (r"\b[a-z]+\d+\w* (?:and|or) (?:up|newer|later)\b", "newer"),
    (rf"\b(?:aws|amazon)(?:['’]s)?[- ](?:own|designed|built|made|developed)(?: (?:ml|ai|deep learning))? (?={DEVICE}s?\b)", "aws "),
    (r"\bw/o\b", "without "), (r"\bw/", "with "), (r"\bnon[- ](?=\w)", "not "), (r"\bnothing (?:less|more)\b", ""),
    (r"\b(?:is|are|do|does|has|have)(?: not|n['’]?t)(?= (?:an?|the|from|of|in|on|any|have|support|nvidia|amd)\b)", "not"),
    (r"\b(?:an? |one )?(?:whole|full|entire|complete) (?=(?:gpu|card)s?\b)", "at least 1 "),
    (rf"\b(gpu|card) (?:{ROWS}|box)(?: with)?((?: (?:over|above|at least|more than|under|below|less than))? {NUMBER} ?(?:gb|gib|gigs?))\b(?! (?:of |in )?(?:v?ram|(?:host |system |main )?memory|gpu|accelerator|total|disk|storage|nvme|ssd))", r"\1 instance with\2 of memory per gpu"),
    (rf"\b(gpu (?:{ROWS}|box)(?: (?:for|under|below|at|up to|less than|at most|costing))+ \$?[\d.]+(?: (?:dollars|bucks))?(?:/h| an hour| per hour)?(?: or less)?) with((?: (?:over|above|at least|more than))? {NUMBER} ?(?:gb|gib|gigs?)\b)(?= *$|[?.!;,])", r"\1 with\2 of memory per gpu"),
    (rf"\b(?:quota|limit|cap|allowance)(?: (?:is|of|for|at))+ (?={NUMBER})", "at most "),
    (rf"\b(top|first|the|list|show|me|need) {NUMBER} (?={_SUPERLATIVE})", r"\1 "),
    (rf"(?<=cheapest) {NUMBER}{_NOT_OF}", ""),
    (r"\b(?:cheaper|less expensive) than (?=\$?\d)", "less than "), (r"\b(?:dearer|pricier|more expensive) than (?=\$?\d)", "more than "),
    (rf"\b(?:cheaper|less expensive|(?:costs?|costing) less(?: per hour| an hour)?) than (?=(?:an? |the )?{_TYPE})", "lower price than "),
    (rf"\b(?:dearer|pricier|more expensive|(?:costs?|costing) more(?: per hour| an hour)?) than (?=(?:an? |the )?{_TYPE})", "higher price than "),
    (r"\b(?:cpu|processor)[- ]?only\b|\bcpu (?=(?:instances?|types?|machines?|boxes)\b)", "without gpus "),
))  # fmt: skip
# "One" in "that one" is not a number.
_ONE = re.compile(rf"\b((?:that|this|which|any|each|every|the(?: \w+)?)) one\b(?! (?:{DEVICE}|v?cpu))")
# Words that remove rows from a list, and the clause that says which.
_REMOVED = (
    r"\b(?:without|except(?: for)?|exclud\w+|drop|remove|omit|discard|skip|scratch|ignore|not the|but not|no|none|nothing|(?:take|leave|leaving|kick|throw|cut|filter|rule|weed|strike)(?: \w+){0,5}? out|(?:take|leave|leaving|kick|throw|cut|filter|rule|weed|strike) (?:out|off)"
    r"|strike|get rid of|(?:do|does)(?: not|n['’]?t) (?:want|need))\b(?! i\b| (?:more|less|fewer) than| (?:any |an? )?(?:gpus?|accelerators?)\b)(?P<what>(?:[^,;.!?|]|[,.](?=\d))+?)(?=,(?!\d)|[;!?|]|\.(?!\d)|\b(?:but|then|and (?:only|sort|keep|show|with|order|add|include|give|tell|put|what|the cheapest))\b|$)"
)
_NARROWS = re.compile(r"\b(?:(?:of|among|between|from) (?:those|these|them|the (?:two|three|four|ones|rest|list|remaining|others?))|only|just|remain\w*|left|keep|still|rest)\b")
# Words that ask for more than rows.
_MORE = re.compile(r"\d|\breserv|\btrain|\bserv(?:e|ing)|\binfer|tun(?:e|ing)\b|\bllm|\bmodel|\b(?:why|when|who|where|should|explain|what if|how (?:do|does|can|to|long|fast))\b")
# Words about the list itself, and the maximum number of other words beside a condition.
_OF_LISTS = frozenset({"rest", "remaining", "remain", "remains", "left", "others", "survivors", "go", "sort", "sorted", "order", "instead", "same"})
_BESIDE = 6
# Terms on which a machine is bought or used, which change what a unit costs.
_TERMS = re.compile(r"%|\b(?:spot|savings?|reserv\w*|discount\w*|off|months?|days?|weeks?|years?|utili\w*|load|busy|idle|useful|effective|tokens?|carbon|watts?|k?wh)\b")


def read_list(question: str, types: Collection[str], families: Collection[str], accelerators: Collection[str]) -> Request | None:
    """Read the rows sought by a question that was classified as seeking some; other words are ignored.

    None if it names types or sets no condition. None also if it contains an amount or a name of hardware that is not
    understood and might be a condition, unless that stands in another sentence than the one that seeks.
    """
    if whole := _read_list(question, types, families, accelerators):
        return whole
    sentences = [part for part in SENTENCES.split(question) if part.strip()]
    read = {part: _read_list(part, types, families, accelerators) for part in sentences} if len(sentences) > 1 else {}
    found = [request for request in read.values() if request]
    beside = " ".join(part for part, request in read.items() if not request)
    is_aside = not (_MEASURED.search(_on_one_line(in_dollars(beside))) or {*columns_in(beside)} - {"accelerators"})
    return found[0] if len(found) == 1 and is_aside else None


def _read_list(question: str, types: Collection[str], families: Collection[str], accelerators: Collection[str]) -> Request | None:
    found = _taken(question, types, families, accelerators)
    if found is None or names_left(found.rest):
        return None
    request = replace(found.request, seeks=True)
    text = _on_one_line(question)
    if not (request.order or request.bounds or request.families or request.accelerators or request.traits):
        return None
    if not (request.accelerators or request.families or found.unaccelerated):
        kinds = (trait for trait in _kind(text) if replace(trait, denied=True) not in request.traits)
        request = replace(request, traits=tuple(dict.fromkeys((*request.traits, *kinds))))
    if not (found.unaccelerated or request.families or request.accelerators or {b.column for b in request.bounds} & {"accelerators"} or {t.header for t in request.traits} & _OF_PROCESSORS):
        request = replace(request, bounds=(*request.bounds, ANY), asked=tuple(c for c in request.asked if c != "accelerators"))
    return request


def names_left(rest: str) -> bool:
    """Whether what is left of a question contains an amount or a name of hardware."""
    return bool(_AMOUNT_LEFT.search(rest)) or any(name.known for name in names(rest))


# Amounts that may set a condition in another sentence.
_MEASURED = re.compile(rf"\b{NUMBER}[ -]?(?:dollars?|bucks?|euros?|[gt]i?b|gigs?|gbit|gbps|v?cpus?|gpus?|cards?|accelerators?|an hour)\b")
# Traits that also tell machines without accelerators apart.
_OF_PROCESSORS = frozenset({"Architecture", "Processor", "Category", "Burstable", "Bare metal"})
# An amount that no condition took, a negation, or something that no row of an instance type has.
_AMOUNT_LEFT = re.compile(rf"\b(?!one\b){NUMBER}\b(?! ?(?:\w+ )?(?:ones?|rows?|results?|options?|of them)\b)|\b(?:without|except|excluding|half|quarter|dozen|thousand|twice|double|fraction\w*|older|newer|oldest|newest|bandwidth|t?flops|watts?|tdp|nvlink|(?:data[ -]?)types? can|formats?|precisions?|(?:fp|bf|int|tf)\d+)\b")


def read_change(question: str, types: Collection[str], families: Collection[str], accelerators: Collection[str]) -> tuple[Request, bool] | None:
    """Read what a turn changes of the list before it, whatever words stand beside it, and whether it narrows the list.

    None if it asks for more than rows or has too many other words. None also if it sets neither condition nor order,
    and does not ask for columns in words that are all understood.
    """
    found = _taken(question, types, families, accelerators)
    if found is None:
        return None
    request, beside = found.request, {*strange(found.rest)} - _OF_LISTS
    changes = replace(request, asked=(), region="", purchase="") != Request() or (request.asked and not beside)
    return (request, found.narrows) if changes and not _MORE.search(found.rest) and len(beside) <= _BESIDE else None


class _Taken(NamedTuple):
    """What a text says of rows, the rest of the text, and whether it narrows a list, wants no accelerators, is about prices."""

    request: Request
    rest: str
    narrows: bool
    unaccelerated: bool
    priced: bool


def _taken(question: str, types: Collection[str], families: Collection[str], accelerators: Collection[str], *, anyhow: bool = True) -> _Taken | None:
    """Read every condition, order and column in a text.

    None if it names an unknown type or several Regions, or removes something that is not understood. With `anyhow`, the
    text is about rows: it may remove some of them, but name no types, and what is said of rent asks for prices.
    """
    text = _on_one_line(question)
    reading = Reading(_ONE.sub(r"\1 | ", in_dollars(text)))
    unaccelerated = reading.take(_UNACCELERATED) if anyhow else []
    apart = _take_without(reading, families, accelerators)
    clauses = [match["what"] for match in reading.take(_REMOVED)] if anyhow else []
    removed = [read_conditions(clause, families, accelerators) for clause in clauses]
    reading.text = of_each_device(reading.text)
    regions, purchase = take_regions(reading), _purchase(text)
    comparison = None if anyhow else _take_comparison(reading, types)
    named = _take_types(reading, types)
    less = [(r.families or r.accelerators or types_in(clause, types), r.bounds, r.traits) for r, clause in zip(removed, clauses, strict=True)]
    if named is None or (anyhow and named) or len(regions) > 1 or (less and not any(map(any, less))):
        return None
    groups = _take_families(reading, families, accelerators)
    per = take_ratio(reading, named=bool(named or groups))
    unaccelerated = unaccelerated or reading.take(_UNACCELERATED)
    bounds, cards = take_bounds(reading, accelerators)
    accelerated = [] if cards or any(b.column == "accelerators" for b in bounds) else reading.take(_ACCELERATED)
    bounds = (*bounds, *(Bound("accelerators", 0.0, 0.0) for _ in unaccelerated[:1]), *(ANY for _ in accelerated[:1]))
    place = _take_place(reading)
    order, sorts = _take_sorting(reading) if not per else (("price", per.most), False)
    bounds = open_ended(bounds, None if sorts else order) if not named else bounds
    several = sorts or len({bound.column for bound in bounds}) > 1
    seeks = not (named or anyhow) and (comparison is not None or several or bool(_SEEKS.search(text) or (groups and bounds and _WHICH.match(text))))
    traits = _take_traits(reading) if seeks or anyhow else ()
    if anyhow:
        made = reading.take(rf"\b{_DENIED}{_MAKER}")
        traits += (*(_kind(text) if accelerated else ()), *(Trait(ACCELERATOR, match["maker"].upper(), bool(match["no"])) for match in made))
    asked = take_columns(reading)
    said = {*asked, *(b.column for b in (*bounds, *(b for r in removed for b in r.bounds))), *(order or ())[:1], *(per.columns if per else ())}
    priced = "price" in said
    if anyhow or priced:
        reading.take(r"\b(?:on[- ]demand|spot|linux)\b")
        hourly = reading.take(rf"{HOURLY}(?!\w)")
        if not priced and (hourly or regions or purchase):
            asked = (*asked, "price")
    request = Request(
        types=named, families=groups, accelerators=cards, asked=asked, order=order, seeks=seeks, compared=comparison, per=per, sorts=sorts, place=place, region="".join(regions), purchase=purchase,
        bounds=(*bounds, *(replace(b, denied=True) for _, own, _ in less for b in own)),
        traits=tuple(dict.fromkeys((*traits, *(replace(trait, denied=not trait.denied) for *_, own in less for trait in own)))),
        without=(*apart, *types_in(" ".join(clauses), types), *(name for r in removed for name in (*r.families, *r.accelerators))),
    )  # fmt: skip
    return _Taken(request, reading.text, bool(apart or removed or _NARROWS.search(text)), bool(unaccelerated), priced)


# "With a GPU", of any kind and number.
ANY = Bound("accelerators", 0.0, open=True)
_ACCELERATED = rf"\b(?:with|have|has|having) (?:an? |any |some )?{DEVICE}s?\b(?! (?:memory|mem|v?ram|count|type|with|of|at))|\b(?:ai |ml )?accelerator (?=(?:instances?|types?|machines?|boxes|ones|only)\b)"
_UNACCELERATED = r"\b(?:no|without|not) (?:any |an? )?(?:gpus?|accelerators?)\b"


def _take_comparison(reading: Reading, types: Collection[str]) -> Comparison | None:
    """Take the comparison with a type: "more memory than p5.48xlarge"."""
    there = Reading(reading.text)
    measures = there.take(_MEASURE)
    named = types_in(" ".join(match.group() for match in measures), types)
    if len(named) != 1:
        return None
    if comparison := take_comparison(there, named[0]):
        reading.text = there.text
    return comparison


def _take_without(reading: Reading, families: Collection[str], accelerators: Collection[str]) -> tuple[str, ...]:
    """Take the families and accelerators that are not wanted: "but not p5", "except g4dn and g5".

    A list that goes on with something else ("no T4 or less than 40 GB") is left.
    """
    known = "|".join(sorted(map(re.escape, {*families, *accelerators}), key=len, reverse=True)) or "(?!)"
    name = rf"(?:(?:an?|the|any|on|in|from|nvidia|aws) )*(?:{known})s?(?: instances?| gpus?| chips?)?(?![\w.-])"
    found = reading.take(rf"(?:,? but)? ?\b(?:not|no|except(?: for)?|excluding|other than|without|apart from|besides) (?P<names>{name}(?:(?:,? (?:and|or|nor)|,| &) (?:not |no )?{name})*)(?! (?:or|nor)\b)")
    return tuple(dict.fromkeys(known_name for match in found for known_name in re.findall(rf"(?<![\w.-])({known})(?=s?(?![\w.-]))", match["names"])))


def read_conditions(text: str, families: Collection[str], accelerators: Collection[str]) -> Request:
    """Read the conditions on rows in a text of any length, whatever else it says."""
    reading = Reading(of_each_device(re.sub(r"\s+", " ", text.lower())))
    groups = _take_families(reading, families, accelerators)
    bounds, cards = take_bounds(reading, accelerators)
    bounds += take_amounts(reading)
    order = _take_order(reading)
    traits = _take_traits(reading)
    made = reading.take(_MAKER)
    return Request((), groups, cards, bounds, (*traits, *(Trait(ACCELERATOR, match["maker"].upper()) for match in made)), take_columns(reading), order)


def types_in(text: str, known: Collection[str]) -> tuple[str, ...]:
    """The known instance types that a text names."""
    found = [f"{m['family']}.{_size(m['size'])}" for m in re.finditer(_TYPE, text.lower())]
    return tuple(dict.fromkeys(name for name in found if name in known))


def columns_in(text: str) -> tuple[Column, ...]:
    """The columns that a text mentions."""
    return take_columns(Reading(text.lower()))


def _take_types(reading: Reading, known: Collection[str]) -> tuple[str, ...] | None:
    """Take the named instance types; None if one of them is not known."""
    found = [f"{m['family']}.{_size(m['size'])}" for m in reading.take(_TYPE)]
    return tuple(dict.fromkeys(found)) if all(name in known for name in found) else None


def _size(written: str) -> str:
    return re.sub(r"^(\d*)xl$", r"\1xlarge", written)


def _take_families(reading: Reading, known: Collection[str], accelerators: Collection[str]) -> tuple[str, ...]:
    """Take the named families: "g5" is one; "p4", which is not a family itself, means all that begin with it.

    T4 is a GPU and not a family; T4g is a family, except in "T4g GPUs".
    """
    letters = [match["letter"] for match in re.finditer(_LETTER, reading.text)]
    lines = {letter: [name for name in sorted(known) if re.match(rf"{letter}r?\d", name)] for letter in letters}
    found = [name for letter in letters if lines[letter] and reading.take(rf"\b{letter}{_BEFORE_LINES}") for name in lines[letter]]
    for match in re.finditer(_FAMILY, reading.text):
        name, card = match["family"], bool(match["card"]) or match["after"] is not None
        members = [] if name in accelerators and (card or name not in known) else _members(name, known)
        if members:
            reading.take(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\d)")
        found += members
    return tuple(dict.fromkeys(found))


def _members(name: str, known: Collection[str]) -> list[str]:
    if name in known:
        return [name]
    begins = re.compile(rf"{re.escape(name)}(?:{'[a-z]|' if name[-1].isdigit() else ''}-)")
    return sorted(family for family in known if begins.match(family))


ORDINALS = ("", "second", "third", "fourth", "fifth")
_PLACE = rf"\b(?:(?P<word>{'|'.join(ORDINALS[1:])})|(?P<number>[2-9])(?:nd|rd|th))[- ](?=(?:most|least|\w{{3,}}est)\b)"


def _take_place(reading: Reading) -> int:
    """Take the place in an order: 2 for "the second cheapest", otherwise 1."""
    found = reading.take(_PLACE)[:1]
    return next((int(m["number"] or ORDINALS.index(m["word"]) + 1) for m in found), 1)


_SORTS = rf"\b(?:(?:sort|order|rank|arrang)\w*(?: [\w|-]+){{0,5}}?|\blist(?: [\w|-]+){{0,4}}?|top(?: {NUMBER})?|famil(?:y|ies)|sizes?|instances?|types?|ones?) (?:by|per|for)(?: the| their| total| number of)*"
_ENDS = {True: r"\b(?:largest|biggest)\b", False: r"\bsmallest\b"}
_TOP = re.compile(r"\btop\b")
_DOWN = r"\b(?:descending|desc|downwards?|(?:from )?(?:most|high|highest|big|biggest|large|largest) to (?:least|low|lowest|small|smallest|fewest)|(?:highest|largest|most|biggest|most expensive|dearest|fastest)(?: ones?)? (?:first|(?:at|on) (?:the )?top))\b"
_FROM_TO: tuple[tuple[Order, str], ...] = (
    (("price", False), r"\b(?:cheap(?:est)?|low(?:est)?) to (?:most )?(?:expensive|high(?:est)?|dear(?:est)?|pric(?:e|ie)y?(?:st)?)\b"),
    (("size", False), r"\bsmall(?:est)? to (?:big(?:gest)?|large(?:st)?)\b"), (("size", True), r"\b(?:big(?:gest)?|large(?:st)?) to small(?:est)?\b"),
)  # fmt: skip


def _take_sorting(reading: Reading) -> tuple[Order | None, bool]:
    """Take the order, and whether all rows are wanted in it: "sorted by price"."""
    for column, pattern in WORDS:
        if column in NUMBERED and (said := reading.take(rf"{_SORTS} (?:{pattern})(?!\w)")):
            down = bool(reading.take(_DOWN) or _TOP.match(said[0].group()))
            ends = [most for most, words in _ENDS.items() if reading.take(words)]  # "the largest instance by GPU memory"
            return (column, ends[0] if ends else down), not ends
    for order, words in _FROM_TO:
        if reading.take(words):
            return order, True
    first = bool(re.search(r"(?:est|expensive|priced|most \w+|least \w+)(?: ones?)? first\b", reading.text))
    return _take_order(reading), first and bool(reading.take(r"\bfirst\b"))


def open_ended(bounds: Sequence[Bound], order: Order | None) -> tuple[Bound, ...]:
    """Relax conditions that are stricter than what is meant.

    A price is the most that is paid. If the cheapest or smallest is wanted, an exact amount is the least that is
    wanted, for columns in which more does no harm: "cheapest with 80 GB".
    """
    least = order in (("price", False), ("size", False))
    bounds = tuple(replace(b, low=-inf) if b.column == "price" and b.low == b.high else b for b in bounds)  # a budget of $3 allows cheaper rows
    return tuple(replace(b, high=inf) if least and b.column in _MORE_IS_FINE and b.high * DECIMAL <= b.low <= b.high else b for b in bounds)


_MORE_IS_FINE: frozenset[Column] = frozenset({"each", "total", "memory", "storage", "network"})


def _take_order(reading: Reading) -> Order | None:
    """Take the first order found: "most memory per vCPU", "smallest instance"."""
    for column, pattern in WORDS:
        directions = _COUNTING if column == "accelerators" else _DIRECTIONS if column in NUMBERED else {}
        for most, words in directions.items():
            if reading.take(rf"\b(?:{words})(?: total| combined| number of| amount of)? (?:{pattern})(?!\w)"):
                return column, most
    found = ((by, most) for by, most, words in _ALONE if reading.take(rf"\b(?:{words})\b"))
    return next(found, None)


def _take_traits(reading: Reading) -> tuple[Trait, ...]:
    found = ((header, words, match) for pattern, header, words in TRAITS for match in reading.take(rf"\b{_DENIED}(?:{pattern})(?!\w)"))
    return tuple(Trait(header, words, bool(match["no"])) for header, words, match in found)


def _kind(text: str) -> tuple[Trait, ...]:
    """The traits that named accelerators imply: FPGAs, or GPUs, cards or VRAM, exclude other kinds, a maker excludes other makers."""
    makers = re.findall(rf"\b(nvidia|amd|intel|aws|xilinx)(?:['’]s)? {DEVICE}s?\b", text)
    kinds = [kind for kind, words in (("FPGA", r"\bfpgas?\b"), ("GPU", r"\b(?:gpus?|cards?|vram|graphics)\b")) if re.search(words, text)][:1]
    return tuple(Trait(ACCELERATOR, words) for words in (*map(str.upper, makers), *kinds))


_MAKER = rf"(?P<maker>nvidia|amd|xilinx|habana)\b(?: {DEVICE}s?\b)?(?! (?:cpu|processor|epyc))"


def _is_ambiguous(text: str, asked: Collection[Column]) -> bool:
    """Whether the memory asked for may be that of the accelerators: "what memory has the GPU of p5.48xlarge"."""
    return {"memory", "accelerators"} <= set(asked) and not re.search(r"\band\b|,|&|\bplus\b|\+", text)


def strange(rest: str) -> list[str]:
    """The words left of a question that carry meaning: frame words do not, nor most stop words."""
    left = (match.group() for match in WORD.finditer(rest) if len(match.group()) > 1 or match.group().isdigit())
    return [word for word in left if word not in _FRAME and (word not in STOP_WORDS or word in _MATTERS)]
