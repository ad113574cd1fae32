"""What a question claims about the cells of rows, and whether they bear it out."""

import re
from collections.abc import Sequence

from chatbot.language.quantities import WORD_NUMBERS, quantities

WHETHER = re.compile(
    r"^\W*(?:(?:so|and|but|hm+|hey|hi|ok)\W+)*(?:is|are|does|do|did|has|have|can|was|isn['’]?t|aren['’]?t|doesn['’]?t|hat|ist|a-t-il|est-ce|tiene|ha)\b"
    r"|\b(?:right|correct|true|false|really|wrong|sure|confirm|agree|(?:is|does|has|do|are)n['’]?t (?:it|that|they)|is (?:it|that) not|is it|am i|stimmt|richtig|oder|vrai|exact|n['’]est-ce pas|verdad|cierto|correcto|vero|giusto|certo|innit|ne|yes|no)\W*(?:[?.!]|$)"
    r"|\b(?:whether|really (?:has|have|use|uses|a|an|only)|stimmt|true that|es cierto|è vero|est-ce que|is (?:it|that) (?:true|right|correct))\b|(?:ですか|ますか|吗|嗎|对吗)"
)
_WHICH = re.compile(r"\b(?:how (?:many|much|big|large|deep|long|wide)|what(?:['’]s| is| are)?|which|wie ?viele?|combien|cu[aá]nt[ao]s?|quant[io]|quel(?:le)?s?)\b|何|几|多少|いくつ|いくら|どの|どれ")
_NUMBER = re.compile(r"(?<![\w.,])(\d[\d,]*(?:\.\d+)?)\s?(k|m|b|t|million|billion|trillion|kw|tb)?(?![\w.]*\d)", re.IGNORECASE)
_SCALES = {"k": (1e3, 1024.0), "m": (1e6, 2.0**20), "million": (1e6,), "b": (1e9,), "billion": (1e9,), "t": (1e12,), "trillion": (1e12,), "kw": (1e3,), "tb": (1e3, 1024.0)}
_SCALED = {"B": 1e9, "T": 1e12, "M": 1e6}
_LIMIT = re.compile(r"\b(?:(?P<under>under|below|less than|fewer than|at most|no more than|within|unter|moins de|menos de|meno di|beneath)|(?:over|above|more than|at least|beyond|exceeds?|über|plus de|más de|più di|north of))\b")
# Limits that the number itself keeps.
_REACHED = ("at most", "no more than", "within", "at least")
# A comparison with another row or turn: the row alone gives neither yes nor no.
_AS_ANOTHER = re.compile(r"\b(?:same|equal|identical|different)\b", re.IGNORECASE)


def verdict_on(question: str, rest: str, cells: Sequence[str]) -> str:
    """The verdict on what a question claims about cells ("Yes" or "No"); empty if it only asks."""
    if not WHETHER.search(question) or _AS_ANOTHER.search(question):
        return ""
    limit, claims, asks = _LIMIT.search(question), claims_of(rest), bool(_WHICH.search(question))
    if limit and len(claims) == 1 and len(cells) == 1 and (read := _read(cells[0])):
        value, claimed = read[-1] if len(claims[0]) > 1 else read[0], max(claims[0])
        # In one unit, if both have one: 1T parameters are more than 900 billion.
        in_units = {q.dimension: q.low for q in quantities(cells[0])} | {"parameters": read[-1]}
        same = (q for q in quantities(question[limit.start() :]) if q.dimension != "count" and q.dimension in in_units)
        value, claimed = next(((in_units[q.dimension], q.low or q.high) for q in same), (value, claimed))
        holds = limit.group() in _REACHED if value == claimed else (value < claimed) == bool(limit["under"])
        return "" if asks else "Yes" if holds else "No"
    if claims:
        right = all(is_claimed(cell, claims) for cell in cells)
        if " or " in question or (right and asks):
            return ""
        return "Yes" if right else "No"
    return "" if asks else "No" if all(cell == "no" for cell in cells) else "Yes"


def claims_of(text: str) -> list[tuple[float, ...]]:
    """The numbers of a text, each with its possible values: 128k is 128,000 or 131,072."""
    text = re.sub(r"\b[a-zäöüß]+\b", lambda word: str(WORD_NUMBERS.get(word.group(), word.group())), text)
    found = ((float(m[1].replace(",", "").rstrip(".") or 0), (m[2] or "").lower()) for m in _NUMBER.finditer(text))
    return [(number, *(number * scale for scale in _SCALES.get(unit, ()))) for number, unit in found]


def is_claimed(cell: str, claims: Sequence[Sequence[float]]) -> bool:
    return any(abs(value - claim) <= 0.012 * value for meanings in claims for claim in meanings for value in _read(cell))


def _read(cell: str) -> tuple[float, ...]:
    """The first number of a cell, as written and with its scale; empty if it has none."""
    match = re.search(r"\d[\d,]*(?:\.\d+)?", cell)
    if not match:
        return ()
    number = float(match.group().replace(",", ""))
    return (number, number * _SCALED.get(cell[match.end() : match.end() + 1], 1.0))
