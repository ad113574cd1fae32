"""How close a claim stays to the words it cites, for readers that write in words of their own."""

import re

from chatbot.evidence import Unit
from chatbot.names import Name, mentioned, names, proper_names, relatives
from chatbot.words import STOP_WORDS, content_words, stem, stems, stems_and_groups, synonyms, words

# Of a claim's words, names apart, so many must stand in the words it cites, and so many there or in the headings above.
_IN_THE_WORDS, _IN_PLACE = 0.6, 0.8
# Articles, auxiliaries and such of neighbouring languages; the English ones are stop words already.
_FOREIGN = """
aus bei das dem den der des die ein eine einen einer ist für hat im mit nicht sich sind und von war wird zu zum zur
au aux ce ces dans du elle en est et il la le les par pas plus pour qui que son sont sur un une
con del el es esta este los las lo más no para por se ser sus una y
"""
_SMALL_WORDS = frozenset(_FOREIGN.split())
# Where a sentence begins any word is a capital; before one of these it is a name or the thing spoken of.
_SUBJECT = re.compile(
    r"\s*([A-Z]\w+) (?:is|are|was|were|has|have|had|can|does|do|did|will|needs?|draws?|costs?|uses?|offers?|gives?|trains?|serves?|supports?|beats?)\b"
)
_ABSOLUTE = re.compile(
    r"\b(?:most|least|best|worst|only|always|never|all|every|none|nobody|\w{2,}est|guarante\w+"
    r"|(?:hundred|thousand|million|billion|trillion|dozen)s?|twice|doubled?|doubles|tripled?|triples|half|halves|zero)\b",
    re.IGNORECASE,
)
_NO_SUPERLATIVES = {"interest", "request", "test", "latest", "west", "rest", "invest", "suggest", "digest", "manifest"}


def stays_close(claim: str, unit: Unit) -> bool:
    """Whether a claim says little that the words it cites do not say.

    What it is about (the names) may stand above them; what it says of that must stand in them. Names, superlatives and
    number words of its own it may not bring at all.
    """
    place = " | ".join((*unit.above, unit.chunk.document.title, unit.plain))
    said = _said(claim)
    return (
        bool(said or names(claim))
        and _share(said, unit.plain) >= _IN_THE_WORDS
        and _share(said, place) >= _IN_PLACE
        and not _absolutes(claim) - stems(place) - _absolutes(place)
        and all(_stands(name, place) for name in (*proper_names(claim), *_subject(claim)))
        and all(_is_about(name, unit) for name in names(claim))
    )


def _said(claim: str) -> list[str]:
    """The words of a claim that carry what it says: none of its names."""
    named = {word for name in names(claim) for word in words(name.text)}
    return [w for w in content_words(claim) if w not in named and w not in _SMALL_WORDS]


def _is_about(name: Name, unit: Unit) -> bool:
    """Whether words speak of a thing: by its name or a relative's, or by standing below it and naming nothing else.

    "Eight H200 at 700 W" is not about the L4, whatever the title of the page lists.
    """
    kin = {name.name.lower(), *(relative.lower() for relative in relatives(name.name))}
    if mentioned(unit.plain) & kin or name.text.lower() in unit.plain.lower():
        return True
    nearest = next((mentioned(above) for above in reversed(unit.above) if mentioned(above)), frozenset())
    return bool(nearest & kin) and (not mentioned(unit.plain) or nearest <= kin)


def _share(said: list[str], text: str) -> float:
    if not said:
        return 1.0
    there, groups = stems_and_groups(text)
    # A number that stands there ties a claim down more than a verb does: in "**L40S:** 350 W" there is no verb.
    weights = {w: 2 if any(c.isdigit() for c in w) else 1 for w in said}
    met = sum(weight for w, weight in weights.items() if stem(w) in there or synonyms(w) & groups)
    return met / sum(weights.values())


def _subject(claim: str) -> tuple[str, ...]:
    match = _SUBJECT.match(claim)
    return (match[1],) if match else ()


def _absolutes(text: str) -> frozenset[str]:
    """The stems of the superlatives and universal words of a text."""
    found = {match.group().lower() for match in _ABSOLUTE.finditer(text)} - _NO_SUPERLATIVES
    return frozenset(stem(word) for word in found)


def _stands(name: str, text: str) -> bool:
    """Whether a proper name is one of a text's words, or a plain word that was capitalised."""
    lowered = name.lower()
    return lowered in STOP_WORDS or stem(lowered) in {stem(w) for w in words(text)} or bool(synonyms(lowered))
