"""Conditions relative to another row: "the same GPU as p4d.24xlarge, but more GPU memory"."""

import re
from dataclasses import dataclass

from chatbot.table.bounds import Reading, take_columns
from chatbot.table.columns import WORDS, Column

_COLUMN = "|".join(words for _, words in WORDS)
_WHAT = rf"(?:the |its |their )?(?:total |combined )?(?:(?:number|count|amount) of )?(?:{_COLUMN})(?!\w)"
_SAME = (
    r"(?:(?:exactly |just )?the (?:very )?same|(?:an )?identical|(?:an )?equal|as (?:many|much)|no change (?:of|in))"
)
# "the same GPU model, the same vCPUs and network"
_KEPT = rf"\b{_SAME} (?:{_WHAT})(?:,? (?:and |or )?(?:{_SAME} )?(?:{_WHAT}))*"
# "no more vCPUs" does not ask for more of them.
_NOT = r"(?<!\bno )(?<!\bnot )(?<!\bwithout )(?<!\bany )"
_ABOVE = rf"{_NOT}\b(?:more|higher|larger|bigger|greater|faster) (?:{_WHAT})"
_BELOW = rf"{_NOT}\b(?:less|lower|smaller|fewer|slower) (?:{_WHAT})"
_COUNTED = re.compile(r"\b(?:number|count) of\b|\bas many\b|\bcount\b")


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is wanted of rows, relative to the row of the type `other`: the same, more or less of some columns.

    "accelerators" in `same` means which accelerator or, with `counted`, how many.
    """

    other: str
    same: tuple[Column, ...] = ()
    above: tuple[Column, ...] = ()
    below: tuple[Column, ...] = ()
    counted: bool = False

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns that are compared."""
        return tuple(dict.fromkeys((*self.above, *self.below, *self.same)))


def take_comparison(reading: Reading, other: str) -> Comparison | None:
    """Take the comparison with a type out of a text; None if there is none."""
    said = [" | ".join(match.group() for match in reading.take(p)) for p in (_BELOW, _ABOVE, _KEPT)]
    below, above, same = (take_columns(Reading(phrases)) for phrases in said)
    found = Comparison(other, same, above, below, counted=bool(_COUNTED.search(said[-1])))
    return found if found.columns else None
