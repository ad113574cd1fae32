"""What all the evidence on an option says together: for and against what is asked, and who has the most of it."""

import re
from collections.abc import Sequence

from chatbot.evidence import Unit
from chatbot.examination.agreement import stance_on, subject
from chatbot.examination.entailment import SUPERLATIVE
from chatbot.examination.ground import Ground
from chatbot.examination.matter import Matter, Part, share
from chatbot.examination.option_evidence import Bearing
from chatbot.examination.requirements import opposed
from chatbot.options import Option
from chatbot.quantities import quantities
from chatbot.words import content_words, stems

_NONE = re.compile(r"\W*(?:none|nothing|no|zero)\W*(?:of (?:the|them)\b.*)?", re.IGNORECASE)
# Evidence for the opposite of what is asked is weaker than evidence against it.
_OPPOSITE = 0.7


def profile(part: Part, matter: Matter, on_part: Sequence[Bearing], extreme: float) -> dict[str, float]:
    """The features of a part that no single ground has. `extreme` is 1 for the option that has most of what is wanted."""
    against, both = _against(part, on_part)
    turned = max((b.features["place"] * b.features["asked"] * b.features["denied option"] for b in on_part), default=0.0)
    denies = max((share(matter.asked, b.ground.reading.denied) for b in on_part), default=0.0)
    return {
        "speaks against": against,
        "for minus against": both,
        "says otherwise": sum(opposed(p, part.says) for p in part.asked) / max(2, len(part.asked)),
        "extreme": extreme,
        "turned round, negated": turned * matter.negated,
        "stem denied": max((b.features["denied stem"] for b in on_part), default=0.0),
        "none": denies * bool(_NONE.fullmatch(part.text)),
    }


def _against(part: Part, on_part: Sequence[Bearing]) -> tuple[float, float]:
    """Of each thing asked, whether some evidence on the part speaks against it, and how that is balanced by what speaks for it."""
    borne = [max(b.features["place"], b.features["about"]) ** 2 * (0.7 + 0.3 * subject(part, b.ground.reading)) for b in on_part]
    weighed = [(weight, stance_on(part, b.ground)) for weight, b in zip(borne, on_part, strict=True)]
    against = both = 0.0
    for pole in part.asked if weighed else ():
        most_for = max(w * (pole in s.in_favour) for w, s in weighed)
        most_against = max(w * (pole in s.against) for w, s in weighed)
        most_opposed = max(w * opposed(pole, s.in_favour) for w, s in weighed)
        against += most_against
        both += max(-1.0, most_for - max(most_against, _OPPOSITE * most_opposed))
    most = max(2, len(part.asked))
    return against / most, both / most


def extremes(matter: Matter, found: Sequence[Ground]) -> list[float]:
    """1 for the options whose row has the most (or the least) of what the question wants most (or least) of; 0 for the others."""
    wanted = SUPERLATIVE.search(matter.asking)
    rows = [g.unit for g in found if g.unit.cells] if wanted else []
    values = [_value(option, rows, matter) for option in matter.options]
    known = [v for v in values if v is not None]
    if wanted is None or len(known) < max(2, len(values) - 1) or max(known) == min(known):
        return [0.0] * len(values)
    best = max(known) if wanted["up"] else min(known)
    return [float(v == best) for v in values]


def _value(option: Option, rows: Sequence[Unit], matter: Matter) -> float | None:
    """The number in an option's row, in the column that the question speaks of most."""
    said = set(content_words(option.text))
    for row in rows:
        if not said or not said <= set(content_words(row.cells[0][1])):
            continue
        rated = [(share(matter.asked, stems(header)), f"{cell} {header}") for header, cell in row.cells[1:]]
        best, text = max(rated, default=(0.0, ""))
        if best > 0 and (figures := quantities(text)):
            return figures[0].low
    return None
