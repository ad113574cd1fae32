"""What a workload asks of compute, and what evidence says something is for: poles of a few dimensions."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources

Pole = tuple[str, str]

# Words that refuse: what stands behind them is what something is not for, be it in a sentence or in the cells of a column.
_AGAINST = re.compile(
    r"\b(?:(?:not|never|hardly) (?:be )?(?:suit\w*|for|meant|intended|used|recommended|a good fit|needed|fit)|unsuitable|(?:wrong|poor|bad) choice|advises? against|warns? against"
    r"|(?:do|should|must|can)(?: not|not|n't) (?:be )?(?:use|used|buy|bought|suit|choose)\b|avoid\w*(?: for)?|cannot bear|less suited|alternatives? (?:loses?|fails?|(?:is|are) worse)|do(?:es)? not (?!need|require|stop|end))\b:?",
    re.IGNORECASE,
)

# Reasons, and what something is set against, speak of other things.
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
    """The poles that a text names; of the poles of a dimension it may name several."""
    lowered = text.lower()
    return frozenset(pole for pole, pattern in _patterns().items() if pattern.search(lowered))


@lru_cache(maxsize=8_192)
def stance(text: str) -> Stance:
    """The poles that a text speaks for, and those behind a word of refusal; reasons and what it is set against are left out."""
    said = _REASON.sub(" … ", text)
    found = _AGAINST.search(said)
    if found is None:
        return Stance(poles(said), frozenset())
    end = _END.search(said, found.end())
    stop = end.start() if end else len(said)
    refused = poles(said[found.start() : stop])
    return Stance(poles(said[: found.start()] + " … " + said[stop:]) - refused, refused)


def opposed(pole: Pole, others: frozenset[Pole]) -> bool:
    """Whether others name the pole's dimension, but not the pole."""
    return pole not in others and any(dimension == pole[0] for dimension, _ in others)


@cache
def _patterns() -> dict[Pole, re.Pattern[str]]:
    table = tomllib.loads(
        resources.files("chatbot.examination").joinpath("requirements.toml").read_text(encoding="utf-8")
    )
    return {
        (dimension, pole): re.compile(rf"(?<![\w-])(?:{'|'.join(written)})(?![\w])")
        for dimension, entry in table.items()
        for pole, written in entry.items()
    }
