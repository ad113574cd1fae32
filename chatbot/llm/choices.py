"""Exam answers of a language model: the letters it chose, and the reasons that must hold before a letter is shown."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from chatbot.answer import REFUSAL
from chatbot.citations import Evidence, Verified, verify
from chatbot.examination import option_label
from chatbot.llm.streaming import is_fit
from chatbot.marks import without_marks
from chatbot.names import mentioned, names, relatives
from chatbot.options import Option
from chatbot.query import Query
from chatbot.words import content_words, stem, stems, synonyms

_LETTERS = r"\(?[A-Za-z]\)?(?:\s*(?:,\s*and|,|;|/|&|\+|and)\s*\(?[A-Za-z]\)?)*(?![A-Za-z])"
_ANSWER = re.compile(
    r"^\W*(?:the\s+|my\s+|final\s+|correct\s+)*answers?(?:\s+is|\s+are)?\s*\**\s*[:=–-]\s*(?P<rest>.*)$", re.IGNORECASE
)
_CHOSEN = re.compile(rf"\W*(?P<letters>{_LETTERS}|[A-H]{{2,8}})\W*(?:$|(?<=[.):])\s)")
_LED = re.compile(rf"^[\s*_]*(?P<letters>{_LETTERS})[*_]*\s*[:.–-][*_]*\s+(?P<rest>.*)$")
_OPTION_LINE = re.compile(
    r"^\s*(?:[-*•]\s+)?[*_]*(?:option\s+)?\(?(?P<letter>[A-Ha-h])[.):][*_]*\s+(?P<rest>.*)$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Examined:
    """An exam answer: what is shown, verified, and the letters chosen. No letters stand without a reason that holds."""

    verified: Verified
    choices: tuple[str, ...]


def chosen(text: str, options: Sequence[Option]) -> tuple[str, ...]:
    """The letters of the last answer line, those that were offered, in the options' order."""
    offered = [option.letter for option in options]
    found: set[str] = set()
    for line in text.splitlines():
        if (answer := _ANSWER.match(line)) and (letters := _CHOSEN.match(answer["rest"])):
            found = _letters(letters["letters"])
    return tuple(letter for letter in offered if letter in found)


def _letters(written: str) -> set[str]:
    return set(re.findall(r"[A-Z]", re.sub(r"\band\b", " ", written, flags=re.IGNORECASE).upper()))


def examined(text: str, query: Query, evidence: Sequence[Evidence]) -> Examined:
    """The letters first, why, then a line an option, as the offline reader has it; the answer line itself is not shown.

    The first reason must hold and speak of a chosen option: the model's own or, where that fails, one of the option's own
    line. Where none does there is no answer at all, because letters without a reason are a guess.
    """
    choices = () if text.lstrip(" *_\n").startswith(REFUSAL) else chosen(text, query.options)
    lead, by_option = _parts(text, query.options, choices)
    label = ", ".join(choices)
    lines = [f"- {option_label(o)}: {by_option[o.letter]}" for o in query.options if o.letter in by_option]
    given = [label, *(option_label(option) for option in query.options)]
    picked = [o for o in query.options if o.letter in choices or query.negated]
    grounds = [(lead, o) for o in picked] + [(by_option[o.letter], o) for o in picked if o.letter in by_option]
    for reason, option in grounds if choices else []:
        first = _fit(f"{label}: {reason}")
        held = verify(first, evidence, given, own_words=True)
        if held.citations and _speaks_for(held, option, query, evidence, reason):
            verified = verify("\n".join([first, *map(_fit, lines)]), evidence, given, own_words=True)
            return Examined(replace(verified, dropped=verified.dropped + _unfit(text)), choices)
    return Examined(
        Verified("", (), tuple(without_marks(line).strip() for line in text.splitlines() if line.strip())), ()
    )


def _parts(text: str, options: Sequence[Option], choices: Sequence[str]) -> tuple[str, dict[str, str]]:
    """The reasons in front, without letters, and what is said of each option, by letter."""
    lead: list[str] = []
    by_option: dict[str, str] = {}
    current = ""
    lines = [line for line in text.splitlines() if line.strip() and not _ANSWER.match(line)]
    lines_of = Counter(option[0] for line in lines if (option := _option_of(line, options)))
    # A lead may begin with an option's text, as the row of a table does; the option has a line of its own then.
    for line in lines:
        led = _LED.match(line)
        option = _option_of(line, options)
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
            by_option[current] = said
        elif current:
            by_option[current] = f"{by_option[current]} {line.strip()}".strip()
        else:
            lead.append(line.strip())
    return " ".join(lead), by_option


def _option_of(line: str, options: Sequence[Option]) -> tuple[str, str] | None:
    """The letter of an option's line and what is said after the option's own text."""
    match = _OPTION_LINE.match(line)
    option = next((o for o in options if match and o.letter == match["letter"].upper()), None)
    if match is None or option is None:
        return None
    rest = match["rest"]
    if rest.lower().startswith(option.text.lower()):
        rest = rest[len(option.text) :].lstrip(" *_:–—-")
    return option.letter, rest


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
