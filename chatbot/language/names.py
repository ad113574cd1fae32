"""Find names in a text: hardware, instance types, makers, tasks on a model, and whatever else is written like a name."""

import re
from bisect import bisect_right
from calendar import day_name, month_name
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate

from chatbot.language.words import entries_in, vocabulary

_INSTANCE = re.compile(
    r"\b([a-z]{1,5}\d{1,2}[a-z]{0,4}(?:-[a-z0-9]{1,6})?)\s?\.\s?(nano|micro|small|medium|(?:\d{1,3})?xl(?:arge)?|large|metal(?:-\d+xl)?)\b",
    re.IGNORECASE,
)
_CODE = re.compile(r"\b[A-Za-z][A-Za-z-]{0,11}\d[\w.-]*\b")
# "GPT3" is GPT-3.
_JOINED = re.compile(r"^((?!HPC|TRN|INF)[A-Z]{3,}|gpt)(\d+)$")
_REGION = re.compile(r"\b(?:us|eu|ap|sa|ca|me|af|il|cn|mx)-(?:gov-)?[a-z]+-\d\b", re.IGNORECASE)
_PROPER = re.compile(r"\b[A-Z][a-zA-Z]{2,}(?:[A-Z][a-z]+)*\b(?!-(?:style|like|based|class|type|compatible)\b)")
# Matches right before the first word of a sentence. Only the last _OPENING characters are searched.
_SENTENCE_BEFORE = re.compile(r"(?:^|[.?!:\n])[ \"'“‘(]*\Z")
_OPENING = 40
_OF_CALENDAR = frozenset([*day_name, *month_name])
# Codes that look like part numbers but are not: number formats, exam codes, quarters, percentiles, services and gases.
_FORMAT = re.compile(
    r"^(?:[a-z]{3}-c\d\d|ec2|s3|q[1-4]|h[12]|fy\d+|p(?:50|9\d+)|x\d+|k?g?co2e?|k8s|h2o|efav\d|hbm\d\w?|ddr\d|pcie\d|gen\d|ipv\d|sha\d+|mp\d)$|^(?:fp|bf|int|tf|uint|fp8e)\d+\w*$|^(?:int|uint)\d+$|^\d",
    re.IGNORECASE,
)

# "a 100 GB disk" has an article. "a 100" means the A100 only at the end or before punctuation or words like "GPU" or "vs".
_ARTICLE = re.compile(
    r"a\s+100(?!\s*(?:$|[?.,;:!)]|(?:gpu|card|chip|accelerator|and|or|vs|versus|is|has|with)\b))", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Name:
    """A thing that a text names. `known` means that the vocabulary has it. `text` is the name as written."""

    name: str
    kind: str
    known: bool
    text: str
    start: int


@lru_cache(maxsize=8_192)
def names(text: str) -> tuple[Name, ...]:
    """Return the hardware and other code-like names in a text, in order, without repeats; no makers and no proper names."""
    found = sorted(_overlapping(text), key=lambda name: (name.start, -len(name.text)))
    kept: dict[str, Name] = {}
    end = 0
    for name in found:
        if name.start >= end:
            kept.setdefault(name.name.lower(), name)
            end = name.start + len(name.text)
    return tuple(kept.values())


def _overlapping(text: str) -> list[Name]:
    found = [Name(_instance(m), "instance", True, m.group(), m.start()) for m in _INSTANCE.finditer(text)]
    found += [Name(m.group().lower(), "region", False, m.group(), m.start()) for m in _REGION.finditer(text)]
    for match in _aliases().finditer(text):
        if _ARTICLE.match(text, match.start()):
            continue
        name = _names_by_alias()[_folded(match["alias"])]
        generation = match["generation"]
        if generation:
            # "Trn" alone means Trn1, so for "Trn3" the digits of that name are dropped first.
            line = name if match["alias"][-1].isdigit() else name.rstrip("0123456789")
            found.append(Name(line + generation, "hardware", False, match.group(), match.start()))
        else:
            found.append(Name(name, "hardware", True, match["alias"], match.start()))
    found += [Name(m.group(), "code", False, m.group(), m.start()) for m in _products().finditer(text)]
    taken = sorted((n.start, n.start + len(n.text)) for n in found)
    reached = list(accumulate((end for _, end in taken), max))
    for match in _CODE.finditer(text):
        before = bisect_right(taken, match.start(), key=lambda span: span[0])
        if not _FORMAT.match(match.group()) and not (before and match.start() < reached[before - 1]):
            code = _JOINED.sub(lambda m: f"{m[1].upper()}-{m[2]}", match.group().rstrip(".-"))
            found.append(Name(code, "code", False, match.group(), match.start()))
    return found


def _instance(match: re.Match[str]) -> str:
    return f"{match[1]}.{re.sub(r'xl$', 'xlarge', match[2].lower())}".lower()


@cache
def _aliases() -> re.Pattern[str]:
    aliases = {alias for entry in vocabulary()["hardware"] for alias in entry["aliases"]}
    written = sorted(
        (re.sub(r"(?:\\[\s-])+", r"[\\s-]?", re.escape(alias)) for alias in aliases), key=len, reverse=True
    )
    written = [re.sub(r"series$", "(?:series|family|line|class)", pattern) for pattern in written]
    unit = r"(?:times|x|%|chips?|years?|hours?|weeks?|gpus?|instances?|units?|-)"
    return re.compile(
        rf"(?<![\w.])(?P<alias>{'|'.join(written)})(?:\s?(?P<generation>\d)(?![\w.%])(?!\s*{unit}\b))?(?:['’]?s)?(?![\w]|\.\d)",
        re.IGNORECASE,
    )


@cache
def _products() -> re.Pattern[str]:
    """Match a product line with a number ("RTX 5090"). A known name at the same place is at least as long, and wins."""
    return re.compile(rf"\b(?:{'|'.join(vocabulary()['product_lines'])})[\s-]\d{{3,4}}\w{{0,3}}\b", re.IGNORECASE)


@cache
def _names_by_alias() -> dict[str, str]:
    return {_folded(alias): entry["name"] for entry in vocabulary()["hardware"] for alias in entry["aliases"]}


def _folded(alias: str) -> str:
    return re.sub(r"(?:family|line|class)$", "series", re.sub(r"[\s-]+", "", alias.lower()))


@lru_cache(maxsize=4_096)
def relatives(name: str) -> frozenset[str]:
    """Return names that share some of its properties: the chip in an instance family, the family of an instance type."""
    related: set[str] = set()
    base = name
    if "." in name:
        family = name.split(".")[0]
        base = next((e["name"] for e in vocabulary()["hardware"] if family in e["aliases"]), family)
        related.add(base)
    for entry in vocabulary()["hardware"]:
        if entry["name"] == base and "part" in entry:
            related |= {entry["part"], *(_part_of(entry["part"]))}
        if entry.get("part") == base:
            related.add(entry["name"])
    related |= {e["name"] for e in vocabulary()["hardware"] if e.get("part") in related and e["name"].startswith(base)}
    return frozenset(related - {name})


def _part_of(name: str) -> list[str]:
    return [e["part"] for e in vocabulary()["hardware"] if e["name"] == name and "part" in e]


@lru_cache(maxsize=4_096)
def maker(name: str) -> str | None:
    """Return the maker of a piece of hardware, or None if the vocabulary does not know it."""
    base = name.split(".")[0].lower()
    for entry in vocabulary()["hardware"]:
        if entry["name"] == name or base in entry["aliases"]:
            return str(entry["maker"]) or None
    return None


def makers(text: str) -> tuple[str, ...]:
    """Return the makers and clouds that a text names, in the vocabulary's order."""
    return entries_in("makers", text)


# A model that is already trained is there to be served: training is not the task.
_ALREADY_TRAINED = re.compile(
    r"\b(?:(?:has|have|had|already|been|is|was|were|our|their|a|an|the)\s+)(?:already\s+|been\s+)?(?:pre-?)?trained\b", re.IGNORECASE
)


def tasks(text: str) -> frozenset[str]:
    """Return what a text says is done with a model: pre-training, fine-tuning, training, inference."""
    return frozenset(entries_in("tasks", _ALREADY_TRAINED.sub(" ", text)))


@lru_cache(maxsize=16_384)
def mentioned(text: str) -> frozenset[str]:
    """Return the names that a text mentions, in lower case for comparison."""
    return frozenset(name.name.lower() for name in names(text))


@lru_cache(maxsize=8_192)
def proper_names(text: str) -> tuple[str, ...]:
    """Return capitalised words that may be unknown names.

    A word that begins a sentence counts only with a capital inside ("NVLink"). A text all in capitals has no such names.
    """
    if text.isupper():
        return ()
    found = []
    for match in _PROPER.finditer(text):
        begins = _SENTENCE_BEFORE.search(text, max(0, match.start() - _OPENING), match.start())
        inside = any(c.isupper() for c in match.group()[1:]) and not match.group().isupper()
        if (not begins or inside) and match.group() not in _OF_CALENDAR:
            found.append(match.group())
    return tuple(dict.fromkeys(found))
