"""Whether a claim turns the words it cites round: denies what they say, says more where they say less, swaps the names."""

import re
from collections.abc import Collection, Sequence

from chatbot.names import Name, mentioned, names, relatives
from chatbot.polarity import opposed_direction
from chatbot.words import content_words, stem, stems, stems_and_groups, synonyms

_DENIAL = re.compile(
    r"\b(?:not|never|no|cannot|neither|nor|hardly|unlike|rather than|instead of)\b|n['’]t\b", re.IGNORECASE
)
_CLAUSE = re.compile(
    r"[;,:]\s+|(?<=[.!?])\s+|(?<!\s)\s++(?:and|whereas|while|but|or|rather than|instead of|unlike|than|versus|vs\.?)\s+",
    re.IGNORECASE,
)
# "More efficient" and "uses less energy" pull the same way.
_MERIT = re.compile(
    r"\b(?:more|higher|greater|better|increased?)\s+(?:[\w-]+\s+)?(?:[\w-]*efficien\w*|sustainab\w*|[\w-]*effective\w*|affordab\w*|economical\w*|performan\w*|throughput)",
    re.IGNORECASE,
)
_SHARE = 0.5
# What is denied stands so near behind the denial.
_FAR = 200


def turns_round(claim: str, cited: Sequence[str]) -> bool:
    """Whether a claim contradicts the texts it cites although it shares their words."""
    text = " ".join(cited)
    return _denies_otherwise(claim, text) or _pulls_otherwise(claim, text) or _swaps_names(claim, cited)


def _denies_otherwise(claim: str, text: str) -> bool:
    """Whether one denies a word that the other has undenied."""
    here, there = _denied(claim), _denied(text)
    return bool((here - there) & stems(_undenied(text)) or (there - here) & stems(claim) - stems(_undenied(text)))


def _denied(text: str) -> frozenset[str]:
    """The stems of the first content word after each denial."""
    return frozenset(stem(word) for _, word in _denials(text))


def _undenied(text: str) -> str:
    for place, word in reversed(_denials(text)):
        text = text[:place] + re.sub(rf"\b{re.escape(word)}\b", " ", text[place:], count=1, flags=re.IGNORECASE)
    return text


def _denials(text: str) -> list[tuple[int, str]]:
    found = []
    for match in _DENIAL.finditer(text):
        following = content_words(re.split(r"[,.;:](?=\s|$)", text[match.end() : match.end() + _FAR], maxsplit=1)[0])
        # "Inferentia, not Trainium" denies nothing that is said of Trainium elsewhere.
        found += [(match.end(), following[0])] if following and not mentioned(following[0]) else []
    return found


def _pulls_otherwise(claim: str, text: str) -> bool:
    return opposed_direction(_MERIT.sub(" ", claim), _MERIT.sub(" ", text))


def _swaps_names(claim: str, cited: Sequence[str]) -> bool:
    """Whether a clause of the claim says of one thing what its words say of another.

    Judged where a clause names one thing and the words name several: most of what it says must then stand in the clauses
    that name the same thing, or none.
    """
    owners: dict[str, tuple[str, str, bool]] = {}
    for clause in _CLAUSE.split(claim):
        if len(mentioned(clause)) == 1:
            name = next(iter(names(clause)))
            if name.name not in owners:
                kin = {name.name.lower(), *(r.lower() for r in relatives(name.name))}
                owners[name.name] = _by_owner(cited, kin)
            if _is_said_of_another(clause, name, *owners[name.name]):
                return True
    return False


def _is_said_of_another(clause: str, name: Name, own: str, of_others: str, named: bool) -> bool:
    if not of_others or not named:
        return False
    said = [w for w in content_words(clause) if stem(w) not in stems(name.text)]
    return bool(said) and _share(said, own) < _SHARE <= _share(said, of_others)


def _by_owner(cited: Sequence[str], kin: Collection[str]) -> tuple[str, str, bool]:
    """What is said of one thing or of none, what is said of others, and whether the thing is named at all.

    A clause that names nothing goes on with the one before it.
    """
    own: list[str] = []
    others: list[str] = []
    named = False
    for text in cited:
        into = own
        for part in _CLAUSE.split(text):
            there = mentioned(part)
            into = own if there & frozenset(kin) else others if there else into
            named = named or bool(there & frozenset(kin))
            into.append(part)
    return " ".join(own), " ".join(others), named


def _share(said: Sequence[str], text: str) -> float:
    there, groups = stems_and_groups(text)
    return sum(stem(w) in there or bool(synonyms(w) & groups) for w in said) / len(said)
