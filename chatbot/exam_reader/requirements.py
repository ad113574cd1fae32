"""What a workload requires of compute, and what evidence recommends something for.

Both are poles of a few dimensions, such as a steady or a variable load.
"""

import re
import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources

Pole = tuple[str, str]

# Words of refusal: what follows them, in a sentence or in the cells of a column, is what something is not for.
_AGAINST = re.compile(
    r"\b(?:(?:not|never|hardly) (?:be )?(?:suit\w*|for|meant|intended|used|recommended|a good fit|needed|fit)|unsuitable|(?:wrong|poor|bad) choice|advises? against|warns? against"
    r"|(?:do|should|must|can)(?: not|not|n't) (?:be )?(?:use|used|buy|bought|suit|choose)\b|avoid\w*(?: for)?|cannot bear|less suited|alternatives? (?:loses?|fails?|(?:is|are) worse)|do(?:es)? not (?!need|require|stop|end))\b:?",
    re.IGNORECASE,
)

# Reasons and contrasts speak of other things.
_REASON = re.compile(
    r",? (?:because|since|whereas|while|although|unlike|instead of|rather than|compared with) [^;.|]*", re.IGNORECASE
)
_END = re.compile(r"[;:.](?:\s|$)|,? (?:but|so|when)\b|, and ")


@dataclass(frozen=True, slots=True)
class Stance:
    """What a text speaks for and what it speaks against: "not suitable for stateful work" is against stateful work."""

    in_favour: frozenset[Pole]
    against: frozenset[Pole]


@lru_cache(maxsize=8_192)
def poles(text: str) -> frozenset[Pole]:
    """Return the poles that a text names, perhaps several of one dimension."""
    lowered = text.lower()
    return frozenset(pole for pole, pattern in _patterns().items() if pattern.search(lowered))


@lru_cache(maxsize=8_192)
def stance(text: str) -> Stance:
    """Return the poles that a text speaks for, and those after a word of refusal; reasons and contrasts are left out."""
    said = _REASON.sub(" … ", text)
    found = _AGAINST.search(said)
    if found is None:
        return Stance(poles(said), frozenset())
    end = _END.search(said, found.end())
    stop = end.start() if end else len(said)
    refused = poles(said[found.start() : stop])
    return Stance(poles(said[: found.start()] + " … " + said[stop:]) - refused, refused)


def opposed(pole: Pole, others: frozenset[Pole]) -> bool:
    """Whether `others` has a pole of the same dimension, but not this one."""
    return pole not in others and any(dimension == pole[0] for dimension, _ in others)


@cache
def _patterns() -> dict[Pole, re.Pattern[str]]:
    table = tomllib.loads(
        resources.files("chatbot.exam_reader").joinpath("requirements.toml").read_text(encoding="utf-8")
    )
    return {
        (dimension, pole): re.compile(rf"(?<![\w-])(?:{'|'.join(written)})(?![\w])")
        for dimension, entry in table.items()
        for pole, written in entry.items()
    }
