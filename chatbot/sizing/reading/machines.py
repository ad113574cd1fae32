"""Read instance types and families, how many machines there are, and their places."""

import re
from difflib import get_close_matches
from functools import lru_cache

from chatbot.sizing.model_names import heads
from chatbot.sizing.reading.accelerators import NO_GENERATION, is_refused
from chatbot.sizing.reading.numerals import NUMBER, compiled, value_of
from chatbot.sizing.reading.text import Known, Reading

_REGION = compiled(r"(?:us|eu|ap|sa|ca|me|af|il|cn|mx)-(?:gov-)?[a-z]{4,9}-\d[a-f]?(?!\w)")
_TYPE = compiled(
    rf"(?:(?P<count>{NUMBER})\s?(?:[x×*]\s?)?(?:(?:of|of our|(?:[a-z]+-)?[a-z]+(?:ing|ed|able)|[a-z]+-(?:on|up|only)|idle|tiny|little|lonely|spare|old|small|big|separate|different|of (?:the|those|these|their))\s)?)?(?P<family>[a-z]{{1,5}}\d{{1,2}}[a-z]{{0,4}}(?:-[a-z0-9]{{1,6}})?)\s?\.\s?"
    r"(?P<size>nano|micro|small|medium|large|\d{0,3}xl(?:arge)?|metal(?:-\d+xl)?)(?:['’]?s)?(?![\w-])"
)
_SHORT_NAME = compiled(r"(?P<least>(?:baby|little|tiny|littlest|teeny|entry[- ]level|small) )?(?P<family>[a-z]{1,5}\d{1,2}[a-z]{0,4}(?:-[a-z0-9]{1,6})?)(?:\.(?P<size>\d{1,2}))?(?:s|['’]s)?(?![\w-]|\.\w)")
_CHOOSES = re.compile(r"\b(?:cheapest|smallest|largest|biggest|fastest|greenest|best|which|only|family|families|series)\b")
_ORDINARY = frozenset({"stable", "bloom", "whisper", "falcon"})
# "27 teams, every team gets a g5.2xlarge", "a g5.xlarge for each of 12 students".
_EACH_GETS = re.compile(r"\b(?P<own>[a-z]{3,}s) (?:each|all) (?:gets?|has|have|use|need|run|receive)\b|\b(?:every|each|per) (?P<noun>[a-z]{3,}) (?:gets?|has|uses?|needs?|runs?|receives?|is given|with|on)\b|\|+ (?:per|(?:each )?for (?:each|every)|each for (?:the|our)) (?P<noun_>[a-z]{3,})|\|+ each (?!for|of|has|with|and has|serving)")
_TIMES_THINGS = re.compile(rf"\btimes (?P<count>{NUMBER}) (?!(?:hour|day|week|month|year|minute)s)[a-z]{{3,}}s\b")
_ANYONE = r"(?!(?:hour|day|week|month|year|minute|gpu|token|dollar|buck)s)[a-z]{3,}"
_TIME_NOUN = re.compile(r"(?:hour|day|night|week|month|year|second|minute|gpu|chip|card)s?")
_FAMILY = compiled(rf"(?:(?P<count>{NUMBER})\s?[x×]?\s)?(?P<family>[a-z]{{1,5}}\d{{1,2}}[a-z]{{0,4}}(?:-[a-z0-9]{{1,6}})?)(?:s|['’]s)?(?![\w-]|\.\w)")  # fmt: skip
# A larger number is a year or a context, not a number of machines.
MOST_MACHINES = 1_000
_STEP = re.compile(r"\b(?:next|one) (?:instance )?size (?:up|bigger|larger|(?P<down>down|smaller))\b|\bnext (?:bigger|larger|(?P<down_>smaller)) (?:size|one|instance)\b|\bnext size\b")


def completed(text: str, known: Known) -> str:
    """Write short names of instance types in full: "p5en.48", "the baby inf2", a bare family that has one size."""

    def in_full(match: re.Match[str]) -> str:
        family = match["family"] if match["family"] in sizes else match["family"].rstrip("s")
        if match["size"]:
            name = f"{family}.{match['size']}xlarge"
            return name if name in known.types else match.group()
        there = sizes.get(family, ())
        if there and (match["least"] or (len(there) == 1 and few)) and not is_refused(text, match.start()):
            return there[0]
        return match.group()

    sizes = sizes_of(known)
    # If more than two families are named, or one is to be chosen from, each stands for all its sizes.
    bare = {m["family"] for m in _SHORT_NAME.finditer(text) if m["family"] in sizes and not m["size"]}
    few = len(bare) <= 2 and not _CHOOSES.search(text)
    names = _long_names(known.models)
    initials = "".join({name[0] for name in names})
    text = re.sub(rf"(?<![\w.-])[{initials}][a-z]{{5,12}}(?![\w-])", lambda word: _as_spelled(word.group(), names), text)
    return _SHORT_NAME.sub(in_full, text)


@lru_cache(maxsize=256)
def _as_spelled(word: str, names: tuple[str, ...]) -> str:
    return next(iter(get_close_matches(word, names, 1, 0.86)), word)


@lru_cache(maxsize=4)
def _long_names(models: tuple[str, ...]) -> tuple[str, ...]:
    """Names of product lines that are not ordinary words and long enough to be recognised when misspelt."""
    return ("trainium", "inferentia", *sorted(head for head in heads(models) if len(head) > 4 and head not in _ORDINARY))


@lru_cache(maxsize=4)
def sizes_of(known: Known) -> dict[str, tuple[str, ...]]:
    """The instance types of each family, smallest first."""
    found: dict[str, list[str]] = {}
    for name in sorted(known.types, key=lambda name: _largeness(name.partition(".")[2])):
        found.setdefault(name.partition(".")[0], []).append(name)
    return {family: tuple(names) for family, names in found.items()}


def steps_of(text: str) -> int:
    """Return how many sizes up or, if negative, down a question asks for: "the next size up"."""
    match = _STEP.search(text)
    return 0 if not match else -1 if match["down"] or match["down_"] else 1


def _largeness(size: str) -> float:
    if number := re.match(r"\d+", size):
        return float(number.group())
    return 1e3 if size.startswith("metal") else ("nano", "micro", "small", "medium", "large", "xlarge").index(size) / 6


def take_region(reading: Reading) -> None:
    # A letter after a region's code is that of an Availability Zone.
    reading.fill("region", [match.group().rstrip("abcdef") for match in reading.take(_REGION)])


def take_types(reading: Reading) -> None:
    """Fill the instance type and its count."""
    found = reading.take(_TYPE)
    types = [f"{m['family']}.{re.sub(r'xl$', 'xlarge', m['size'])}" for m in found]
    counts = [int(value_of(m["count"])) if m["count"] else None for m in found]
    there = {name: count for name, count in zip(types, counts, strict=True) if name in reading.known.types}
    if there:
        first, *others = there
        reading.slots["instance_type"] = first
        if there[first] is not None:
            reading.slots["instances"] = there[first]
        reading.several["instance_type"] = [{"instance_type": name, "instances": there[name]} for name in others]
    reading.unknown = next((name for name in types if name not in reading.known.types), None)


def take_each(reading: Reading) -> None:
    """Count one machine for each member of a group that has one each."""
    if "instance_type" not in reading.slots and (times := _TIMES_THINGS.search(reading.text)):
        reading.mask(times.start(), times.end())
        reading.fill("of_them", [int(value_of(times["count"]))])
    for match in _EACH_GETS.finditer(reading.text):
        noun = match["own"] or match["noun"] or match["noun_"]
        stem = re.escape(noun.removesuffix("s").removesuffix("y")) if noun else _ANYONE
        counted = re.search(rf"(?<![\w.])(?P<count>{NUMBER})\s(?:[a-z]+\s)?{stem}(?:s|es|ies|ren)\b", reading.text)
        if counted and reading.slots.get("instance_type") and not (noun and _TIME_NOUN.fullmatch(noun)):
            reading.mask(counted.start(), counted.end())
            reading.slots["instances"] = int(value_of(counted["count"])) * reading.slots.get("instances", 1)
            return


def take_families(reading: Reading) -> None:
    """Fill the families that are named: alone, among instance types, or as unwanted."""
    families = frozenset(sizes_of(reading.known))
    found = {m: meant for m in _FAMILY.finditer(reading.text) if (meant := _families_of(m["family"], families))}
    refused: set[str] = set()
    for match, meant in found.items():
        refused |= set(meant) if is_refused(reading.text, match.start()) else set()
        reading.mask(match.start(), match.end())
    counts = [int(value_of(m["count"])) for m in found if m["count"]]
    reading.fill("instances", [count for count in counts if count <= MOST_MACHINES])
    wanted = [name for meant in found.values() for name in sorted(meant) if name not in refused]
    if refused:
        reading.slots["without"] = reading.slots.get("without", frozenset()) | refused
    options = reading.several.get("instance_type", [])
    typed = [reading.slots.get("instance_type", ""), *(str(option["instance_type"]) for option in options)]
    others = [name for name in wanted if typed[0] and not any(type_.startswith(f"{name}.") for type_ in typed)]
    if others and len(others) == len(set(wanted)) <= 4:
        # "p4d, p4de and p5": among instance types, a family means its largest type or, for a model, any that holds it.
        for name in dict.fromkeys(others):
            largest = [size for size in sizes_of(reading.known)[name] if "metal" not in size][-1]
            options = [*options, {"instance_type": largest, "instances": None, "families": frozenset({name})}]
        reading.several["instance_type"] = options
    elif wanted:
        reading.slots["families"] = reading.slots.get("families", frozenset()) | frozenset(wanted)
    reading.unknown = reading.unknown or next((match.group() for match in reading.take(NO_GENERATION)), None)


def _families_of(written: str, families: frozenset[str]) -> frozenset[str]:
    """Return the family of that name or, for the short name of a product line, all its families: "p4" is P4d and P4de."""
    exact = {written, written.rstrip("s")} & families
    if exact or not re.fullmatch(r"(?:g|p|inf|trn|dl)\d", written):
        return frozenset(exact)
    return frozenset(name for name in families if name.startswith(written))
