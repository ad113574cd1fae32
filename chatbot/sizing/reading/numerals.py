"""Numbers as they are written: digits with separators, words, scales and units of memory."""

import re

from chatbot.language.quantities import WORD_NUMBERS
from chatbot.sizing.reading.wording import wording

NUMBERS = {word: float(number) for word, number in WORD_NUMBERS.items() if word.isalpha()}
NUMBERS |= {word: float(number) for number, words in wording()["numbers"].items() for word in words}
NUMBER = rf"(?:\d{{1,15}}(?:[.,]\d{{1,15}}){{0,4}}(?!\d)|(?:{'|'.join(sorted(NUMBERS, key=len, reverse=True))})\b)"
_SCALES = {
    "": 1.0, "k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "millionen": 1e6, "millones": 1e6,
    "b": 1e9, "bn": 1e9, "billion": 1e9, "milliard": 1e9, "milliards": 1e9, "milliarde": 1e9, "milliarden": 1e9, "mrd": 1e9, "mrd.": 1e9,
    "mil millones": 1e9, "t": 1e12, "trillion": 1e12, "billionen": 1e12,
}  # fmt: skip
GB = r"(?P<gb{}>\d{{1,4}}(?:\.\d+)?)\+?[\s-]?(?P<unit{}>gi?bs?|g|gigs?|go(?! )|gigabytes?)(?!\w|/s)"


def number_of(written: str) -> float:
    """The value of a number as written in a turn: "20k", "forty", "75 %"."""
    bare = written.rstrip(" %")
    return value_of(bare.removesuffix("k")) * 1000 if bare[:1].isdigit() and bare.endswith("k") else value_of(bare)


def value_of(written: str) -> float:
    """The value of a number without a scale: "1,000", "1.5", "a dozen", "minus 3"."""
    if written.startswith("minus "):
        return -value_of(written.removeprefix("minus "))
    if written in ("half a", "half an"):
        return 0.5
    if written in NUMBERS:
        return NUMBERS[written]
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d{3}){2,}|[1-9]\d{0,2}\.000", written):
        return float(written.replace(",", "") if "," in written else written.replace(".", ""))
    whole, _, part = written.replace(",", ".").partition(".")
    return float(f"{whole}.{part.replace('.', '') or 0}")


def scaled(match: re.Match[str], which: str = "") -> float:
    """The value of a match's number with its scale: "20k", "1.5 billion"."""
    number, scale = match[f"number{which}"], match[f"scale{which}"] or ""
    # "60.000 millones": in languages with this plural, a point separates thousands.
    return value_of(number.replace(".", "") if scale == "millones" else number) * _SCALES[scale]


def compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern that does not begin inside a word or a number."""
    return re.compile(rf"(?<![\w.]){pattern}")


def gigabytes(number: str, unit: str) -> float:
    """An amount of memory in GB, as written in GB or GiB."""
    return float(number) * (2**30 / 1e9 if unit.startswith("gib") else 1.0)
