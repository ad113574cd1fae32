"""Exam answers of a language model: the letters it chose, and the reasons that must be verified before any are shown."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from chatbot.answer import REFUSAL
from chatbot.language.names import mentioned, names, relatives
from chatbot.language.words import content_words, stem, stems, synonyms
from chatbot.llm.letters import chosen, declarations, undressed
from chatbot.question.options import Option
from chatbot.question.query import Query
from chatbot.verification.citations import Evidence, Verified, verify
from chatbot.verification.fit import is_fit
from chatbot.verification.marks import without_marks

_LED = re.compile(
    r"^[\s*_]*(?P<letters>\(?[A-Za-z]\)?(?:\s*(?:,\s*and|,|;|/|&|\+|and)\s*\(?[A-Za-z]\)?){0,7}(?![A-Za-z]))[*_]*\s*[:.–-][*_]*\s+(?P<rest>.*)$"
)
# The line of an option: a list item, a heading or a table row.
_OPTION_LINE = re.compile(
    r"^\s*(?:\||#{1,6}\s|\d{1,2}[.)]\s|[-*•✅❌✔✗✘]\ufe0f?\s)?[\s*_]*(?:option\s+)?\(?(?P<letter>[A-Ha-h])(?:[.):][*_]*(?:\s+|$)|[*_]*\s*\||[*_]*\s+[–—-]\s|[*_]*\s+(?=\())(?P<rest>.*)$",
    re.IGNORECASE,
)
_SEPARATORS = " \t*_:–—-|()✅❌✔✗✘\ufe0f"
_VERDICT = re.compile(
    r"^(?P<wrong>incorrect|wrong|false|not\s+(?:correct|right))?(?(wrong)|(?:correct|right|true|yes))(?:\s+(?:answer|option|choice))?(?:\s*[.:,;–—|)*_-]+\s*|\s*$|\s+(?:because|since|as)\s+)",
    re.IGNORECASE,
)
# A title, or the header of a table: a line that cites nothing is not a reason.
_HEADING = re.compile(
    r"^\s*(?:#{1,6}\s.*|\|[^\[\]]*|[\W_]*(?:final\s+|correct\s+|best\s+)*(?:answers?|explanations?|reason(?:s|ing)?|rationale|justification|analysis|why)[\W_]*)$",
    re.IGNORECASE,
)
_PREFACE = re.compile(
    r"^[\s*_]*(?:explanation|reason(?:ing)?|rationale|justification|why)[*_]*\s*:[*_]*\s*", re.IGNORECASE
)
_VERDICT_OPENS = re.compile(r"[\W_]*(?:(?:so|therefore|thus|hence)\b[\s,]*)?(?:the\s+)?", re.IGNORECASE)
_CONNECTIVE = re.compile(r"^[\s.,:;)}–—-]*(?:(?:because|since|as)\s+)?", re.IGNORECASE)
_RULED_OUT = r"(?:wrong|incorrect|false|mistaken|ruled\s+out|eliminated|excluded|unsuitable|inappropriate)"
_NOT_RIGHT = r"(?:not|never|n['’]t)\s+(?:be\s+)?(?:(?:the|an?)\s+)?(?:\w+\s+)?(?:correct|right|suitable|appropriate|valid|answer|choice|option|fit)"
_IS = r"(?:is|are|was|would|cannot|can|could|must)"
_PUSHED_ASIDE = r"(?i:\b(?:not|rul(?:e[sd]?|ing)\s+out|eliminat\w+|exclud\w+|discard\w*|reject\w*|rather\s+than|instead\s+of)\s+(?:(?:option|choice)\s+)?[(\"“]?)"
# "A" before a lower-case word is the article.
_NO_ARTICLE = {"A": r"(?!\s+[a-z])"}


@dataclass(frozen=True, slots=True)
class Examined:
    """An exam answer: the verified text to show, and the chosen letters. There are no letters without a verified reason."""

    verified: Verified
    choices: tuple[str, ...]
    # Whether the model's own reason speaks against these letters, so that it may be asked again.
    contradicted: bool = False
    # Whether the model says that the sources do not decide it.
    refuses: bool = False


def examined(text: str, query: Query, evidence: Sequence[Evidence]) -> Examined:
    """Verify an exam answer and lay it out as the offline reader does: the letters with the reason, then a line per option.

    The verdict itself ("Answer: B") is not shown. The reason must be verified and be about a chosen option: the model's
    leading reason or, if that fails, the line of a chosen option (of any option, in a negated question). Without such a
    reason there is no answer at all, because letters without a reason are a guess.
    """
    refuses = text.lstrip(" *_\n").startswith(REFUSAL)
    choices = () if refuses else chosen(text, query.options, query.choose)
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
            unfit = tuple(without_marks(line).strip() for line in text.splitlines() if not is_fit(line))
            return Examined(replace(verified, dropped=verified.dropped + unfit), choices, against)
    dropped = tuple(without_marks(line).strip() for line in text.splitlines() if line.strip())
    return Examined(Verified("", (), dropped), (), refuses=refuses)


def _parts(text: str, options: Sequence[Option], choices: Sequence[str]) -> tuple[str, dict[str, str]]:
    """Return the leading reason, without letters, and what is said of each option, by letter."""
    lead: list[str] = []
    by_option: dict[str, str] = {}
    current, parted = "", False
    lines = [_without_verdict(" ".join(line.split()), options) for line in text.splitlines()]
    lines_of = Counter(option[0] for line in lines if (option := _option_of(line, options)))
    # A leading reason may begin like an option's line, with the option's text. It is one if the option has another line.
    for line in lines:
        led = _LED.match(line)
        option = _option_of(line, options)
        begins = not lead and not by_option
        if option and not option[1] and not _HEADING.match(line) and option[0] in choices and begins:
            continue  # the bare choice at the beginning
        leads = led and begins and _letters(led["letters"]) == set(choices)
        if led and leads and (not _repeats(line, options) or any(lines_of[letter] > 1 for letter in choices)):
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
    """Strip an opening "The correct answer is B, because" from a line; "" if the line is nothing but a verdict."""
    plain = undressed(line).strip() if "\\boxed" in line else re.sub(r"\*\*|__", "", line)
    found = [d for d in declarations(plain, options) if d.weight < 2 and _VERDICT_OPENS.fullmatch(plain, 0, d.start)]
    if not found:
        return line
    rest = _CONNECTIVE.sub("", plain[max(d.end for d in found if d.start == min(f.start for f in found)) :])
    return rest[:1].upper() + rest[1:]


def _listed(line: str, options: Sequence[Option]) -> tuple[Option, str] | None:
    """Return the option whose line this is, and the text after its letter; None for other lines."""
    match = _OPTION_LINE.match(line)
    return next(((o, match["rest"]) for o in options if match and o.letter == match["letter"].upper()), None)


def _option_of(line: str, options: Sequence[Option]) -> tuple[str, str] | None:
    """Return the letter of an option's line, and what it says after the option's own text and the verdict on it."""
    if (listed := _listed(line, options)) is None:
        return None
    option, rest = listed
    return option.letter, _VERDICT.sub("", _after_text(rest, option)).strip().removesuffix("|").rstrip()


def _after_text(rest: str, option: Option) -> str:
    bare = rest.lstrip(_SEPARATORS)
    if bare.lower().startswith(option.text.lower()):
        return bare[len(option.text) :].lstrip(_SEPARATORS)
    return bare if rest.lstrip().startswith("|") or _VERDICT.match(bare) else rest


def _speaks_against(held: str, text: str, lead: str, choices: Sequence[str], query: Query) -> bool:
    """Whether the verified reason, the leading reason or the line of a chosen option speaks against the choice.

    This is never so for a negated question, because the reason for its answer speaks against that answer.
    """
    return not query.negated and (
        any(spoken_against(lead, o) for o in query.options if o.letter in choices)
        or contradicts(without_marks(held), choices, query.options)
        or _called_wrong(text, choices, query.options)
    )


def _called_wrong(text: str, choices: Sequence[str], options: Sequence[Option]) -> bool:
    """Whether the line of a chosen option calls it wrong."""
    for line in text.splitlines():
        listed = _listed(line, options)
        if listed and listed[0].letter in choices:
            verdict = _VERDICT.match(_after_text(listed[1], listed[0]))
            if (verdict and verdict["wrong"]) or "❌" in line:
                return True
    return False


def _letters(written: str) -> set[str]:
    return set(re.findall(r"[A-Z]", re.sub(r"\band\b", " ", written, flags=re.IGNORECASE).upper()))


def _repeats(line: str, options: Sequence[Option]) -> bool:
    """Whether a line begins with an option's text after a letter, as that option's own line does."""
    match = _OPTION_LINE.match(line)
    return match is not None and any(match["rest"].lower().startswith(f"{o.text.lower()}:") for o in options)


def _speaks_for(held: Verified, option: Option, query: Query, evidence: Sequence[Evidence], reason: str) -> bool:
    """Whether a verified reason is one for this option: it is about the hardware that the option names.

    An option that names no hardware must share a distinguishing word with the reason or its evidence. In a negated question
    any verified reason counts.
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


def contradicts(reason: str, choices: Sequence[str], options: Sequence[Option]) -> bool:
    """Whether a reason rejects a chosen option ("B is wrong because …", "not B"), or names only another one."""
    taken = [o for o in options if o.letter in choices]
    return any(spoken_against(reason, option) for option in taken) or _names_another(reason, taken, options)


def spoken_against(reason: str, option: Option) -> bool:
    """Whether a text calls an option wrong or dismisses it, by its letter or its text."""
    return any(re.search(pattern, reason, flags) for pattern, flags in _patterns(option))


def _patterns(option: Option) -> Iterator[tuple[str, re.RegexFlag]]:
    text = re.escape(option.text)
    for name, flags, tail in (
        (option.letter, re.RegexFlag(0), _NO_ARTICLE.get(option.letter, "")),
        (text, re.IGNORECASE, ""),
    ):
        yield (
            rf"(?<![\w-]){name}[)\"”]?(?:\s*\({text}\)|[.)]?\s+{text})?,?\s+{_IS}\s*(?:\w+\s+)?(?:{_RULED_OUT}|{_NOT_RIGHT})\b",
            flags,
        )
        yield rf"{_PUSHED_ASIDE}{name}(?![\w-]){tail}", flags


def _names_another(reason: str, taken: Sequence[Option], options: Sequence[Option]) -> bool:
    said = " ".join(content_words(reason))
    here = {stem(word) for word in content_words(reason)}
    others = [o for o in options if o not in taken]
    foreign = frozenset[str]().union(*(stems(o.text) for o in others))
    own = frozenset[str]().union(*(stems(o.text) for o in taken))
    named = [
        o
        for o in others
        if (text := " ".join(content_words(o.text))) and re.search(rf"(?<!\S){re.escape(text)}(?!\S)", said)
    ]
    # A chosen option without words of its own ("All of the above") cannot be missing from a reason.
    return bool(named) and bool(own - foreign) and not (own - foreign) & here
