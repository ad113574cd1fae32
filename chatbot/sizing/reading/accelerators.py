"""Read accelerators: their names, makers, numbers and memory, wanted and unwanted."""

import re
from collections.abc import Mapping
from typing import Any

from chatbot.language.vendors import refused_makers
from chatbot.sizing.facts import short
from chatbot.sizing.reading.numerals import GB, NUMBER, compiled, gigabytes, value_of
from chatbot.sizing.reading.text import Reading
from chatbot.sizing.reading.wording import lines

_MAKER = r"(?:nvidia |aws |amd |habana |intel )?"
_KIND = r"(?:[\s-](?:tensor core )?(?:gpus?|accelerators?|chips?|cards?))?"
# "A g6.12xlarge or one L40S": another option, not the accelerator of the first.
_OPTION = re.compile(r"\b(?:or|vs\.?|versus|against|oder|ou)\b[^,.;?|\d]{0,20}$")
# Product lines whose name alone means every generation.
_LINES_ALONE = frozenset({"trainium", "inferentia"})
_REFUSING = re.compile(
    r"(?:\b(?:hors|sauf|excepté|außer|excluding|excludes?|skip(?:ping)?|salvo|excepto|spare me|barring|minus|no|(?<!why )not|without|avoid(?:ing)?|except|other than|instead of|non|rather than|anything but|kein\w*|ohne|sin|sans)\b[\s-]?(?:(?:an?|any|using|on|the|use|from|old|older|ancient|legacy|more|those|these|such|fancy|les?|la|die|der)\s)*(?:\|+ (?:or|nor|and|et|und|oder|,) )*)$"
)
_OF_A_LINE = compiled(rf"(?P<count>{NUMBER})\s(?:of (?:the|our|those|these) )?(?:[a-z]+ )?$")
# A generation of a product line that no table has; known ones are masked by now.
NO_GENERATION = compiled(r"(?:trainium|inferentia|gaudi)[ -]?(?:v|gen(?:eration)? )?\d(?![\w.%]| ?(?:x\b|chips|of|gb|hours|days|years|months)\b)")
# This is not masked, because a question may ask for the power of idle hardware.
_IDLE = re.compile(
    r"\b(?:idle(?= (?:nvidia |aws )?(?:[a-z]{1,8}\d|(?:gpus?|cards?|chips?|accelerators?|instances?|machines?|servers?)\b(?! (?:power|draw|watts))))"
    r"|(?:sit|stand|stay|is|are|be|being|left|remain)(?:s|ing)? (?:\w+ )?idle\b|idling\b|(?:doing|do|does) nothing\b)"
)
_MEMORY = compiled(
    rf"(?:(?P<count>{NUMBER})(?:\s?[x×]\s?|\s))?(?P<with>(?:(?:(?:gpus?|cards?|each)(?: one)? )?(?:with|w/|of|having|mit|con|avec|com|met|à|a)|each|on|in|into|within|have|has|got|auf|in) (?:only |an? |my |our |one |the |at least )?)?(?P<least>(?:at least|no less than|an? minimum of|minimum|mindestens|au moins|al menos|almeno|over|more than|>=|≥|>)\s?)?{GB.format('', '')}(?P<of>(?: of)? (?:v?ram|gpu memory|hbm)| each| apiece| (?:per|por|pro|par) (?:gpu|card|karte))?(?P<kind>(?: |-)(?:nvidia )?(?:gpus?|cards?|accelerators?|karten?|one)|(?= or (?:an? |the |only |just )*\d+ ?gi?b (?:gpu|card)))?"
)
_NODES = compiled(rf"(?<!rtx )(?P<count>{NUMBER})\s?[x×]?\s?(?:nodes?(?! groups?| pools?)|instances?|machines?|servers?|box(?:es)?|(?P<them>of (?:them|those|these|the (?:dearer|cheaper|pricier|more expensive|less expensive|costlier|former|latter|winner|second|other)\b)|such(?! (?:hour|day|week|month))|(?:would|should|will|is|are) (?:be )?(?:enough|sufficient|do\b)))(?!\w)")
_COUNTED = compiled(rf"(?P<more>more than )?(?P<count>{NUMBER})(?: or more|\+)?(?:\s?[x×]?\s?|-)(?:\|+\s|[a-z]+ed\s)?(?:gpus?|cards?|accelerators?|chips?|ranks?|devices?|workers?)(?!\w|[\s-]?hours?\b)")
# A size that ends a short follow-up: "sorry, the 12xlarge".
_BARE_SIZE = compiled(r"(?P<size>nano|micro|\d{1,3}xl(?:arge)?|xlarge|metal)(?![\w-])")
_NEEDED = re.compile(r"\s?(?:of |for |in )?(?:the )?(?:kv|k/v|overhead|context|cache|activations?)\b")


def take_accelerators(reading: Reading) -> None:
    """Fill accelerators that are named, each with its number and memory, and those that are not wanted."""
    names = tuple(dict.fromkeys(map(short, reading.known.accelerators)))
    written = "|".join(sorted((_as_written(name) for name in names), key=len, reverse=True)) or r"(?!)"
    pattern = compiled(
        rf"(?<![a-z]\d-)(?:(?P<count>{NUMBER})(?!\d)(?: or more|\+)?(?:\s?[x×*]|-(?=[a-z]))?\s?(?:of )?(?:(?:idle|idling|unused|spare|busy|loaded|fully loaded|new|more|extra|dedicated|identical)\s)?)?(?:{GB.format(1, 1)} )?{_MAKER}(?P<name>{written})(?:['’]?s)?(?:[\s-](?:sxm\d?|pcie))?{_KIND}(?:[\s-](?:de |da |di |van |von )?{GB.format(2, 2)}|(?:-(?=(?:40|80)(?!\w|[.,]\d))|[- ](?=(?:40|80)s(?!\w)))(?P<gb3>40|80)s?)?(?:\s?[x×]\s?(?P<times>\d{{1,4}})(?!\s?(?:h|d|hours?|days?|weeks?|months?)\b))?(?P<hours>[\s-]hours?)?(?!\w)"
    )
    matches = [m for m in pattern.finditer(reading.text) if m["count"] or _folded(m["name"]) not in _LINES_ALONE]
    by_folded = {_folded(name): name for name in names}
    for match in matches:
        reading.mask(match.start(), match.end())
    if any(m["hours"] and m["count"] for m in matches):
        reading.slots["hours"] = 1.0  # "100 H100-hours" are 100 of them for an hour
    options = [m for m in matches if "instance_type" in reading.slots and _OPTION.search(reading.text[: m.start()])]
    further = ({"instance_type": None, "instances": None, **_accelerator(m, by_folded)} for m in options)
    reading.several["instance_type"] = [*reading.several.get("instance_type", []), *further]
    unwanted = [m for m in matches if is_refused(reading.text, m.start())]
    if unwanted:
        reading.slots["without"] = frozenset(by_folded[_folded(m["name"])] for m in unwanted)
    wanted = [_accelerator(m, by_folded) for m in matches if m not in options and m not in unwanted]
    if wanted:
        first = wanted[0]
        reading.slots.update({slot: value for slot, value in first.items() if value is not None})
        repeated = (first, {**first, "accelerators": None, "accelerator_memory_gb": None})
        reading.several["accelerator"] = [other for other in wanted[1:] if other not in repeated]


def _accelerator(match: re.Match[str], names: Mapping[str, str]) -> dict[str, Any]:
    count = match["count"] or match["times"]
    units = {"gb1": match["unit1"], "gb2": match["unit2"], "gb3": "gb"}
    memory = next((gigabytes(match[name], unit) for name, unit in units.items() if match[name]), None)
    return {
        "accelerator": names[_folded(match["name"])],
        "accelerators": int(value_of(count)) if count else None,
        "accelerator_memory_gb": memory,
    }


def _as_written(name: str) -> str:
    pieces = re.findall(r"[a-z]+|\d+", name.lower())
    pattern = r"[\s-]?".join(pieces) if " " in name else "-?".join(pieces)
    special = {"a10g": "a10g?", "rtxproserver6000": r"rtx[\s-]?pro[\s-]?(?:server[\s-]?)?6000"}
    return special.get("".join(pieces), pattern)


def _folded(written: str) -> str:
    folded = re.sub(r"[^a-z0-9]", "", written.lower())
    return {"a10": "a10g", "rtxpro6000": "rtxproserver6000"}.get(folded, folded)


def is_refused(text: str, start: int) -> bool:
    """Whether the text before this position says that what follows is unwanted."""
    return bool(_REFUSING.search(text[max(0, start - 40) : start]))


def take_lines(reading: Reading) -> None:
    """Fill the makers and product lines of accelerators, wanted and unwanted."""
    if _IDLE.search(reading.question):
        reading.fill("load", [0.0])
    wanted: dict[str, set[str]] = {"vendors": set(), "families": set()}
    makers = {"nvidia": "NVIDIA", "amd": "AMD", "intel": "Intel"}
    without = {makers[maker] for maker in refused_makers(reading.question) if maker in makers}
    for pattern, means in lines():
        for match in list(pattern.finditer(reading.text)):
            before = reading.text[max(0, match.start() - 40) : match.start()]
            refused = is_refused(reading.text, match.start())
            if not match.group()[-1].isdigit() and NO_GENERATION.match(reading.text, match.start()):
                continue
            if match.group().startswith("gpu") and not (refused or re.search(r"only\s$", before)):
                continue
            if "instance_type" in reading.slots and (several := _OF_A_LINE.search(before)):
                reading.slots.setdefault("instances", int(value_of(several["count"])))  # "4 of the smallest Trainium (trn1.2xlarge)"
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


def take_memory(reading: Reading) -> None:
    """Fill accelerators without a name: "a 24 GB GPU", "two GPUs".

    Memory that a model needs ("26 GB of weights") is skipped.
    """
    sizes: list[float] = []
    for match in reading.take(_MEMORY):
        named = match["with"] or match["of"] or match["kind"] is not None or match["count"]
        named = named or (match["least"] and not reading.slots.keys() & {"model", "parameters"})
        if named and "instance_type" not in reading.slots and not _NEEDED.match(reading.question, match.end()):
            sizes += [gigabytes(match["gb"], match["unit"])] if match["kind"] is not None or not sizes else []
            reading.fill("accelerators", [int(value_of(match["count"]))] if match["count"] else [])
    reading.fill("accelerator_memory_gb", sizes[:1] if "accelerators" in reading.slots else sizes)
    counts = [int(value_of(m["count"])) + bool(m["more"]) for m in reading.take(_COUNTED)]
    # "We have 0 GPUs today" says nothing about the machine that is asked about.
    reading.fill("accelerators", [count for count in counts if count])
    for match in reading.take(_NODES):
        reading.fill("of_them" if match["them"] else "instances", [int(value_of(match["count"]))])
    if len(reading.text.split()) <= 7:
        reading.fill("size", [re.sub(r"xl$", "xlarge", match["size"]) for match in reading.take(_BARE_SIZE)])
