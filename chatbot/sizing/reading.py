"""Read what one question says of a workload, from plain words.

The text is masked as it is read: each slot takes its words out, so that "$5 per hour" is a budget and not a price that
is asked for. How things are worded is data, in `wording.toml`.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache, lru_cache
from importlib import resources
from typing import Any

from chatbot.language.quantities import WORD_NUMBERS
from chatbot.language.vendors import refused_makers
from chatbot.sizing.facts import short
from chatbot.sizing.goals import Goal
from chatbot.sizing.memory import BITS
from chatbot.sizing.model_names import Named, find_model, heads, sibling
from chatbot.sizing.spelled import as_read
from chatbot.sizing.workload import Format, Optimizer, Task

MONTH_HOURS = 730.0


@dataclass(frozen=True, slots=True)
class Known:
    """The names that questions are matched against: models as in the table, accelerators, instance types, regions."""

    models: tuple[str, ...] = ()
    accelerators: tuple[str, ...] = ()
    types: frozenset[str] = frozenset()
    regions: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Said:
    """What one question says: slots with their values, further values of a slot, and goals."""

    text: str
    slots: dict[str, Any]
    several: dict[str, list[dict[str, Any]]]
    goals: tuple[Goal, ...]
    unknown: str | None
    term: str | None = None
    """The one memory term asked for: "KV cache", "weights"."""
    euros: bool = False
    plain: str = ""
    """The question with plain words in place of what was read: "does model fit on gpu"."""
    number: str = ""
    """The number that no slot took, if there is exactly one: "and at 20,000?"."""
    left: tuple[str, ...] = ()
    """All numbers that no slot took."""
    purchase: str = ""
    """How it is to be paid for: "Spot", "a Savings Plan", "on demand"."""
    steps: int = 0
    """How many sizes up or, if negative, down in the same family: "the next size up"."""


@dataclass(slots=True)
class Reading:
    """A text in which everything read is masked, and the slots read so far.

    `named` is the model as it is named; `unknown` is an instance type that is not known.
    """

    text: str
    known: Known = Known()
    question: str = ""
    """The text before anything was masked."""
    named: Named | None = None
    unknown: str | None = None
    slots: dict[str, Any] = field(default_factory=dict)
    several: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    stages: list[tuple[str, str]] = field(default_factory=list)

    def stand_in(self, word: str) -> None:
        """Let this word stand for everything masked since the last call."""
        self.stages.append((word, self.text))

    def plain(self) -> str:
        """Return the text with a plain word for each masked thing, and 0 for each other number."""
        words = re.sub(
            r"\|+", lambda bars: next((f" {word} " for word, text in self.stages if text[bars.start()] == "|"), " "), self.text
        )
        return " ".join(re.sub(r"\d+(?:[.,]\d+)*", "0", words).split())

    def take(self, pattern: re.Pattern[str]) -> list[re.Match[str]]:
        """Return the matches in order and mask each with bars of its length, which no other pattern crosses."""
        found = list(pattern.finditer(self.text))
        for match in found:
            self.mask(match.start(), match.end())
        return found

    def mask(self, start: int, end: int) -> None:
        self.text = f"{self.text[:start]}{'|' * (end - start)}{self.text[end:]}"

    def fill(self, slot: str, values: Sequence[Any]) -> None:
        """Give a slot its first value, and keep the others as alternatives."""
        different = list(dict.fromkeys(values))
        if different and slot not in self.slots:
            self.slots[slot] = different[0]
            if len(different) > 1:
                self.several[slot] = [{slot: value} for value in different[1:]]

    def add(self, slot: str, values: Sequence[Any]) -> None:
        """Give a slot further values, or its first."""
        there = [self.slots.pop(slot)] if slot in self.slots else []
        self.fill(slot, [*there, *(other[slot] for other in self.several.get(slot, ())), *values])


@lru_cache(maxsize=256)
def read_question(question: str, known: Known) -> Said:
    text = _completed(_renamed(_DENIED_FORMAT.sub("", _DENIED_NUMBER.sub("", as_read(question)))), known)
    reading = Reading(text, known, text)
    counted = frozenset(goal for goal in _COUNTED_GOALS if _goal_patterns()[goal].search(text))
    euros = bool(_EUROS.search(text))
    term = next(iter(_take_listed(Reading(_CACHE.sub(" ", text)), "terms")), None)
    _take_slots(reading)
    plain = reading.plain()
    wanted = _take_goals(reading) | counted
    if "tokens_per_second" in reading.slots and not wanted & {Goal.COST, Goal.ENERGY}:
        wanted |= {Goal.COST if "million" in text else Goal.THROUGHPUT}
    goals = tuple(goal for goal in Goal if goal in wanted)
    left = _LEFT.findall(reading.text)
    return Said(
        text, reading.slots, reading.several, goals,
        (reading.named.unknown if reading.named and not reading.slots.keys() & {"parameters", "model"} else None) or reading.unknown, term, euros, plain, left[0] if len(left) == 1 else "",
        purchase=next((name for name, written in listed("purchases") if written.search(text if len(text.split()) <= _STORY else _SENTENCE.split(text)[-1])), ""),
        left=tuple(left), steps=_steps(text),
    )  # fmt: skip


# In a text of more than _STORY words, a purchase option counts only if the last sentence names it.
_STORY, _SENTENCE = 30, re.compile(r"(?<=[.?!])\s+")
_STEP = re.compile(r"\b(?:next|one) (?:instance )?size (?:up|bigger|larger|(?P<down>down|smaller))\b|\bnext (?:bigger|larger|(?P<down_>smaller)) (?:size|one|instance)\b|\bnext size\b")


def _steps(text: str) -> int:
    match = _STEP.search(text)
    return 0 if not match else -1 if match["down"] or match["down_"] else 1


def _take_slots(reading: Reading) -> None:
    """Fill the slots and note a plain word for each, beginning with those whose words others would misread."""
    for take, stand_in in (
        # A letter after a region's code is that of an Availability Zone.
        (lambda r: r.fill("region", [match.group().rstrip("abcdef") for match in r.take(_REGION)]), "region"),
        (_take_types, "instance"), (_take_each, "users"), (lambda r: r.take(_FUTURE), "future"), (_take_model, "model"), (lambda r: _take_listed(r, "rivals"), "rival"),
        (lambda r: r.fill("context", [ALL_CONTEXT for _ in r.take(_ALL_CONTEXT)]), "context"), (_take_rows, "tokens"), (_take_shares, "share"), (_take_amounts, "amount"),
        (_take_cache, "format"), (_take_budget, "budget"), (_take_tokens, "tokens"), (_take_context, "context"), (_take_sequences, "users"), (_take_training, "training method"),
        (_take_sizes, "model"), (lambda r: r.fill("weights", _formats(r)), "format"), (_take_weight, "model"), (_take_accelerators, "gpu"), (_take_lines, "family"), (_take_families, "family"),
        (_take_memory, "gpus"), (_take_duration, "duration"), (lambda r: r.add("region", _take_listed(r, "regions")), "region"), (_take_people, "users"),
    ):  # fmt: skip
        take(reading)
        reading.stand_in(stand_in)
    tuned = _A_TUNE.sub(" ", reading.text) if _SERVES.search(reading.text) else reading.text
    reading.fill("task", _tasks(_take_listed(Reading(_TUNED_BEFORE.sub(" ", tuned)), "tasks")))


# "Serve a fine-tuned Llama", "we host a Mistral finetune": the model is served, not tuned.
_SERVES = re.compile(r"\b(?:serv(?:e|es|ing)|host(?:s|ing)?|deploy\w*)\b")
_A_TUNE = re.compile(r"\|+ fine-?\s?tunes?\b(?! (?:an?|the|it|them|our|my|of)\b| (?:on|with) [^|])")
_TUNED_BEFORE = re.compile(r"\b(?:an?|the|our|my|own|this|that|already|unser\w*|ein\w*) (?:\w+ )?(?:fine-?\s?tuned|trained)(?! (?:on|with)\b)(?=[ |])")


@cache
def _wording() -> dict[str, Any]:
    return tomllib.loads(resources.files("chatbot.sizing").joinpath("wording.toml").read_text(encoding="utf-8"))


_NUMBERS = {**{word: float(n) for word, n in WORD_NUMBERS.items() if word.isalpha()}, **{word: float(n) for n, words in _wording()["numbers"].items() for word in words}}
_NUMBER = rf"(?:\d{{1,15}}(?:[.,]\d{{1,15}}){{0,4}}(?!\d)|(?:{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})\b)"
_SCALES = {"": 1.0, "k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "millionen": 1e6, "millones": 1e6, "b": 1e9, "bn": 1e9, "billion": 1e9, "t": 1e12, "trillion": 1e12, "milliard": 1e9, "milliards": 1e9, "milliarde": 1e9, "milliarden": 1e9, "mrd": 1e9, "mrd.": 1e9, "mil millones": 1e9, "billionen": 1e12}  # fmt: skip


# Formats that are not the format of the weights: fp8 in "bf16 instead of fp8", or "an fp32 master copy".
_DENIED_FORMAT = re.compile(r"\b(?:no |\d |an? |two |the )*(?:fp32|float32|32-bit) (?:master|adam|optimi[sz]er|moments?|cop(?:y|ies)|states?)\b|\b(?:instead of|rather than|not) (?:[bt]?f(?:p|loat)?\d+|int\d|\d[ -]?bits?)\b")
# "Five machines, not two."
_DENIED_NUMBER = re.compile(rf",? \b(?:not|instead of|rather than|nicht|statt|pas|no) {_NUMBER}(?=\W*(?:$|[,;.?!]))")
_LEFT = re.compile(rf"(?<![\w.,$-])(?!(?:one|single)\b)(?:{_NUMBER})k?(?:\s?%)?(?![\w-])")


def number_of(written: str) -> float:
    """The value of a number as written in a turn: "20k", "forty", "75 %"."""
    bare = written.rstrip(" %")
    return _value(bare.removesuffix("k")) * 1000 if bare[:1].isdigit() and bare.endswith("k") else _value(bare)


def in_place_of(written: str, text: str, unit: str, known: Known) -> Sequence[tuple[float, Mapping[str, Any], str]]:
    """Find the numbers in a text that `written` could replace.

    Return for each the ratio of the new to the old number, the slots that change, and the changed text. The number must
    be followed by `unit`. A percentage only replaces a percentage.
    """
    slots, found = read_question(text, known).slots, []
    for match in re.finditer(rf"(?<![\w.,-])(?:{_NUMBER})k?(?:\s?%)?(?![\d.])", text):
        if match.group().endswith("%") != written.endswith("%") or not re.match(rf"\W{{0,2}}{re.escape(unit)}(?!\w)", text[match.end() :]):
            continue
        changed = f"{text[: match.start()]}{written}{text[match.end() :]}"
        new = {slot: value for slot, value in read_question(changed, known).slots.items() if slots.get(slot) != value}
        if new and new.keys() <= _COUNTS:
            found.append((number_of(written) / number_of(match.group()), new, changed))
    return found


_COUNTS = frozenset({"tokens_per_second", "hours", "instances", "accelerators", "sequences", "context", "load", "mfu", "tokens", "kwh", "budget", "budget_per_hour", "budget_per_month", "lora_rank", "of_them", "accelerator_memory_gb"})


def _value(written: str) -> float:
    if written.startswith("minus "):
        return -_value(written.removeprefix("minus "))
    if written in ("half a", "half an"):
        return 0.5
    if written in _NUMBERS:
        return _NUMBERS[written]
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d{3}){2,}|[1-9]\d{0,2}\.000", written):
        return float(written.replace(",", "") if "," in written else written.replace(".", ""))
    whole, _, part = written.replace(",", ".").partition(".")
    return float(f"{whole}.{part.replace('.', '') or 0}")


# Goals that are matched in the whole text, before slots take words out of it: "how many users".
_COUNTED_GOALS = (Goal.COUNT, Goal.USERS, Goal.LARGEST, Goal.LONGEST)
_EUROS = re.compile(r"€\s?\d|\d\s?(?:k\s?)?(?:€|eur(?:os?)?(?!\w))|\b(?:in|en) (?:euros?|eur|gbp|cad|chf|yen|(?:canadian|australian) dollars|pounds sterling|british pounds|(?:swiss )?francs|rupees)\b")


def _scaled(match: re.Match[str], which: str = "") -> float:
    number, scale = match[f"number{which}"], match[f"scale{which}"] or ""
    # "60.000 millones": in languages with this plural, a point separates thousands.
    return _value(number.replace(".", "") if scale == "millones" else number) * _SCALES[scale]


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.]){pattern}")


_SHORT_NAME = _compiled(r"(?P<least>(?:baby|little|tiny|littlest|teeny|entry[- ]level|small) )?(?P<family>[a-z]{1,5}\d{1,2}[a-z]{0,4}(?:-[a-z0-9]{1,6})?)(?:\.(?P<size>\d{1,2}))?(?:s|['’]s)?(?![\w-]|\.\w)")


_CHOOSES = re.compile(r"\b(?:cheapest|smallest|largest|biggest|fastest|greenest|best|which|only|family|families|series)\b")


def _completed(text: str, known: Known) -> str:
    """Write short names of instance types in full: "p5en.48", "the baby inf2", a bare family that has one size."""

    def in_full(match: re.Match[str]) -> str:
        family = match["family"] if match["family"] in sizes else match["family"].rstrip("s")
        if match["size"]:
            name = f"{family}.{match['size']}xlarge"
            return name if name in known.types else match.group()
        there = sizes.get(family, ())
        if there and (match["least"] or (len(there) == 1 and few)) and not _is_refused(text, match.start()):
            return there[0]
        return match.group()

    sizes = sizes_of(known)
    # If more than two families are named, or one is to be chosen from, each stands for all its sizes.
    few = len({m["family"] for m in _SHORT_NAME.finditer(text) if m["family"] in sizes and not m["size"]}) <= 2 and not _CHOOSES.search(text)
    names = _long_names(known.models)
    text = re.sub(rf"(?<![\w.-])[{''.join({name[0] for name in names})}][a-z]{{5,12}}(?![\w-])", lambda word: _as_spelled(word.group(), names), text)
    return _SHORT_NAME.sub(in_full, text)


@lru_cache(maxsize=256)
def _as_spelled(word: str, names: tuple[str, ...]) -> str:
    return next(iter(get_close_matches(word, names, 1, 0.86)), word)


@lru_cache(maxsize=4)
def _long_names(models: tuple[str, ...]) -> tuple[str, ...]:
    """Names of product lines that are not ordinary words and long enough to be recognised when misspelt."""
    return ("trainium", "inferentia", *sorted(head for head in heads(models) if len(head) > 4 and head not in _ORDINARY))


_ORDINARY = frozenset({"stable", "bloom", "whisper", "falcon"})


@lru_cache(maxsize=4)
def sizes_of(known: Known) -> dict[str, tuple[str, ...]]:
    """The instance types of each family, smallest first."""
    found: dict[str, list[str]] = {}
    for name in sorted(known.types, key=lambda name: _largeness(name.partition(".")[2])):
        found.setdefault(name.partition(".")[0], []).append(name)
    return {family: tuple(names) for family, names in found.items()}


def _largeness(size: str) -> float:
    number = re.match(r"\d+", size)
    return float(number.group()) if number else ("nano", "micro", "small", "medium", "large", "xlarge").index(size) / 6 if not size.startswith("metal") else 1e3


_REGION = _compiled(r"(?:us|eu|ap|sa|ca|me|af|il|cn|mx)-(?:gov-)?[a-z]{4,9}-\d[a-f]?(?!\w)")


_TYPE = _compiled(
    rf"(?:(?P<count>{_NUMBER})\s?(?:[x×*]\s?)?(?:(?:of|of our|(?:[a-z]+-)?[a-z]+(?:ing|ed|able)|[a-z]+-(?:on|up|only)|idle|tiny|little|lonely|spare|old|small|big|separate|different|of (?:the|those|these|their))\s)?)?(?P<family>[a-z]{{1,5}}\d{{1,2}}[a-z]{{0,4}}(?:-[a-z0-9]{{1,6}})?)\s?\.\s?"
    r"(?P<size>nano|micro|small|medium|large|\d{0,3}xl(?:arge)?|metal(?:-\d+xl)?)(?:['’]?s)?(?![\w-])"
)


def _take_types(reading: Reading) -> None:
    """Fill the instance type and its count."""
    found = reading.take(_TYPE)
    types = [f"{m['family']}.{re.sub(r'xl$', 'xlarge', m['size'])}" for m in found]
    counts = [int(_value(m["count"])) if m["count"] else None for m in found]
    there = {name: count for name, count in zip(types, counts, strict=True) if name in reading.known.types}
    if there:
        first, *others = there
        reading.slots["instance_type"] = first
        if there[first] is not None:
            reading.slots["instances"] = there[first]
        reading.several["instance_type"] = [{"instance_type": name, "instances": there[name]} for name in others]
    reading.unknown = next((name for name in types if name not in reading.known.types), None)


# "27 teams, every team gets a g5.2xlarge", "a g5.xlarge for each of 12 students".
_EACH_GETS = re.compile(r"\b(?P<own>[a-z]{3,}s) (?:each|all) (?:gets?|has|have|use|need|run|receive)\b|\b(?:every|each|per) (?P<noun>[a-z]{3,}) (?:gets?|has|uses?|needs?|runs?|receives?|is given|with|on)\b|\|+ (?:per|(?:each )?for (?:each|every)|each for (?:the|our)) (?P<noun_>[a-z]{3,})|\|+ each (?!for|of|has|with|and has|serving)")
_TIME_NOUN = re.compile(r"(?:hour|day|night|week|month|year|second|minute|gpu|chip|card)s?")


def _take_each(reading: Reading) -> None:
    """Count one machine for each member of a group that has one each."""
    if "instance_type" not in reading.slots and (times := re.search(rf"\btimes (?P<count>{_NUMBER}) (?!(?:hour|day|week|month|year|minute)s)[a-z]{{3,}}s\b", reading.text)):
        reading.mask(times.start(), times.end())
        reading.fill("of_them", [int(_value(times["count"]))])
    for match in _EACH_GETS.finditer(reading.text):
        noun = match["own"] or match["noun"] or match["noun_"]
        stem = re.escape(noun.removesuffix("s").removesuffix("y")) if noun else r"(?!(?:hour|day|week|month|year|minute|gpu|token|dollar|buck)s)[a-z]{3,}"
        counted = re.search(rf"(?<![\w.])(?P<count>{_NUMBER})\s(?:[a-z]+\s)?{stem}(?:s|es|ies|ren)\b", reading.text)
        if counted and reading.slots.get("instance_type") and not (noun and _TIME_NOUN.fullmatch(noun)):
            reading.mask(counted.start(), counted.end())
            reading.slots["instances"] = int(_value(counted["count"])) * reading.slots.get("instances", 1)
            return


# Years that no data covers. 2048 is excluded because it is usually a number of tokens.
_FUTURE = _compiled(r"20(?:2[7-9]|3\d|40|45|50)(?=\W*(?:$|[?!.,;)]|\b(?:be|cost|for|in|on|and|or|with|than|if|when)\b))")


def _take_model(reading: Reading) -> None:
    named = find_model(reading.text, reading.known.models)
    if named:
        reading.mask(named.start, named.end)
        reading.fill("model", named.models)
        reading.fill("parameters", [named.parameters] if named.parameters and not named.models else [])
    reading.named = named or _unnamed(reading)


def _renamed(text: str) -> str:
    """Return the text with models and accelerators named as in the tables."""
    for written, name in _models():
        text = written.sub(name, text)
    return text


_NOUN = r"(?:models?|llms?|checkpoints?|transformers?|networks?|modello|modelo|modells?|modèle)"
_UNNAMED = _compiled(
    rf"(?:(?:my|our|(?<=have )an?|(?<=built )an?|(?<=trained )an?|unser\w*|notre|nuestro|nostro|il nostro) (?!(?:[a-z]+ )?\|)(?:[a-z][a-z-]+ ){{0,2}}?{_NOUN}(?!\w)(?! (?:of|with|that|called|named)\b)(?: maison| propio| interno)?"
    rf"|(?:another|an?other|the (?:second|other)|a different|a second) {_NOUN}(?!\w))|(?:something|a (?:model|checkpoint|llm)|which (?:model|llm|one))\b(?=.*\b(?:forg[eo]t|remember|recall|no idea|don['’]?t know|not sure|unsure)\b)"
    rf"|the {_NOUN} (?:that |which )?(?:(?:the|our|my|an?|their|his|her|another) )?(?:[a-z]+ ){{0,2}}(?:built|trained|made|uses?|used|runs?|deployed|shipped|wrote|tested|has|have)(?!\w)|(?:their|his|her) {_NOUN}(?!\w)"
    rf"|(?<=remember )(?:which|what) (?:model|llm|one)|(?<=know )(?:which|what) (?:model|llm|one)"
)


def _unnamed(reading: Reading) -> Named | None:
    for _, hosted in listed("hosted"):
        if match := hosted.search(reading.text):
            return Named(match.start(), match.end(), unknown=match.group())
    match = _UNNAMED.search(reading.text)
    return Named(match.start(), match.end(), unknown=re.sub(r"^(?:an? |which |what |something)", "the ", match.group())) if match else None


_OTHER_COUNTED = r"(?!\s(?:[a-z]+\s)?(?:events|clicks|records|documents|docs|vectors|products|examples)\b)(?!\s?(?:tokens?|requests?|queries|users?|people|usd|dollars?|euros?|inferences|predictions?|images?|sequences?|rows?|samples?|calls?|gb|gib|tb|context|ctx)\b)"
_OF_MODEL = r"(?:[\s-]?(?:de )?(?:params?|parameters?|parametern?|param[eè]tres|par[aá]metros|weights?)\b|[\s-](?:model|llm|network|transformer)\b)"
_SIZE = _compiled(
    rf"(?<!\$)(?P<below>(?<=\ba )-|minus |negative )?(?P<number>{_NUMBER})[\s-]?(?:(?P<big>b|bn|billion|mil millones|milliarden?|milliards?|mrd)(?!\w){_OTHER_COUNTED}(?:[\s-]?(?:de )?(?:params?|parameters?|parametern?|param[eè]tres|par[aá]metros|weights?)\b)?|(?P<small>m|mn|million|millionen|millones(?: de)?|t|trillion){_OF_MODEL}|(?<=[^\d.,]0[ -])param(?:eter)?s?(?!\w))"
)


_ALSO = re.compile(r"(?:,|\b(?:and|or|vs\.?|versus|than))\s(?:(?:of|for|with|the|on|its)\s){0,3}$")


# The parameters that a mixture of experts computes with: "400B with 17B active". They take no less memory.
_ACTIVE = _compiled(rf"(?:{_NUMBER}[\s-]?b(?:illion)? (?:params? |parameters? )?(?:are |is )?activ(?:e|ated)|activ(?:e|ates|ating)(?: params?| parameters?)?(?: of| is| are|:)? {_NUMBER}[\s-]?b(?:illion)?)(?!\w)(?: params?| parameters?)?")


def _take_sizes(reading: Reading) -> None:
    reading.take(_ACTIVE)
    found = reading.take(_SIZE)
    scales = {"t": 1e12, "trillion": 1e12}
    # Negative sizes are read too, so that they can be refused: "a -7B model".
    sizes = [(-1 if m["below"] else 1) * _value(m["number"]) * (1e9 if m["big"] else scales.get(m["small"], 1e6)) for m in found]
    if reading.named and reading.named.models:
        also = (sibling(reading.slots["model"], f"{size / 1e9:g}b", reading.known.models) for m, size in zip(found, sizes, strict=True) if _ALSO.search(reading.question[: m.start()]))
        reading.several.setdefault("model", []).extend({"model": model} for model in also if model and model != reading.slots["model"])  # "of Llama 3.1 8B and of 70B"
    else:
        line = next((head for head in re.findall(r"[a-z]+", reading.question) if head in heads(reading.known.models)), None) if len(set(sizes)) == 1 else None
        apart = find_model(f"{line} {sizes[0] / 1e9:g}b", reading.known.models) if line else None
        if apart and apart.models and "model" not in reading.slots:
            reading.fill("model", apart.models)  # "the biggest Llama, the one with 405 billion"
        else:
            reading.fill("parameters", sizes)


_ANY_FORMAT = r"(?:(?:fp|int|bf|nf|float|bfloat)[- ]?\d+|e4m3|\d+[- ]?bits?)"
_CACHE_WORD = r"(?:(?:k/?v|key[/ -]?(?:and )?value)(?:[- ]?cache)?|cache)(?! heads?)"
_CACHE = _compiled(
    rf"(?:(?P<before>{_ANY_FORMAT})[ -](?:for the )?{_CACHE_WORD}"
    rf"|{_CACHE_WORD}(?: (?:format|precision|dtype|is|are|was|were|be|goes|kept|stored|quanti[sz]ed|switched|drops?|stays|in|at|of|with|to|as|down)|\s?[:=]){{0,4}} ?(?P<after>{_ANY_FORMAT})(?! weights?))(?!\w)"
)


def _take_cache(reading: Reading) -> None:
    for match in list(_CACHE.finditer(reading.text)):
        reading.mask(*match.span("before" if match["before"] else "after"))
        inner = Reading(match["before"] or match["after"])
        reading.fill("cache", [Format(name) for name in _take_listed(inner, "formats")])


_SHARE = rf"(?P<number>\.\d+|{_NUMBER})(?P<percent>\s?%|\s?percent| prozent)?"
_MFU_WORD = r"(?:mfu|that(?: rate| peak| figure)?(?=[ ,.;:?]|$)(?= ?[,:?]| rate| peak| figure|$)|model flops utili[sz]ation|(?:utili[sz]ation of )?(?:the |its )?peak(?! (?:power|draw|load|memory)))"
_MFU = _compiled(
    rf"(?:{_MFU_WORD}(?:\s?[:=]|\s(?:of|is|at|del?|von|di))?\s?{_SHARE}|{_SHARE.replace('<number>', '<before>').replace('<percent>', '<of>')}\s(?:of |de )?{_MFU_WORD})(?!\w)"
)
_LOAD_WORD = r"(?:load|loaded|utili[sz]ed|in use|carico|utili[sz]ation|util|usage|busy|last|auslastung|charge|carga)"
_PERCENT = r"\s?(?:%|percent|prozent)"
_LOAD = _compiled(
    rf"(?:(?:at |under |à |bei |unter )?(?:(?P<number>\d{{1,3}}(?:[.,]\d+)?){_PERCENT} (?:gpu |average |of |de )?{_LOAD_WORD}"
    rf"|{_LOAD_WORD}(?: factor| rate)?(?:\s?[:=]|\s(?:of|at|is|von|de|around|about|only|just|like|for|roughly|some|zu|nur))*\s(?P<behind>\d{{1,3}}(?:[.,]\d+)?){_PERCENT}"
    rf"|(?P<word>half|full|maximum|max|halber|voller|voll|mi|pleine|metà|media|mezzo|meia|pieno|plena|half[- ])[\s-]?(?:(?:gpu|card|chip|accelerator)[\s-])?{_LOAD_WORD}"
    r"|(?:half|fully) (?:busy|loaded|utili[sz]ed|used|occupied)|busy(?= for \d+ (?:hour|day|week|month)s?\b| all day| non-?stop)|half (?:of )?the time"
    r"|(?:flat out|full (?:tilt|blast|power|throttle)|pegged|(?<=at )(?:its |their |the )?max(?:imum)?(?: power|(?=\s?[,.;?!)]|$| for| over))|maxed out|vol?llast|vollauslastung|plein régime|pleno rendimiento|pełn\w+ obciążeni\w+))"
    rf"|{_LOAD_WORD}\b[^.,;:%\d]{{1,40}}?\b(?:is|at|of|around|about) (?:an? )?(?:\w+ )?(?P<away>\d{{1,3}}(?:[.,]\d+)?){_PERCENT}"
    rf"|(?<!idle )(?P<time>\d{{1,3}}){_PERCENT} of (?:the |its |each |every )(?:time|day|hours?|month)(?! (?:off|idle))"
    rf"|(?:at|around|about|@|for|only) (?P<bare>\d{{1,3}}){_PERCENT}(?! of| mfu| off| discount| less| more))(?!\w)"
)
# This is not masked, because a question may ask for the power of idle hardware.
_IDLE = re.compile(
    r"\b(?:idle(?= (?:nvidia |aws )?(?:[a-z]{1,8}\d|(?:gpus?|cards?|chips?|accelerators?|instances?|machines?|servers?)\b(?! (?:power|draw|watts))))"
    r"|(?:sit|stand|stay|is|are|be|being|left|remain)(?:s|ing)? (?:\w+ )?idle\b|idling\b|(?:doing|do|does) nothing\b)"
)


_IDLES = _compiled(rf"(?:idl(?:e|es|ing)|unused|sits? (?:there )?(?:idle|unused))(?: (?:for|about|around|roughly|the other))* (?P<number>\d{{1,3}}){_PERCENT}")


def _take_shares(reading: Reading) -> None:
    """Fill the fraction of peak compute that a training reaches (MFU), and the fraction of time that hardware is busy."""
    for match in reading.take(_MFU):
        written, percent = match["number"] or match["before"], match["percent"] or match["of"]
        share = _value(written)
        reading.fill("mfu", [share / 100 if percent or share > 1 else share])
    for match in reading.take(_IDLES):
        reading.fill("load", [1 - _value(match["number"]) / 100])
    for match in reading.take(_LOAD):
        half = re.search(r"half|halb|\bmi|met|med|mez|mei", match.group())
        percent = match["number"] or match["behind"] or match["bare"] or match["away"] or match["time"]
        reading.fill("load", [_value(percent) / 100 if percent else 0.5 if half else 1.0])


# Figures of an accelerator that the question gives in place of its data sheet.
_TFLOPS = _compiled(rf"(?:{_SHARE.replace('number', 'share').replace('percent', 'of')} of )?(?P<number>{_NUMBER})\s?(?P<scale>tf|tera|peta|pf)(?:lops?)?(?:\s?/\s?s|ps)?(?P<reached>(?: \w+){{0,2}} (?:achieved|sustained|reached|measured|effective|delivered|in practice))?(?!\w)")
_BANDWIDTH = _compiled(rf"(?P<number>{_NUMBER})\s?(?P<scale>[gt])i?b(?:ytes?)?\s?(?:/\s?s(?:ec(?:ond)?)?|ps|(?:per|a|each) second)(?!\w)")
_ENERGY = _compiled(rf"(?P<number>{_NUMBER})\s?(?P<unit>[km])wh(?!\w)")
_SPEED = _compiled(rf"(?P<number>{_NUMBER})\s?(?P<scale>k)?\s?(?:(?:output|input|generated|decoded|prompt)\s)?(?:tokens?|tok|t)\s?(?:/|(?:per|a|each|every|por|pro|par|al) |p)\s?(?:s|sec|seconds?)(?!\w)")
_SPEED_ALONE = _compiled(rf"(?P<number>{_NUMBER})\s?(?P<scale>k)?\s?(?:/|(?:per|a|each|every) )\s?s(?:ec(?:ond)?)?(?!\w)")
_MONEY_IN_ALL = re.compile(rf"(?<![\w.])(?P<sign>\$|usd )?(?P<number>{_NUMBER})(?![.,]?\d)\s?(?P<scale>k|m|thousand|million)?(?(sign)|\s?(?:dollars?|usd|bucks|dólares|dollari|\$|美元|美金|ドル|달러))(?![a-z0-9]|\.\d|\s?(?:/|per|an?|each|every|the|pro|monthly|hourly|daily|weekly|yearly)\b)")


_BUDGET_IN_ALL = re.compile(rf"\bbudget(?:\s?[:=]|\s(?:of|is|at|around|about|roughly))*\s(?P<number>{_NUMBER})(?![.,]?\d)\s?(?P<scale>k|m|thousand|million)(?!\w|\s?(?:/|per|an?|each|every|the|pro|tok)\b)")
_BUDGET_NAMED_LAST = re.compile(rf"(?<![\w.])(?P<number>{_NUMBER})\s?(?P<scale>k|m|thousand|million)\s(?:usd |dollar )?budget\b")
# The purchase price of one's own hardware, and a fraction or multiple of the hours or tokens before.
_PURCHASE = re.compile(rf"(?:\b(?:server|box|machine|hardware|node|rig|workstation|gpus?|cards?)\b|\|)[^.;?!|]{{0,30}}?\b(?:for|at|costs?|is|of)\s\$?(?P<number>{_NUMBER})\s?(?P<scale>k|m)(?!\w)")
_SHARE_OF_BEFORE = _compiled(r"(?P<share>halve|half|twice|double|a third|one third|a quarter|a fifth|a tenth|three times|triple)(?: of)?(?: the| as many| that many| those| its| as)(?: training)? (?:(?P<hours>hours|long|schedule|running time|uptime)|tokens|data)(?!\w)")
_TIMES_AS_MUCH = {"halve": 0.5, "half": 0.5, "twice": 2.0, "double": 2.0, "a third": 1 / 3, "one third": 1 / 3, "a quarter": 0.25, "a fifth": 0.2, "a tenth": 0.1, "three times": 3.0, "triple": 3.0}


def _take_amounts(reading: Reading) -> None:
    """Fill energy, a speed, a sum of money, and the compute and bandwidth given for an accelerator."""
    if re.search(r"\b(?:buy|bought|used|second[- ]hand|offered|own|purchase\w*|colo\w*|on[- ]prem\w*)\b", reading.text):
        reading.take(_PURCHASE)
    for match in reading.take(_SHARE_OF_BEFORE):
        reading.fill("hours_share" if match["hours"] else "tokens_share", [_TIMES_AS_MUCH[match["share"]]])
    for match in reading.take(_TFLOPS):
        reading.fill("tflops", [_value(match["number"]) * (1000.0 if match["scale"].startswith("p") else 1.0)])
        if match["share"] or match["reached"]:
            share = _value(match["share"]) if match["share"] else 1.0
            reading.fill("mfu", [share / 100 if share > 1 or match["of"] else share])
    reading.fill("bandwidth_gbps", [_value(m["number"]) * {"g": 1, "t": 1000}[m["scale"]] for m in reading.take(_BANDWIDTH)])
    reading.fill("kwh", [_value(m["number"]) * {"k": 1, "m": 1000}[m["unit"]] for m in reading.take(_ENERGY)])
    speeds = [_scaled(m) for m in reading.take(_SPEED)]
    if not speeds and "tok" in reading.text:
        speeds = [_scaled(m) for m in reading.take(_SPEED_ALONE)]
    reading.fill("tokens_per_second", speeds)
    reading.fill("budget", [_scaled(m) for pattern in (_MONEY_IN_ALL, _BUDGET_IN_ALL, _BUDGET_NAMED_LAST) for m in reading.take(pattern)])


_PER = r"(?:\s?(?:/|per|an?|each|every|the|por|pro|par|im|al)\s?(?P<unit>hours?|hr|h|day|weeks?|months?|mo|years?|yr|stunde|tag|woche|monat|jahr|jour|semaine|semana|mois|mes|año)|\s(?P<adverb>hourly|daily|weekly|monthly|yearly|annually))\b"
_MONEY = r"(?:usd|us dollars?|dollars?|bucks|\$)"
_BUDGET = _compiled(
    rf"(?:(?P<bound>under|below|less than|at most|max(?:imum)?(?: of)?|up to|within|not more than|no more than|for|with|have|budget(?: is| of|:)?|<=?|≤)\s)?"
    rf"(?:(?P<sign>us\$|usd|\$)\s?)?(?P<number>{_NUMBER})\s?(?P<scale>k|thousand)?(?:\s?(?P<word>{_MONEY}))?{_PER}"
)
# Hours by the beginning of a unit of time; the first match counts.
_HOURS = (("ni", 24.0), ("na", 24.0), ("nu", 24.0), ("no", 24.0), ("gi", 24.0), ("fo", 336.0), ("min", 1 / 60), ("h", 1.0), ("st", 1.0), ("or", 1.0), ("d", 24.0), ("ta", 24.0), ("tä", 24.0), ("tri", 3 * MONTH_HOURS), ("jo", 24.0), ("w", 168.0), ("se", 168.0), ("m", MONTH_HOURS), ("y", 8760.0), ("ja", 8760.0), ("jä", 8760.0), ("an", 8760.0), ("añ", 8760.0), ("q", 3 * MONTH_HOURS))


def hours_in(unit: str) -> float:
    """The hours in a unit of time, as written: "week", "mo", "jährlich"."""
    return next(hours for start, hours in _HOURS if unit.startswith(start))


_OF_MONEY_MET = re.compile(r"\b(?:budget|stretch|enough|afford\w*|spend\w*|cap(?:ped)?|allow\w*|limit|cut to|covers?|pays? (?:for|us)|they pay|buys?|(?:we|i) have|gave (?:us|me))\b")

# The price of a machine is not a budget: "a p4d at $21.96/h", "four of them, $0.80 an hour each".
_PRICED = re.compile(r"(?:(?:\b(?:at|à|a|zu)|@|\bcosts?|\bpay(?:ing)?|=)\s(?:about |around |roughly |~)?|\()$")


def _take_budget(reading: Reading) -> None:
    for match in list(_BUDGET.finditer(reading.text)):
        if not (match["sign"] or match["word"] or (match["scale"] and _OF_MONEY_MET.search(reading.text)) or (match["bound"] and match["bound"] not in ("for", "have") and match["scale"])):
            continue
        reading.mask(match.start(), match.end())
        money, hours = _scaled(match), hours_in(match["unit"] or match["adverb"])
        is_price = _PRICED.search(reading.text, 0, match.start()) or re.match(r"\s(?:each|apiece)\b", reading.text[match.end() :])
        # With a given speed, the price of a machine without a name is kept, to compute the price of tokens.
        of_machine = is_price and ("instance_type" in reading.slots or "tokens_per_second" not in reading.slots)
        if of_machine and not match["bound"] and not _OF_MONEY_MET.search(reading.text):
            continue
        if hours == MONTH_HOURS:
            reading.fill("budget_per_month", [money])
        else:
            reading.fill("budget_per_hour", [money / hours])


_TOKENS = _compiled(
    rf"(?P<number>half an?|{_NUMBER})\s?(?P<scale>b|bn|billion|billionen|t|trillion|m|million|millionen|milliards?|milliarden?|mrd\.?|mil millones|millones)[\s-]?(?:de |of |training |output |input |generated )?tok(?:en)?s?(?! of context| context)(?!\w)|tokens?\s?[:=]\s?(?P<number_after>{_NUMBER})\s?(?P<scale_after>b|bn|t|m)(?!\w)"
)


# "12.4M rows x 512 tok", "90k tickets of about 700 tokens each".
_ROWS = _compiled(
    rf"(?P<number>{_NUMBER})\s?(?P<scale>k|m|b|thousand|million|billion)?\s(?:[a-z]+\s){{0,2}}?(?P<noun>[a-z]{{3,}}s)\s?(?:[x×*,]|of|at|with|avg\.?|average|averaging|à|each|\()\s?(?:each )?(?:with |of |is |are |averaging |at )?(?:about |around |roughly |~|ca\.? |on average |avg\.? )?"
    rf"(?P<each>{_NUMBER})\s?(?P<each_scale>k)?\s?tok(?:en)?s?(?: each| on average| apiece| long)?(?!\w|\s?(?:/|per))"
)
_CALLED = re.compile(r"users?|people|requests?|sequences?|sessions?|chats?|quer(?:y|ies)|prompts?|clients?|streams?|conversations?|gpus?|agents?|customers?|developers?|staff")


def _take_rows(reading: Reading) -> None:
    """Fill training tokens as the number of texts times their length, if the question is about training."""
    if not re.search(r"train|tun|epoch|\bft\b|pass(?:es)?\b|lora|sft", reading.text):
        return
    for match in list(_ROWS.finditer(reading.text)):
        if not _CALLED.fullmatch(match["noun"]):
            reading.mask(match.start(), match.end())
            epochs = next((_value(m["number"]) for m in reading.take(_EPOCHS)), 1.0)
            each = _value(match["each"]) * (1000 if match["each_scale"] else 1)
            reading.fill("tokens", [_scaled(match) * each * epochs])
            reading.fill("context", [int(each)])


_EPOCHS = _compiled(rf"(?P<number>{_NUMBER})\s(?:full )?(?:epochs?|epochen|épocas|époques|passes(?: over (?:it|the data))?)(?!\w)")


_TRAINS = re.compile(r"\b(?:train\w*|pre-?train\w*|fine-?tun\w*|how (?:long|many (?:hours|days|weeks|months)))\b[^.?!/]*\bfor $")


def _take_tokens(reading: Reading) -> None:
    """Fill the tokens that a training sees; "per million tokens" is a unit of price."""
    epochs = next((_value(m["number"]) for m in reading.take(_EPOCHS)), 1.0) if _TOKENS.search(reading.text) else 1.0
    for match in list(_TOKENS.finditer(reading.text)):
        tokens = _scaled(match, "" if match["number"] else "_after")
        # If a speed is given, or a training asked for, other amounts are those that are meant; a million is the unit of price.
        amount = tokens != 1e6 and ("tokens_per_second" in reading.slots or _TRAINS.search(reading.text[: match.start()]))
        if amount or not re.search(r"(?:per|/|each|for)\s?$", reading.text[max(0, match.start() - 5) : match.start()]):
            reading.mask(match.start(), match.end())
            reading.fill("tokens", [tokens * epochs])


_CONTEXT_WORD = r"(?:max[-_ ](?:model|seq)[-_ ]len(?:gth)?|contexts?|ctx|seq(?![a-z])|context (?:window|length|size)|sequence[- ]lengths?|seq(?:uence)?[- ]?len|(?:input )?prompts?|kontext)"
_CONTEXT = _compiled(
    rf"(?:(?:{_CONTEXT_WORD})(?: (?:window|length|size))?(?:\s?[:=]|\s(?:of|is|at|to|up to|with|von))?\s(?:of |the default,? (?:of |is )?)?)?"
    rf"(?P<number>\d{{1,9}}(?:[.,]\d{{1,3}}){{0,3}})\s?(?P<scale>k|m)?(?!\w|\.\d)(?P<after>[\s-]?(?:tokens?\b(?!\s?(?:per|/)))?(?:[\s-]?(?:of |long |token )?{_CONTEXT_WORD})?)"
)


_OFF_BEFORE = re.compile(r"\b(?:off|kill\w*|stop\w*|shut\w*|down|except|without|not|no|skip\w*|closed|sleep\w*)\b[^.,;]{0,20}$")
_STOPPED = re.compile(r"\b(?:off|stop\w*|shut\w*|down|clos\w+|sleep\w*)\b[^.?!]*$")
# Stands for the longest context that the model supports.
ALL_CONTEXT = 10**12
_ALL_CONTEXT = re.compile(r"\b(?:its|the|their|full|at) (?:(?:full|whole|entire|native|own) )?(?:max(?:imum|imal)?|longest|full|native|entire) (?:position|context|sequence|window|length)|\bas (?:long|much) (?:\w+ )?as (?:the model|it) (?:takes|supports|allows|can)\b|\bfull[- ](?:length )?context\b|\bfilled[- ]to[- ]the[- ](?:max|brim|limit)(?: context)?\b(?! \()")
_NO_CONTEXT = re.compile(r"[\s-]?(?:(?:in|of|worth of) (?:[a-z]+ ){0,3}(?:credits?|budget|funding)\b|(?!(?:does|is|this|fits|as|was|has|plus|vs|works|needs|takes|its|us|contexts|sequences|tokens)\b)(?:[a-z]{3,}\s)?(?!(?:does|is|this|fits|as|was|has|vs|its|us|contexts|sequences|tokens)\b)[a-z]{3,}s\b|\||users|people|requests|queries|calls|images|\$|€|usd|eur|dollars|euros|bucks|gpus?|of them|a (?:month|day|week|year)|per|/)")


def _take_context(reading: Reading) -> None:
    for match in list(_CONTEXT.finditer(reading.text)):
        text = match.group()
        said = re.search(_CONTEXT_WORD, text) or "token" in match["after"]
        if re.search(r"(?:\b(?:per|pro|par|por)|(?<!w)/)\s?$", reading.text[: match.start()]):
            continue  # "per 1M tokens" is a unit of price
        long = match["scale"] == "k" and "," not in match["number"] and not (_NO_CONTEXT.match(reading.text, match.end()) and not reading.text[: match.start()].endswith("how many ")) and not re.search(r"(?:[$€-]|\b(?:of|from) (?:the|our|my|that))\s?$", reading.text[: match.start()])
        if said or long:
            below = -1 if re.search(r"(?<!\w)(?:-|minus |negative )$", reading.text[: match.start("number")]) else 1
            reading.mask(match.start(), match.end())
            reading.fill("context", [below * _tokens(_value(match["number"]), match["scale"] or "")])


def _tokens(number: float, scale: str) -> int:
    """ "128k" is 131,072 and "1M" 1,048,576, as models are named; numbers that are not powers of two are decimal."""
    binary = number == int(number) and int(number) > 0 and (int(number) & (int(number) - 1)) == 0
    return int(number * ({"k": 1024, "m": 1024**2} if binary else {"k": 1e3, "m": 1e6}).get(scale, 1))


_PEOPLE = r"(?:users?|people|persons?|developers?|employees?|engineers?|requests?|sequences?|sessions?|clients?|chats?|conversations?|streams?|queries|prompts|benutzer|nutzer|usuarios)"
_SEQUENCES = _compiled(
    rf"(?:(?:micro[- ]?)?batch(?:es)?(?:[- ]size)?(?:\s?[:=]|\s(?:of|is|to))?(?:\s(?:about|around|roughly|up to))?\s?(?P<batch>{_NUMBER})(?!\w|\.\d)|bs\s?=?\s?(?P<bs>\d+)(?![\w.])"
    rf"|concurrency(?: of|:)?\s(?P<concurrency>{_NUMBER})"
    rf"|(?P<people>{_NUMBER}|minus \d+)(?P<thousand>k)?[\s-](?:(?:concurrent|simultaneous|parallel|active|users?)[\s-])*{_PEOPLE}(?:\s(?:at once|at a time|at the same time|in parallel|concurrently|simultaneously))?(?!\w)(?!\s?(?:/|per|a) ?s)"
    rf"|(?P<once>{_NUMBER})\s(?:[a-z]+ing\s)?(?:at once|at a time|in parallel|concurren(?:t(?:ly)?|cy)|parallel))"
)


# Counts that are not concurrent users: people served over a day ("200 daily users"), people who do the work ("a team of
# 4"), and training data ("20k chat examples").
_NOT_AT_ONCE = _compiled(rf"(?:we(?:['’]re| are) (?:only |just )?{_NUMBER} (?:people|persons|engineers|developers|devs)|(?:team|company|startup) of {_NUMBER}|{_NUMBER}[\s-](?:person|people|man|head) (?:team|startup|company|shop|firm|lab|office)|{_NUMBER}k? (?:(?:daily|monthly|registered|beta|pilot|trial) (?:active )?)+(?:users|testers|people)|{_NUMBER}k? (?:employees|users (?:a|per) (?:day|month)|people(?=,? (?:\||team|budget)))|{_NUMBER}k? (?:[a-z]+ ){{0,2}}(?:examples|samples|pairs|rows|records))(?!\w)")


def tells_people(text: str) -> bool:
    """Whether a text counts people or data without saying how many are served at once."""
    return bool(_NOT_AT_ONCE.search(text.lower()))


# "20k requests per day": how many at once is not said.
_OVER_A_TIME = re.compile(r"\s?(?:/|(?:an?|per|each|every|pro|par|por|al|am|ao)\s)\s?(?:min|hour|h\b|day|night|week|month|year|stunde|tag|woche|monat|heure|jour|hora|d[ií]a)")


def _take_sequences(reading: Reading) -> None:
    reading.take(_NOT_AT_ONCE)
    found = [m for m in reading.take(_SEQUENCES) if not _OVER_A_TIME.match(reading.question, m.end())]
    counts = [
        _value(m["batch"] or m["bs"] or m["concurrency"] or m["people"] or m["once"]) * (1000 if m["thousand"] else 1)
        for m in found
    ]
    reading.fill("sequences", [int(count) for count in counts])


# People served: what is left of "25 clinicians", "32 staff", "10 Kollegen" when all other counts have been taken.
_SERVED = _compiled(rf"(?P<number>{_NUMBER})[\s-](?:[^\W\d_]{{2,15}}[\s-])?(?P<noun>[^\W\d_]{{3,}}(?:s|en|ren|gen|nen|eurs|enti|anti)|people|staff|men|women|children|personnel)(?!\w)")


def _take_people(reading: Reading) -> None:
    served = [m for m in _SERVED.finditer(reading.text) if m["noun"] not in _wording()["words"]["uncounted"].split() and not _OVER_A_TIME.match(reading.question, m.end())]
    for match in served[:1]:
        reading.mask(match.start(), match.end())
        reading.fill("sequences", [int(_value(match["number"]))])
    reading.fill("sequences", [int(_value(m["number"])) for m in reading.take(_TIMES)])


# "10 x 64k": the number of sequences, when the length of each has been masked.
_TIMES = _compiled(rf"(?P<number>{_NUMBER})\s?[x×*]\s?(?=\|)")


_ZERO = _compiled(r"(?:(?:deepspeed )?zero[- ]?(?:stage[- ]?)?(?P<stage>[0-3])|(?P<sharded>fsdp))(?!\w)")
_RANK = _compiled(r"(?:rank(?: of)?|r)\s?=?\s?(?P<rank>\d{1,4})(?![\w.])")
_RECOMPUTE = _compiled(
    r"(?P<no>(?:without|no|not) )?(?:using )?(?:(?:gradient|activation)[- ]checkpointing|(?:activation )?recomput(?:e|ation|ing))(?!\w)"
)


_MATRIX = r"(?:[qkvo]|query|key|value|output|gate|up|down)(?:_proj)?(?!\w)"
_MATRICES = _compiled(
    rf"(?:(?=[qkvo]\b|query|gate){_MATRIX}(?:,?\s?(?:,|/|&|\+|and)\s?{_MATRIX})+|{_MATRIX}(?:,?\s?(?:,|/|&|\+|and)\s?{_MATRIX})*(?: projections?| matri(?:x|ces)|(?<=_proj)))"
)
_ATTENTION_ONLY = re.compile(r"\b(?:attention only|only (?:the )?attention|attention (?:projections|matrices))\b")
# Copies that the optimizer keeps; they do not give the format of the weights.
_MASTER = _compiled(r"(?:fp|float)?[- ]?32(?:[- ]?bits?)? (?:master(?:s|[- ](?:weights?|cop(?:y|ies)|params?|parameters?))?|cop(?:y|ies) of the weights|optimi[sz]er[- ]states?|moments|states)(?!\w)")


_NO_ADAPTER = _compiled(r"(?:no|not|without|minus|never|ohne|sans|sin|senza) (?:any |a )?(?:q?lora|dora|peft|adapters?)(?!\w)")
# Several adapters that are served beside one model, which is no training.
SEVERAL_ADAPTERS = _compiled(rf"(?!(?:one|single|1)\b)(?:{_NUMBER}|several|many|multiple|multi|dozens of|hundreds of|their own|its own)[ -](?:[a-z]+ )?(?:q?loras?|(?:q?lora )?adapters?)(?!\w)")


def _take_training(reading: Reading) -> None:
    reading.take(_MASTER)
    reading.take(_NO_ADAPTER)
    reading.fill("epochs", [_value(m["number"]) for m in reading.take(_EPOCHS)])
    reading.take(SEVERAL_ADAPTERS)
    if re.search(r"lora|dora|adapter|\bq\b", reading.text):
        words = {word.removesuffix("_proj") for m in reading.take(_MATRICES) for word in re.findall(_MATRIX, m.group())}
        targets = {word[0] if word in ("query", "key", "value", "output") else word for word in words} or set("qkvo" if _ATTENTION_ONLY.search(reading.text) else "")
        reading.fill("lora_targets", [frozenset(targets)] if targets else [])
    reading.fill("zero_stage", [3 if m["sharded"] else int(m["stage"]) for m in reading.take(_ZERO)])
    reading.fill("recompute", [not m["no"] for m in reading.take(_RECOMPUTE)])
    reading.fill("optimizer", [Optimizer(name) for name in _take_listed(reading, "optimizers")])
    if re.search(r"lora|dora|adapter|rank|\br ?=", reading.text) and not re.search(r"\b(?:mla|latent|rope)\b", reading.text):
        reading.fill("lora_rank", [int(m["rank"]) for m in reading.take(_RANK)])


_MAKER = r"(?:nvidia |aws |amd |habana |intel )?"
_KIND = r"(?:[\s-](?:tensor core )?(?:gpus?|accelerators?|chips?|cards?))?"
_GB = r"(?P<gb{}>\d{{1,4}}(?:\.\d+)?)\+?[\s-]?(?P<unit{}>gi?bs?|g|gigs?|go(?! )|gigabytes?)(?!\w|/s)"


_WEIGHT = re.compile(
    rf"\b(?:{_NOUN}|weights)(?:,? (?:is|are|it|itself|file|files|size|at|about|around|roughly|some|only|just|needs?|wants|takes?|up|weighs?|which|that|comes|to|on disk)){{1,5}} {_GB.format('', '')}(?! ?(?:gpu|card|each|[hbalv]\d))"
    rf"|(?<![\w.]){_GB.format('_', '_')}(?: of)?[ -](?:[a-z]+ )?(?:{_NOUN}|weights)\b"
)


def _take_weight(reading: Reading) -> None:
    """Fill the parameters of a model that is known by its bytes alone: "our model is 40 GB"."""
    match = None if reading.slots.keys() & {"model", "parameters"} else _WEIGHT.search(reading.question)
    if match:
        bits = BITS[reading.slots.get("weights", Format.BF16)]
        reading.mask(*match.span())
        reading.fill("parameters", [_gigabytes(match["gb"] or match["gb_"], match["unit"] or match["unit_"]) * 8e9 / bits])


def _take_accelerators(reading: Reading) -> None:
    names = tuple(dict.fromkeys(map(short, reading.known.accelerators)))
    written = "|".join(sorted((_as_written(name) for name in names), key=len, reverse=True)) or r"(?!)"
    pattern = _compiled(
        rf"(?<![a-z]\d-)(?:(?P<count>{_NUMBER})(?!\d)(?: or more|\+)?(?:\s?[x×*]|-(?=[a-z]))?\s?(?:of )?(?:(?:idle|idling|unused|spare|busy|loaded|fully loaded|new|more|extra|dedicated|identical)\s)?)?(?:{_GB.format(1, 1)} )?{_MAKER}(?P<name>{written})(?:['’]?s)?(?:[\s-](?:sxm\d?|pcie))?{_KIND}(?:[\s-](?:de |da |di |van |von )?{_GB.format(2, 2)}|(?:-(?=(?:40|80)(?!\w|[.,]\d))|[- ](?=(?:40|80)s(?!\w)))(?P<gb3>40|80)s?)?(?:\s?[x×]\s?(?P<times>\d{{1,4}})(?!\s?(?:h|d|hours?|days?|weeks?|months?)\b))?(?P<hours>[\s-]hours?)?(?!\w)"
    )
    matches = [m for m in pattern.finditer(reading.text) if m["count"] or _folded(m["name"]) not in _LINES_ALONE]
    by_folded = {_folded(name): name for name in names}
    for match in matches:
        reading.mask(match.start(), match.end())
    if any(m["hours"] and m["count"] for m in matches):
        reading.slots["hours"] = 1.0  # "100 H100-hours" are 100 of them for an hour
    options = [m for m in matches if "instance_type" in reading.slots and _OPTION.search(reading.text[: m.start()])]
    reading.several["instance_type"] = [*reading.several.get("instance_type", []), *({"instance_type": None, "instances": None, **_accelerator(m, by_folded)} for m in options)]
    wanted = [_accelerator(m, by_folded) for m in matches if m not in options and not _is_refused(reading.text, m.start())]
    refused = frozenset(by_folded[_folded(m["name"])] for m in matches if _is_refused(reading.text, m.start()))
    if refused:
        reading.slots["without"] = refused
    if wanted:
        reading.slots.update({slot: value for slot, value in wanted[0].items() if value is not None})
        reading.several["accelerator"] = [other for other in wanted[1:] if other not in (wanted[0], {**wanted[0], "accelerators": None, "accelerator_memory_gb": None})]


# "A g6.12xlarge or one L40S": another option, not the accelerator of the first.
_OPTION = re.compile(r"\b(?:or|vs\.?|versus|against|oder|ou)\b[^,.;?|\d]{0,20}$")


def _accelerator(match: re.Match[str], names: Mapping[str, str]) -> dict[str, Any]:
    count = match["count"] or match["times"]
    memory = next((_gigabytes(match[f"gb{n}"], match[f"unit{n}"] if n < "3" else "gb") for n in "123" if match[f"gb{n}"]), None)
    return {
        "accelerator": names[_folded(match["name"])],
        "accelerators": int(_value(count)) if count else None,
        "accelerator_memory_gb": memory,
    }


def _as_written(name: str) -> str:
    pieces = re.findall(r"[a-z]+|\d+", name.lower())
    pattern = r"[\s-]?".join(pieces) if " " in name else "-?".join(pieces)
    return {"a10g": "a10g?", "rtxproserver6000": r"rtx[\s-]?pro[\s-]?(?:server[\s-]?)?6000"}.get(
        "".join(pieces), pattern
    )


def _folded(written: str) -> str:
    folded = re.sub(r"[^a-z0-9]", "", written.lower())
    return {"a10": "a10g", "rtxpro6000": "rtxproserver6000"}.get(folded, folded)


# Product lines whose name alone means every generation.
_LINES_ALONE = frozenset({"trainium", "inferentia"})
_REFUSING = re.compile(
    r"(?:\b(?:hors|sauf|excepté|außer|excluding|excludes?|skip(?:ping)?|salvo|excepto|spare me|barring|minus|no|(?<!why )not|without|avoid(?:ing)?|except|other than|instead of|non|rather than|anything but|kein\w*|ohne|sin|sans)\b[\s-]?(?:(?:an?|any|using|on|the|use|from|old|older|ancient|legacy|more|those|these|such|fancy|les?|la|die|der)\s)*(?:\|+ (?:or|nor|and|et|und|oder|,) )*)$"
)


def _is_refused(text: str, start: int) -> bool:
    """Whether the text before this position says that what follows is unwanted."""
    return bool(_REFUSING.search(text[max(0, start - 40) : start]))


_OF_A_LINE = _compiled(rf"(?P<count>{_NUMBER})\s(?:of (?:the|our|those|these) )?(?:[a-z]+ )?$")


# A generation of a product line that no table has; known ones are masked by now.
_NO_GENERATION = _compiled(r"(?:trainium|inferentia|gaudi)[ -]?(?:v|gen(?:eration)? )?\d(?![\w.%]| ?(?:x\b|chips|of|gb|hours|days|years|months)\b)")


def _take_lines(reading: Reading) -> None:
    """Fill the makers and product lines of accelerators, wanted and unwanted."""
    if _IDLE.search(reading.question):
        reading.fill("load", [0.0])
    wanted: dict[str, set[str]] = {"vendors": set(), "families": set()}
    unwanted: set[str] = set(refused_makers(reading.question) & {"nvidia", "amd", "intel"})
    without = {{"nvidia": "NVIDIA", "amd": "AMD", "intel": "Intel"}[maker] for maker in unwanted}
    for pattern, means in _lines():
        for match in list(pattern.finditer(reading.text)):
            refused = _is_refused(reading.text, match.start())
            if not match.group()[-1].isdigit() and _NO_GENERATION.match(reading.text, match.start()):
                continue
            if match.group().startswith("gpu") and not (
                refused or re.search(r"only\s$", reading.text[: match.start()][-6:])
            ):
                continue
            if "instance_type" in reading.slots and (several := _OF_A_LINE.search(reading.text[max(0, match.start() - 40) : match.start()])):
                reading.slots.setdefault("instances", int(_value(several["count"])))  # "4 of the smallest Trainium (trn1.2xlarge)"
            reading.mask(match.start(), match.end())
            for slot, values in means.items():
                if refused or slot == "without" or set(values) <= without:
                    without.update(values)
                else:
                    wanted[slot].update(values)
    for slot, found in wanted.items():
        if found - without:
            reading.fill(slot, [frozenset(found - without)])
    if without:
        reading.slots["without"] = reading.slots.get("without", frozenset()) | without


_FAMILY = _compiled(rf"(?:(?P<count>{_NUMBER})\s?[x×]?\s)?(?P<family>[a-z]{{1,5}}\d{{1,2}}[a-z]{{0,4}}(?:-[a-z0-9]{{1,6}})?)(?:s|['’]s)?(?![\w-]|\.\w)")  # fmt: skip


# A larger number is a year or a context, not a number of machines.
MOST_MACHINES = 1_000


def _take_families(reading: Reading) -> None:
    families = frozenset(sizes_of(reading.known))
    found = {m: meant for m in _FAMILY.finditer(reading.text) if (meant := _families_of(m["family"], families))}
    refused: set[str] = set()
    for match, meant in found.items():
        refused |= set(meant) if _is_refused(reading.text, match.start()) else set()
        reading.mask(match.start(), match.end())
    reading.fill("instances", [number for m in found if m["count"] and (number := int(_value(m["count"]))) <= MOST_MACHINES])
    wanted = [name for meant in found.values() for name in sorted(meant) if name not in refused]
    if refused:
        reading.slots["without"] = reading.slots.get("without", frozenset()) | refused
    typed = [reading.slots.get("instance_type", ""), *(str(option["instance_type"]) for option in reading.several.get("instance_type", []))]
    others = [name for name in wanted if typed[0] and not any(name_.startswith(f"{name}.") for name_ in typed)]
    if others and len(others) == len(set(wanted)) <= 4:
        # "p4d, p4de and p5": among instance types, a family means its largest type or, for a model, any that holds it.
        largest = {name: [t for t in sizes_of(reading.known)[name] if "metal" not in t][-1] for name in dict.fromkeys(others)}
        reading.several["instance_type"] = [*reading.several.get("instance_type", []), *({"instance_type": t, "instances": None, "families": frozenset({name})} for name, t in largest.items())]
    elif wanted:
        reading.slots["families"] = reading.slots.get("families", frozenset()) | frozenset(wanted)
    reading.unknown = reading.unknown or next((match.group() for match in reading.take(_NO_GENERATION)), None)


def _families_of(written: str, families: frozenset[str]) -> frozenset[str]:
    """Return the family of that name or, for the short name of a product line, all its families: "p4" is P4d and P4de."""
    exact = {written, written.rstrip("s")} & families
    if exact or not re.fullmatch(r"(?:g|p|inf|trn|dl)\d", written):
        return frozenset(exact)
    return frozenset(name for name in families if name.startswith(written))


_MEMORY = _compiled(
    rf"(?:(?P<count>{_NUMBER})(?:\s?[x×]\s?|\s))?(?P<with>(?:(?:(?:gpus?|cards?|each)(?: one)? )?(?:with|w/|of|having|mit|con|avec|com|met|à|a)|each|on|in|into|within|have|has|got|auf|in) (?:only |an? |my |our |one |the |at least )?)?(?P<least>(?:at least|no less than|an? minimum of|minimum|mindestens|au moins|al menos|almeno|over|more than|>=|≥|>)\s?)?{_GB.format('', '')}(?P<of>(?: of)? (?:v?ram|gpu memory|hbm)| each| apiece| (?:per|por|pro|par) (?:gpu|card|karte))?(?P<kind>(?: |-)(?:nvidia )?(?:gpus?|cards?|accelerators?|karten?|one)|(?= or (?:an? |the |only |just )*\d+ ?gi?b (?:gpu|card)))?"
)
_NODES = _compiled(rf"(?<!rtx )(?P<count>{_NUMBER})\s?[x×]?\s?(?:nodes?(?! groups?| pools?)|instances?|machines?|servers?|box(?:es)?|(?P<them>of (?:them|those|these|the (?:dearer|cheaper|pricier|more expensive|less expensive|costlier|former|latter|winner|second|other)\b)|such(?! (?:hour|day|week|month))|(?:would|should|will|is|are) (?:be )?(?:enough|sufficient|do\b)))(?!\w)")
_COUNTED = _compiled(rf"(?P<more>more than )?(?P<count>{_NUMBER})(?: or more|\+)?(?:\s?[x×]?\s?|-)(?:\|+\s|[a-z]+ed\s)?(?:gpus?|cards?|accelerators?|chips?|ranks?|devices?|workers?)(?!\w|[\s-]?hours?\b)")
# A size that ends a short follow-up: "sorry, the 12xlarge".
_BARE_SIZE = _compiled(r"(?P<size>nano|micro|\d{1,3}xl(?:arge)?|xlarge|metal)(?![\w-])")
_NEEDED = re.compile(r"\s?(?:of |for |in )?(?:the )?(?:kv|k/v|overhead|context|cache|activations?)\b")


_NEEDED = re.compile(r"\s?(?:of |for |in )?(?:the )?(?:kv|k/v|overhead|context|cache|activations?)\b")


def _take_memory(reading: Reading) -> None:
    """Fill accelerators without a name: "a 24 GB GPU", "two GPUs".

    Memory that a model needs ("26 GB of weights") is skipped.
    """
    sizes: list[float] = []
    for match in reading.take(_MEMORY):
        named = match["with"] or match["of"] or match["kind"] is not None or match["count"] or (match["least"] and not reading.slots.keys() & {"model", "parameters"})
        if named and "instance_type" not in reading.slots and not _NEEDED.match(reading.question, match.end()):
            sizes += [_gigabytes(match["gb"], match["unit"])] if match["kind"] is not None or not sizes else []
            reading.fill("accelerators", [int(_value(match["count"]))] if match["count"] else [])
    reading.fill("accelerator_memory_gb", sizes[:1] if "accelerators" in reading.slots else sizes)
    # "We have 0 GPUs today" says nothing about the machine that is asked about.
    reading.fill("accelerators", [n for m in reading.take(_COUNTED) if (n := int(_value(m["count"])) + bool(m["more"]))])
    for match in reading.take(_NODES):
        reading.fill("of_them" if match["them"] else "instances", [int(_value(match["count"]))])
    if len(reading.text.split()) <= 7:
        reading.fill("size", [re.sub(r"xl$", "xlarge", match["size"]) for match in reading.take(_BARE_SIZE)])


def _gigabytes(number: str, unit: str) -> float:
    return float(number) * (2**30 / 1e9 if unit.startswith("gib") else 1.0)


_UNIT = r"min(?:utes?|uten)|hours?|h|hrs?|days?|d|weeks?|fortnights?|months?|quarters?|years?|stunden?|tagen?|tage?|wochen?|monaten?|monate?|monat|jahre?n?|heures?|jours?|semaines?|mois|ans?(?! h)|horas?|d[ií]as?|semanas?|mes(?:es|i)?|años?|or[ae]|giorn[oi]|settiman[ae]|ann[oi]"
_DURATION = _compiled(
    rf"(?:(?:for|over|during|in|within|throughout|takes?|running|runs|pendant|während|für|en|durante|em|num|numa|per(?= \d)|por(?= \d)|an(?= ein)|über|przez|w ciągu) )?(?P<number>{_NUMBER}|an?|one|(?:an? |the )?(?:full|whole|entire)|the (?:last|next)|all|last|une?|einen?|eine[rm]?|una?)(?:[\s-](?:(?P<kind>work(?:ing)?|business|week|school|full|whole|straight|consecutive|entire|calendar|such|of (?:these|those|such))[\s-]?)?|(?<=\d))"
    rf"(?P<unit>{_UNIT})(?:\s?(?:/|an?\b|per|each|every|am|pro|par|al|por|cada|jeden|jede|chaque|ogni|elke)\s?(?P<working>work(?:ing)?[\s-]?|business |week|school )?(?P<each>day|night|nacht|nuit|noche|notte|giorno|tag|jour|d[ií]a|weekend|week|woche|semaine|semana|month|monat|mois|mes|year|jahr|an|año)|\s?(?P<adverb>daily|weekly|monthly))?(?!\w)"
)
# Seconds that machines run. Others are those of a request or a file.
_SECONDS = _compiled(rf"(?:for|during|runs|running) (?P<number>{_NUMBER})\s?(?:s|sec|seconds)(?!\w|\s?(?:of|per|each|every|an?)\b|\s?/)")
# "21 days of 10 hours a month", "8 h × 250 d".
_DAYS_OF_HOURS = _compiled(
    rf"(?:(?P<days>{_NUMBER})[\s-](?:\w+ )?days? (?:of|at|with|x|×|\*) (?P<hours>{_NUMBER})\s?h(?:ours?|rs?)?|(?P<hours_>{_NUMBER})\s?h(?:ours?|rs?)?\s?[x×*]\s?(?P<days_>{_NUMBER})\s?d(?:ays?)?)(?: each)?"
    r"(?:\s?(?:/|an?\b|per|each|every)\s?(?P<each>week|month|year))?(?!\w)"
)
_TO = r"\s?(?:-|–|to|until|till?|through|thru|bis|à|a|do)\s?"
_TIME = r"(?P<{0}>\d{{1,2}})(?::(?P<{0}m>\d\d))?\s?(?P<{0}n>am|pm|uhr|h)?"
# "9 to 5", "8am-6pm", "von 8 bis 18 Uhr". Without a clock word, the text must mention days as well.
_CLOCK = _compiled(rf"(?:from |von |de |between )?{_TIME.format('start')}(?:{_TO}| and ){_TIME.format('end')}(?![\w%]|[.,]\d)")
_DAY = r"(?:mon|tue|wed|thu|fri|sat|sun)(?:s|rs?|nes|ur)?(?:days?)?"
_SINCE = r"(?:,? (?:and |it |it['’]s |its |we |i )*(?:now|noticed|found|stopped|killed|back|until|till|today)(?: (?:it['’]?s|is|it|on|at|out|this))*,? )"
_DAY_TO_DAY = _compiled(rf"(?:from )?(?P<first>{_DAY})(?: at|,)? {_TIME.format('start')}(?:{_TO}|{_SINCE})(?P<last>{_DAY})(?: at|,)? {_TIME.format('end')}(?!\w)")
_NAMED_DAYS = _compiled(rf"(?:(?P<first>{_DAY}){_TO}(?P<last>{_DAY})|(?P<list>{_DAY}(?:\s?(?:,|\+|&|/|and|plus)\s?{_DAY})+))(?!\w)")
_DAYS_OF_WEEK = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DAILY = re.compile(r"\b(?:(?:work\w*|office|business|shop|opening|store) hours|days (?:a|per|each) week|daily|nightly|overnight|(?:every|each|per|a|work\w*|business|week|both|all)[ -]?(?:days?|nights?|evenings?|mornings?)|täglich|weekends?)\b")
# Days of the week without a number: "10 hours a day, Monday to Friday".
_WORKDAYS = _compiled(r"(?:(?:work(?:ing)?|business|week)[\s-]?days?|werktags|werktagen|arbeitstagen|bürozeiten|montags? bis freitags?|(?:de )?lunes a viernes|(?:du )?lundi au vendredi|(?:da |dal )?lunedì (?:a|al) venerdì|maandag (?:tot|t/m) vrijdag|jours ouvrés|días laborables)(?!\w)")
_WEEKEND = _compiled(
    r"(?:(?P<off>(?:off|down|not|no|without|except|but not|excluding|never|minus|skip\w*|out|closed|sleep\w*|stop\w*|rest\w*|paused?)(?: (?:at|on|over|for|during))?(?: the)? )|(?P<in>(?:including|incl\.?|even|also|and)(?: (?:at|on|over))?(?: the)? )|(?P<once>(?:for |over |this |next |last )(?:an?|one|the|this|next|last|whole)?\s?))?"
    r"(?P<word>weekends?|wochenende\w*)(?P<too> (?:included|too|as well|incl\.?)| (?P<off_>off|excluded|out|free))?(?!\w)"
)
_ALWAYS = _compiled(r"(?:(?:nobody|no[ -]?one|don['’]?t|never|not)(?: ever| gets?| being| been| is| are)* (?:off|stops?|stopped|sleeps?|down|(?:switch|turn|shut|power)(?:es|ed|s|ing)?(?: (?:it|them|those|these|that|the \w+))? (?:off|down))|24/7|24x7|around the clock|all the time|always (?:on|up|running)|continuously|nonstop|non-stop|permanently|left (?:on|running)|leav(?:e|ing) (?:it|them|everything) (?:on|running|up)|(?:is|are) (?:on|up) all the time|day and night|round the clock|durchgehend|rund um die uhr|en continu|sin parar)(?!\w)")
_RATE = re.compile(r"\b(?:per|pro|par|por|each|every|in a)[ -](?:calendar )?(?:day|week|year|annum|tag|woche|jahr|jour|semaine|an|d[ií]a|semana|año)\b|\b(?:daily|weekly|yearly|annual(?:ly)?)\b|/ ?(?:day|week|year)\b")
_A_YEAR = re.compile(r"\b(?:an?|per|each|every|this|pro|im|par|por|al) (?:\w+ )?(?:year|annum|jahr|an|año)\b|\b(?:yearly|annual\w*)\b|/ ?year\b")
_FOR = re.compile(r"(?:for|over|during|in|within|throughout|running|runs|pendant|während|für|en|durante|em|num|numa|per|por|an(?= ein)|über|przez|w ciągu)\s")
# "Four runs, each 6 hours".
_RUNS = _compiled(rf"(?P<count>{_NUMBER})\s(?:[a-z-]+\s)?(?:runs|jobs|trainings|sessions|experiments|rounds|times)(?=[ ,]*(?:\(|each|of|at|that (?:each )?take|taking|lasting|every one))")
# "A week" at the start of a clause is a duration too; in "the price a week" it is not.
_APART = re.compile(r"(?:^|[,:;(]|\b(?:now|then|and|say|is|of|all|same))\s*$")


# Time that no machine runs: "an hour of delay is fine", "900 hours of audio".
_NOT_RUN = re.compile(r"\s(?:of|more|extra) (?:[^\W\d]+ ){0,2}?(?:delay|latency|wait\w*|lag|downtime|audio|speech|video|footage|recordings?|calls|music|talk)\b")


# The term of a commitment is not a time that machines run.
_COMMITMENT = _compiled(r"(?:1|3)[\s-]?(?:years?|yrs?|y)(?=[,\s-]+(?:\w+\s){0,2}(?:savings?|reserv\w+|commit\w*|ris?|plan|no upfront|all upfront|partial)\b)|(?<=reserved )(?:1|3)[\s-]?(?:years?|yrs?|y)(?!\w)")


def _take_duration(reading: Reading) -> None:
    reading.take(_COMMITMENT)
    always = reading.take(_ALWAYS)
    yearly = bool(_A_YEAR.search(reading.text))
    lengths: list[float] = []
    # Hours used and the period in hours: 10 hours of a day, 21 days of a month.
    rates: list[tuple[float, float]] = []
    for match in reading.take(_DAYS_OF_HOURS):
        days = 24.0 * _value(match["days"] or match["days_"])
        rates.append((_value(match["hours"] or match["hours_"]), 24.0))
        if match["each"]:
            rates.append((days, hours_in(match["each"])))
        else:
            lengths.append(days)
    spans: list[float] = []
    off = False
    for match in reading.take(_DAY_TO_DAY):
        spans.append(((_weekday(match["last"]) - _weekday(match["first"])) * 24.0 + _clock(match, "end") - _clock(match, "start")) % 168.0 or 168.0)
    named = [7 - _days_named(match) if (off := bool(_OFF_BEFORE.search(reading.text[max(0, match.start() - 40) : match.start()]))) else _days_named(match) for match in reading.take(_NAMED_DAYS)][:1]
    days_said = bool(named or _WORKDAYS.search(reading.text) or _DAILY.search(reading.text))
    for match in list(_CLOCK.finditer(reading.text)):
        start, end = int(match["start"]), int(match["end"])
        if start <= 24 and end <= 24 and (days_said or match["endn"] in ("am", "pm", "uhr") or (start, end) == (9, 5) or (match["startn"] == match["endn"] == "h" and start > 12)):
            reading.mask(match.start(), match.end())
            plain = not (match["startn"] or match["endn"]) and start > end and end <= 12
            rates.append((((_clock(match, "end") - _clock(match, "start")) % (12 if plain else 24)) or 24.0, 24.0))
    apart_times = list(re.finditer(_TIME.format("start") + r"(?<=m)", reading.text))
    if len(apart_times) == 2 and not rates and not spans:  # "fire it up at 8pm and kill it at 2am"
        begin, end_ = ((int(m["start"]) % 12 + (12 if m["startn"] == "pm" else 0)) for m in apart_times)
        rates.append((float((end_ - begin) % 24 or 24), 24.0))
    for match in reading.take(_MONTHS):
        lengths.append(2190.0 if match["quarter"] else 24.0 * _DAYS_OF_MONTH[match["month"][:3]])
    if rates and _ONE_NIGHT.search(reading.text) and not _WEEKLY.search(reading.text):
        lengths.append(24.0)
    lengths += [_value(match["number"]) / 3600 for match in reading.take(_SECONDS)]
    counted_days = False
    periods = len({hours_in(match["unit"]) for match in _DURATION.finditer(reading.text) if match["number"] in _ONE}) > 1
    for match in list(_DURATION.finditer(reading.text)):
        once = not re.match(r"\d", match["number"]) and match["number"] not in _NUMBERS
        whole = re.search(r"full|whole|entire|last|next|all", match["number"]) or match["kind"] in ("full", "whole", "entire")
        apart = _APART.search(reading.text[: match.start()]) or re.match(r"\s(?:lang|long|of (?:it|that|this))\b", reading.text[match.end() :])
        if (periods and match["number"] in _ONE) or _NOT_RUN.match(reading.text, match.end()):
            continue  # "for an hour, a day and a month" asks for three prices
        if once and not (whole or re.search(r"full|whole|entire", match.group()) or (always and hours_in(match["unit"]) > 1)) and not apart and not _FOR.match(match.group()):
            continue  # "per hour", "a month": a unit of price
        reading.mask(match.start("number"), match.end("unit") if match["working"] else match.end())
        hours = (1.0 if once else _value(match["number"])) * hours_in(match["unit"])
        counted_days = counted_days or bool(not once and match["kind"] and match["unit"].startswith("d"))
        each = hours_in("d" if match["adverb"] == "daily" else match["each"] or match["adverb"] or "") if match["each"] or match["adverb"] else 0.0
        if each:
            rates.append((min(hours, each), each))
        else:
            lengths.append(hours)
    # The days of the week. A few named days are just those days, unless the text mentions a longer time.
    weekly = bool(off or yearly or _WEEKLY.search(reading.text) or any(length > 168.0 for length in lengths))
    days_ = [*named, *(5 for _ in reading.take(_WORKDAYS) if not counted_days)]
    for match in reading.take(_WEEKEND):
        if match["once"] and not weekly:
            lengths.append(48.0)
        elif match["in"] and _STOPPED.search(reading.text[: match.start()]):
            days_ += [5]  # "stopped outside 8:00-19:00 and on weekends"
        elif not (match["in"] or (match["too"] and not match["off_"])):
            off = off or bool(match["off"] or match["off_"])
            days_ += [] if spans else [5 if match["off"] or match["off_"] else 2]
    whole_days = bool(always or off or _KEPT_UP.search(reading.text))
    if spans and not any(length <= 168.0 for length in lengths):
        rates += [(spans[0], 168.0)] if weekly else []
        lengths += [] if weekly else spans[:1]
    elif days_ and days_[0] <= 3 and named and not weekly and not [length for length in lengths if length > 24.0]:
        lengths.append(24.0 * days_[0])
    elif days_ and (rates or lengths or whole_days) and not any(each > 24.0 for _, each in rates):
        if not rates and lengths and lengths[0] <= 24.0:
            rates.append((lengths.pop(0), 24.0))
        if rates and days_[:2] == [5, 2]:
            rates = [(5 * rates[0][0] + 48.0, 168.0)]  # "8pm to 7am on weekdays and all weekend"
        elif rates or whole_days or named:
            rates.append((days_[0] * 24.0, 168.0))
    if runs := [_value(match["count"]) for match in reading.take(_RUNS)] if lengths and not rates else []:
        lengths[0] *= runs[0]
    if rates:
        lengths = [_scheduled(sorted(rates, key=lambda rate: rate[1]), lengths, 8760.0 if yearly else MONTH_HOURS)]
    reading.fill("hours", lengths[:1])
    if always and not _RATE.search(reading.text):
        reading.fill("hours", [MONTH_HOURS])


_ONE = frozenset({"a", "an", "one", "une", "un", "ein", "eine", "einen", "einer", "einem", "una", "uno"})
_DAYS_OF_MONTH = {"jan": 31, "feb": 28, "mar": 31, "apr": 30, "mai": 31, "may": 31, "jun": 30, "jul": 31, "aug": 31, "ago": 31, "sep": 30, "oct": 31, "okt": 31, "ott": 31, "nov": 30, "dec": 31, "dez": 31}
_MONTHS = _compiled(
    r"(?:(?:for|during|over|throughout|in|all|whole|entire|full|of|tutto|todo|ganzen|tout|im) (?:of |the )?)(?:(?P<month>jan(?:uary)?|feb(?:ruary)?|march|april|may|june?|july?|aug(?:ust)?|agosto|sept(?:ember)?|oct(?:ober)?|oktober|ottobre|nov(?:ember)?|dec(?:ember)?|dezember)|(?P<quarter>q[1-4]))(?! (?:be|i|we|have|not|also|cost|need|well|run)\b)(?!\w)"
)
_ONE_NIGHT = re.compile(r"\b(?:one|a|per|une|eine|single|pro|par) (?:single )?(?:night|nuit|nacht|evening|shift|noche|notte)\b")
# Running on some days, at all their hours.
_KEPT_UP = re.compile(r"\b(?:during|only|just|keep|kept|up|on)\s\|")
_WEEKLY = re.compile(r"\b(?:every|each|per|an?|the) (?:\w+ )?(?:week|month)\b|\b(?:weekly|monthly|month|weeks|months|usually|always)\b|woche|monat")


def _clock(match: re.Match[str], which: str) -> float:
    """The time of day in hours."""
    hour, half = float(match[which]), match[f"{which}n"]
    if half in ("am", "pm"):
        hour = hour % 12 + (12 if half == "pm" else 0)
    return hour + float(match[f"{which}m"] or 0) / 60


def _weekday(written: str) -> int:
    return _DAYS_OF_WEEK.index(written[:3])


def _days_named(match: re.Match[str]) -> int:
    if match["list"]:
        return len(set(re.findall("|".join(_DAYS_OF_WEEK), match["list"])))
    return (_weekday(match["last"]) - _weekday(match["first"])) % 7 + 1


def _scheduled(rates: Sequence[tuple[float, float]], lengths: Sequence[float], usual: float) -> float:
    """The hours of a schedule: "2 hours a day, 20 days a month, 10 months".

    `rates` are pairs of hours used and period, the shortest period first. Without `lengths`, the schedule lasts for the
    `usual` time.
    """
    used, span = rates[0]
    for days, each in rates[1:]:
        used, span = used * days / span, each
    return used * (max(lengths, default=max(usual, span)) / span)


def _formats(reading: Reading) -> list[Format]:
    """The formats that are named; the bits of a named method ("AWQ, 4-bit") are not a second format."""
    found = [Format(name) for name in _take_listed(reading, "formats")]
    methods = [f for f in found if f in (Format.AWQ, Format.GPTQ, Format.NF4, Format.MXFP4)]
    return [f for f in found if f in methods or not methods or f is not Format.INT4]


def _tasks(found: Sequence[str]) -> list[Task]:
    """The tasks asked for. Specific words ("train a LoRA") outrank general ones; to train means to change all weights."""
    tasks = [Task.FULL if name == "training" else Task(name) for name in found]
    exact: list[Task] = [task for task in tasks if task in (Task.LORA, Task.QLORA, Task.PRETRAIN)]
    trains: list[Task] = [task for task in tasks if task is not Task.SERVE]
    return exact or trains or tasks


# --- data ---------------------------------------------------------------------------------------------------------------


def _words(written: Sequence[str]) -> re.Pattern[str]:
    # Only Latin letters, digits and some signs continue a word, so that a word may touch another script.
    return re.compile(rf"(?<![a-z0-9_.\u00df-\u017f])(?:{'|'.join(written)})(?![a-z0-9_\u00df-\u017f])")


@cache
def listed(table: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The names in a table of wordings, such as regions, each with its pattern."""
    return tuple((name, _words(written)) for name, written in _wording()[table].items())


def _take_listed(reading: Reading, table: str) -> list[str]:
    """Mask the entries of a table of wordings that a text contains, and return their names in text order."""
    found: list[tuple[int, str]] = []
    for name, pattern in listed(table):
        found += [(match.start(), name) for match in reading.take(pattern)]
    return [name for _, name in sorted(found)]


@cache
def _models() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(rf"(?<!\w){written}"), name) for written, name in _wording()["models"].items())


@cache
def _lines() -> tuple[tuple[re.Pattern[str], dict[str, list[str]]], ...]:
    lines = sorted(_wording()["lines"].items(), key=lambda line: "\\d" not in line[0] and " ?" not in line[0])
    return tuple((_words([written]), means) for written, means in lines)


@cache
def _goal_patterns() -> dict[Goal, re.Pattern[str]]:
    hardware = _wording()["words"]["hardware"]
    return {
        Goal(name): _words([w.replace("{hardware}", hardware) for w in written])
        for name, written in _wording()["goals"].items()
    }


def _take_goals(reading: Reading) -> frozenset[Goal]:
    return frozenset(goal for goal, pattern in _goal_patterns().items() if reading.take(pattern))
