"""Exam answers of a language model: the letters it chose, and the reasons that must hold before a letter is shown."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from chatbot.answer import REFUSAL
from chatbot.citations import Evidence, Verified, verify
from chatbot.llm.contradiction import contradicts, spoken_against
from chatbot.llm.letters import chosen, declarations, undressed
from chatbot.llm.transcript import is_fit
from chatbot.marks import without_marks
from chatbot.names import mentioned, names, relatives
from chatbot.options import Option
from chatbot.query import Query
from chatbot.words import content_words, stem, stems, synonyms

_LED = re.compile(
    r"^[\s*_]*(?P<letters>\(?[A-Za-z]\)?(?:\s*(?:,\s*and|,|;|/|&|\+|and)\s*\(?[A-Za-z]\)?){0,7}(?![A-Za-z]))[*_]*\s*[:.–-][*_]*\s+(?P<rest>.*)$"
)
# A line of a list, a heading or the row of a table.
_OPTION_LINE = re.compile(
    r"^\s*(?:\||#{1,6}\s|\d{1,2}[.)]\s|[-*•✅❌✔✗✘]\ufe0f?\s)?[\s*_]*(?:option\s+)?\(?(?P<letter>[A-Ha-h])(?:[.):][*_]*(?:\s+|$)|[*_]*\s*\||[*_]*\s+[–—-]\s|[*_]*\s+(?=\())(?P<rest>.*)$",
    re.IGNORECASE,
)
_SEPARATORS = " \t*_:–—-|()✅❌✔✗✘\ufe0f"
_VERDICT = re.compile(
    r"^(?P<wrong>incorrect|wrong|false|not\s+(?:correct|right))?(?(wrong)|(?:correct|right|true|yes))(?:\s+(?:answer|option|choice))?(?:\s*[.:,;–—|)*_-]+\s*|\s*$|\s+(?:because|since|as)\s+)",
    re.IGNORECASE,
)
# A title, or the head of a table: what cites nothing is no reason.
_HEADING = re.compile(
    r"^\s*(?:#{1,6}\s.*|\|[^\[\]]*|[\W_]*(?:final\s+|correct\s+|best\s+)*(?:answers?|explanations?|reason(?:s|ing)?|rationale|justification|analysis|why)[\W_]*)$",
    re.IGNORECASE,
)
_PREFACE = re.compile(
    r"^[\s*_]*(?:explanation|reason(?:ing)?|rationale|justification|why)[*_]*\s*:[*_]*\s*", re.IGNORECASE
)
_VERDICT_OPENS = re.compile(r"[\W_]*(?:(?:so|therefore|thus|hence)\b[\s,]*)?(?:the\s+)?", re.IGNORECASE)
_CONNECTIVE = re.compile(r"^[\s.,:;)}–—-]*(?:(?:because|since|as)\s+)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Examined:
    """An exam answer: what is shown, verified, and the letters chosen. No letters stand without a reason that holds."""

    verified: Verified
    choices: tuple[str, ...]
    # Whether the model's own reason speaks against these letters: it may be asked again.
    contradicted: bool = False


def examined(text: str, query: Query, evidence: Sequence[Evidence]) -> Examined:
    """The letters first, why, then a line an option, as the offline reader has it; the verdict itself ("Answer: B") is not shown.

    The first reason must hold and speak of a chosen option: the model's own or, where that fails, one of the option's own
    line. Where none does there is no answer at all, because letters without a reason are a guess.
    """
    choices = () if text.lstrip(" *_\n").startswith(REFUSAL) else chosen(text, query.options, query.choose)
    lead, by_option = _parts(text, query.options, choices)
    label = ", ".join(choices)
    lines = [f"- {o.label}: {by_option[o.letter]}" for o in query.options if o.letter in by_option]
    given = [label, *(option.label for option in query.options)]
    picked = [o for o in query.options if o.letter in choices or query.negated]
    grounds = [(lead, o) for o in picked] + [(by_option[o.letter], o) for o in picked if o.letter in by_option]
    for reason, option in grounds if choices else []:
        first = _fit(f"{label}: {reason}")
        held = verify(first, evidence, given, own_words=True)
        if held.citations and _speaks_for(held, option, query, evidence, reason):
            verified = verify("\n".join([first, *map(_fit, lines)]), evidence, given, own_words=True)
            against = _speaks_against(held.text.removeprefix(f"{label}: "), text, lead, choices, query)
            return Examined(replace(verified, dropped=verified.dropped + _unfit(text)), choices, against)
    return Examined(
        Verified("", (), tuple(without_marks(line).strip() for line in text.splitlines() if line.strip())), ()
    )


def _parts(text: str, options: Sequence[Option], choices: Sequence[str]) -> tuple[str, dict[str, str]]:
    """The reasons in front, without letters, and what is said of each option, by letter."""
    lead: list[str] = []
    by_option: dict[str, str] = {}
    current, parted = "", False
    lines = [_without_verdict(" ".join(line.split()), options) for line in text.splitlines()]
    lines_of = Counter(option[0] for line in lines if (option := _option_of(line, options)))
    # A lead may begin with an option's text, as the row of a table does; the option has a line of its own then.
    for line in lines:
        led = _LED.match(line)
        option = _option_of(line, options)
        if (
            option
            and not option[1]
            and not _HEADING.match(line)
            and option[0] in choices
            and not lead
            and not by_option
        ):
            continue  # the choice alone, in front
        if (
            not lead
            and not by_option
            and led
            and _letters(led["letters"]) == set(choices)
            and (not _repeats(line, options) or any(lines_of[letter] > 1 for letter in choices))
        ):
            lead.append(led["rest"])
        elif option:
            current, said = option
            by_option[current] = said or by_option.get(current, "")
        elif not line.strip() or _HEADING.match(line):
            parted = True
            current = "" if line.strip() else current
            continue
        elif current and not (parted and by_option[current]):
            by_option[current] = f"{by_option[current]} {line.strip()}".strip()
        else:
            current = ""
            lead.append(_PREFACE.sub("", line).strip())
        parted = False
    return " ".join(lead), by_option


def _without_verdict(line: str, options: Sequence[Option]) -> str:
    """A line without the "The correct answer is B, because" that it opens with; "" where it is nothing but a verdict."""
    plain = undressed(line).strip() if "\\boxed" in line else re.sub(r"\*\*|__", "", line)
    found = [d for d in declarations(plain, options) if d.weight < 2 and _VERDICT_OPENS.fullmatch(plain, 0, d.start)]
    if not found:
        return line
    rest = _CONNECTIVE.sub("", plain[max(d.end for d in found if d.start == min(f.start for f in found)) :])
    return rest[:1].upper() + rest[1:]


def _option_of(line: str, options: Sequence[Option]) -> tuple[str, str] | None:
    """The letter of an option's line and what is said after the option's own text and the word that judges it."""
    match = _OPTION_LINE.match(line)
    option = next((o for o in options if match and o.letter == match["letter"].upper()), None)
    if match is None or option is None:
        return None
    return option.letter, _VERDICT.sub("", _after_text(match["rest"], option)).strip().removesuffix("|").rstrip()


def _after_text(rest: str, option: Option) -> str:
    bare = rest.lstrip(_SEPARATORS)
    if bare.lower().startswith(option.text.lower()):
        return bare[len(option.text) :].lstrip(_SEPARATORS)
    return bare if rest.lstrip().startswith("|") or _VERDICT.match(bare) else rest


def _speaks_against(held: str, text: str, lead: str, choices: Sequence[str], query: Query) -> bool:
    """Whether the reason that holds, the reasons in front or the line of a chosen option speak against what was chosen."""
    if query.negated:
        return False
    pushed_aside = any(spoken_against(lead, o) for o in query.options if o.letter in choices)
    return (
        pushed_aside
        or contradicts(without_marks(held), choices, query.options)
        or _called_wrong(text, choices, query.options)
    )


def _called_wrong(text: str, choices: Sequence[str], options: Sequence[Option]) -> bool:
    """Whether the line of a chosen option calls it wrong."""
    for line in text.splitlines():
        match = _OPTION_LINE.match(line)
        option = next(
            (o for o in options if match and o.letter == match["letter"].upper() and o.letter in choices), None
        )
        if (
            match
            and option
            and (((verdict := _VERDICT.match(_after_text(match["rest"], option))) and verdict["wrong"]) or "❌" in line)
        ):
            return True
    return False


def _letters(written: str) -> set[str]:
    return set(re.findall(r"[A-Z]", re.sub(r"\band\b", " ", written, flags=re.IGNORECASE).upper()))


def _repeats(line: str, options: Sequence[Option]) -> bool:
    """Whether a line names an option by its text: as that option's line does."""
    match = _OPTION_LINE.match(line)
    return match is not None and any(match["rest"].lower().startswith(f"{o.text.lower()}:") for o in options)


def _speaks_for(held: Verified, option: Option, query: Query, evidence: Sequence[Evidence], reason: str) -> bool:
    """Whether a reason that holds is one for this option: it holds of the hardware that the option names.

    An option that names none must share a word that sets it apart with the reason or its evidence.
    """
    if query.negated:
        return True
    if named := names(option.text):
        kin = {n.lower() for name in named for n in (name.name, *relatives(name.name))}
        if in_reason := mentioned(without_marks(reason)):
            return bool(in_reason & kin)
        subject = " and ".join(name.text for name in named)
        return bool(verify(f"{subject}: {reason}", evidence, own_words=True).citations)
    common = frozenset.intersection(*(stems(o.text) for o in query.options))
    own = [w for w in content_words(option.text) if stem(w) not in common]
    said = [w for c in held.citations for text in (c.claim, c.quote) for w in content_words(text)]
    here, groups = {stem(w) for w in said}, {g for w in said for g in synonyms(w)}
    return not own or any(stem(w) in here or synonyms(w) & groups for w in own)


def _fit(line: str) -> str:
    return line if is_fit(line) else ""


def _unfit(text: str) -> tuple[str, ...]:
    return tuple(without_marks(line).strip() for line in text.splitlines() if not is_fit(line))
