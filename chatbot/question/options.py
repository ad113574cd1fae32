"""Parse exam questions pasted into the chat: the stem, the lettered options, how many to choose, whether it is negated."""

import re
from dataclasses import dataclass
from itertools import pairwise, takewhile

_MARK = r"(?:[-*+•]\s*)?(?:\[[ xX]?\]\s*)?(?:\*\*)?(?:\[(?P<s>[A-Ha-h1-8])\]|(?P<h>[A-H])(?:\*\*)?\s+[-–—](?=\s)|\(?(?P<r>viii|vii|vi|iv|iii|ii|v|i)[.)]|\((?P<p>[A-Ha-h1-8])\)|(?P<d>[A-Ha-h1-8])\s?[.):\]]|(?P<w>(?:option|choice)\s+(?P<o>[A-Ha-h1-8]))[.:)]?|(?P<b>[A-H])(?=(?:\*\*)?\s*\n|\t))(?:\*\*)?"
_LINE = re.compile(rf"(?m)^[ \t>]*{_MARK}[ \t\r]*(?:\n[ \t\r]*){{0,2}}(?P<text>\S[^\n]*)", re.IGNORECASE)
_INLINE = re.compile(
    r"(?:(?<=\s)|(?<=^)|(?<=[,;?:]))(?:\*\*)?(?:\(?(?P<r>viii|vii|vi|iv|iii|ii|v|i)\)|\((?P<p>[A-Ha-h1-8])\)|(?P<d>[A-Ha-h1-8])[.)](?!(?<=\d\.)\d)|\[(?P<s>[A-H])\]|(?P<h>[A-H])(?::|\s[-–—](?=\s)))(?:\*\*)?\s*(?=\S)"
)
_BULLET = re.compile(r"(?m)^[ \t]*(?:[-*+•]|\[[ xX]?\])[ \t]+(?:\[[ xX]?\][ \t]*)?(?P<text>\S[^\n]*)")
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii")
_COUNTS = {written: n for n, word in enumerate(("one", "two", "three", "four", "five", "six", "seven", "eight"), 1) for written in (word, str(n))}
_CHOOSE = re.compile(
    r"\b(?:choose|select|pick|name)\s+(?:(?:any|all|the|exactly|best|only)\s+){0,2}(?P<n>one|two|three|four|five|six|seven|eight|[1-8])\b|\bwhich\s+(?P<m>two|three|four|[2-4])\b|\b(?P<k>two|three)\s+of\s+(?:the|these)\b",
    re.IGNORECASE,
)
_HINT_AT_THE_END = re.compile(rf"\s*[(\[][^()\[\]]*(?:{_CHOOSE.pattern})[^()\[\]]*[)\]]\s*\Z", re.IGNORECASE)
# "LEAST" before one of these negates the question ("least suitable"), but the least cost, effort or footprint is right.
_MERIT = r"(?:[\w-]+[\s-]+)?(?:suitable|suited|likely|appropriate|efficient|effective|sustainable|true|accurate|correct|relevant|recommended|useful|beneficial|compatible)"
_IN_WHAT_ASKS = r"(?=(?:[^.?]|\.(?=\S))*(?:\?|\.?\s*$|\.\s*\(?(?i:choose|select|pick)\b))"
# A negation in capitals negates the question ("NOT" only in the sentence that asks). In small letters it must follow
# "which" or "what" closely, or be an "except" at the end.
_NEGATED = re.compile(
    rf"\b(?:CAN ?)?NOT\b{_IN_WHAT_ASKS}|\bEXCEPT\b|\bLEAST\s+{_MERIT}\b|\b(?:helps?|contributes?|benefits?|fits?|suits?|counts?|matters?|does)\s+(?:the\s+)?LEAST\b|(?i:\b(?:which|what)\b(?:(?!\b(?:when|that|if|because|while|who)\b)[^.?;]){{0,45}}"
    rf"\b(?:not|isn't|aren't|doesn't|don't|except|incorrect|false|untrue|worst|wrong|least\s+{_MERIT})\b|\bexcept\s*:?\s*$)"
)


@dataclass(frozen=True, slots=True)
class Option:
    """One option of an exam question. `letter` is upper case; numbered and bulleted options get one by position."""

    letter: str
    text: str

    @property
    def label(self) -> str:
        """The option as an answer names it."""
        return f"{self.letter}. {self.text}"


@dataclass(frozen=True, slots=True)
class Stem:
    """An exam question without its options. `choose` is how many options are to be chosen."""

    text: str
    options: tuple[Option, ...]
    choose: int
    negated: bool


def is_negated(stem: str) -> bool:
    """Whether a question is negated: "which is NOT ...", "all EXCEPT"."""
    return bool(_NEGATED.search(stem))


def parse_options(question: str) -> Stem | None:
    """Split an exam question into its parts. Return None without at least two options lettered in order."""
    for split in (_lettered_lines, _inline, _bulleted):
        if (found := split(question)) is not None:
            stem, options = found
            if len(options) >= 2 and stem.strip():
                return Stem(stem.strip(), options, _choose(stem, len(options)), is_negated(stem))
    return None


def _choose(stem: str, offered: int) -> int:
    # Take the last match: the scenario before it may mention choosing, too.
    *_, match = (None, *_CHOOSE.finditer(stem))
    wanted = _COUNTS[(match["n"] or match["m"] or match["k"]).lower()] if match else 1
    return min(wanted, offered)


def _lettered_lines(question: str) -> tuple[str, tuple[Option, ...]] | None:
    marks = list(_LINE.finditer(question))
    below = [question[m.end() : n.start()] for m, n in pairwise(marks)]
    texts = [m["text"] + _continued(after) for m, after in zip(marks, below, strict=False)]
    texts += [m["text"] + _continued(question[m.end() :], last=True) for m in marks[-1:]]
    return _run([(m, _letter(m), text) for m, text in zip(marks, texts, strict=True)], question)


def _continued(after: str, *, last: bool = False) -> str:
    """Return the lines that continue an option, up to a blank one; for the last option only indented or lower-case ones."""
    lines = takewhile(str.strip, after.split("\n")[1:])
    if last:
        lines = takewhile(lambda line: (line[0].isspace() or line[0].islower()) and not _CHOOSE.search(line), lines)
    return "".join(f" {line.strip()}" for line in lines)


def _inline(question: str) -> tuple[str, tuple[Option, ...]] | None:
    hint = _HINT_AT_THE_END.search(question)
    body = question[: hint.start()] if hint else question
    marks = list(_INLINE.finditer(body))
    ends = [*(m.start() for m in marks[1:]), len(body)] if marks else []
    texts = [
        re.sub(r"[\s,;|/]+(?:or|and)?[\s,;|/]*$", "", body[m.end() : end].strip())
        for m, end in zip(marks, ends, strict=True)
    ]
    found = _run([(m, _letter(m), text) for m, text in zip(marks, texts, strict=True)], body)
    return (found[0] + hint.group(), found[1]) if found and hint else found


def _bulleted(question: str) -> tuple[str, tuple[Option, ...]] | None:
    marks = list(_BULLET.finditer(question))
    if len(marks) < 2 or not _asks(question[: marks[0].start()]):
        return None
    options = tuple(Option(chr(ord("A") + i), m["text"].strip()) for i, m in enumerate(marks[:8]))
    return question[: marks[0].start()], options


def _asks(stem: str) -> bool:
    return "?" in stem or _CHOOSE.search(stem) is not None


def _letter(match: re.Match[str]) -> str:
    """Return the letter or number of a mark; a Roman numeral as an Arabic number."""
    marks = {name: mark for name, mark in match.groupdict().items() if mark and name not in ("w", "text")}
    ((kind, mark),) = marks.items()
    return str(_ROMAN.index(mark.lower()) + 1) if kind == "r" else mark


def _run(marks: list[tuple[re.Match[str], str, str]], question: str) -> tuple[str, tuple[Option, ...]] | None:
    """Return stem and options of the longest run of marks that counts up from A (or "a") or, failing that, from 1."""
    ahead: dict[tuple[int, bool], tuple[tuple[re.Match[str], str, str], ...]] = {}
    runs = []
    for mark in reversed(marks):
        position, numbered = _position(mark[1]), mark[1].isdigit()
        ahead[position, numbered] = (mark, *ahead.get((position + 1, numbered), ()))
        if position == 0:
            runs.append(ahead[0, numbered])
    best = max(reversed(runs), key=lambda run: (len(run) > 1, not run[0][1].isdigit(), len(run)), default=())
    if len(best) < 2:
        return None
    after = question[best[-1][0].end() :] if "text" in best[-1][0].re.groupindex else ""
    options = tuple(Option(chr(ord("A") + i), _tidy(text)) for i, (_, _, text) in enumerate(best))
    return question[: best[0][0].start()] + _hint(after), options


def _position(letter: str) -> int:
    return int(letter) - 1 if letter.isdigit() else ord(letter.upper()) - ord("A")


def _tidy(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip().strip("*").strip()


def _hint(after: str) -> str:
    """Return the phrase below the options that says how many to choose, on a new line; "" if there is none."""
    return f"\n{match.group()}" if (match := _CHOOSE.search(after)) else ""
