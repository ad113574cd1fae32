"""The lines of an exam written as text or Markdown, and what each of them can be."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TAGS = re.compile(r"</?(?:details|summary|p|div|center)\b[^>]*>|<br\s*/?>", re.IGNORECASE)
_QUOTE = re.compile(r"^\s{0,3}>\s?(?:\[![\w-]+\][+-]?\s*)?")
# No line means more by more spaces in a row, and every pattern below looks at each run of them several times.
_WIDE = re.compile(r"([^\S\n]{40})[^\S\n]+")
_HEADING = re.compile(r"^\s{0,3}(?P<marks>#{1,6})\s+(?P<text>.*?)\s*#*$")
_LABEL = r"(?:(?:question|q|frage|pregunta|domanda|exercise)\s*+(?:no|number|nr)?\s*+[.:#]?\s*+|no\s*+[.:#]\s*+)"
_NUMBERED = re.compile(
    rf"^\s*+(?:\*\*|__)?\s*+(?:(?P<label>{_LABEL})(?P<n>\d{{1,4}})(?!\d)\s*+[.:)\]–—-]*|(?P<m>\d{{1,4}})[.)](?=\s|\*\*|__|$))\s*+(?P<rest>.*)$",
    re.IGNORECASE,
)
_UNNUMBERED = re.compile(r"^\s*+(?:\*\*|__)?\s*+q(?:uestion)?\s*+[:.]\s*+(?:\*\*|__)?\s*+(?P<rest>\S.*)$", re.IGNORECASE)
_BOX = re.compile(r"^\s*(?:[-*+]|\d{1,2}[.)])\s+\[(?P<mark>[ xX]?)\]\s+(?P<text>\S.*)$")
_OPTION = re.compile(
    r"^\s*(?:[-+•]\s+|\*\s+)?(?P<star>\*(?!\*|\s)|[✅✓✔☑]️?\s*)?(?:\*\*|__)?(?:[(\[](?P<p>[A-Za-z])[)\]]|(?P<d>[A-Za-z])(?:\*\*|__)?[.)](?=\s|\*\*|__|(?<=[A-Z].)[A-Z0-9](?![.)]))|(?P<c>[A-Z])(?:\*\*|__)?:(?=\s|\*\*|__))(?:\*\*|__)?\s*(?P<text>\S.*)$"
)
_RIGHT = re.compile(
    r"\s*(?:[(\[]\s*(?:correct|right)(?:\s+answer)?\s*[)\]]|(?:<-+|←)\s*correct|[✅✓✔☑]️?)\s*$", re.IGNORECASE
)
_WORD = r"answers?|ans|respuestas?|risposta|risposte|respostas?|réponses?|antwort(?:en)?"
_ANSWER = re.compile(
    rf"^\W{{0,6}}(?:show\s+|view\s+)?(?:the\s+)?(?:(?:correct|right|suggested|official)\s+(?:{_WORD}|options?|choices?)|(?:{_WORD})(?:\s+(?:key|correctas?|corretta|corrette|corretas?))?|solution)(?:\(s\))?"
    r"\s*(?:\*\*|__)?\s*(?:[:：=]|\s[-–—](?=\s)|\s(?:is|are)\b:?)\s*(?:\*\*|__)?\s*(?P<key>.*)$",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^\W*(?:(?:show|view|see|reveal|click (?:for|to see))\s+)?(?:the\s+)?(?:correct\s+)?(?:answers?|solution)(?:\s*(?:&|and|/|\+)\s*explanations?)?\W*$",
    re.IGNORECASE,
)
_REMARK = re.compile(
    r"^\W{0,6}(?:(?:overall\s+|general\s+)?explanations?|rationale|reason(?:ing)?|why|references?|feedback|discussion|notes?|sources?)\b\s*(?:\*\*|__)?\s*(?:[:：]|$)\s*(?:\*\*|__)?\s*(?P<text>.*)$",
    re.IGNORECASE,
)
_META = re.compile(
    r"^\W{0,6}(?P<key>topic|domain|category|subject|difficulty|level)\s*(?:\*\*|__)?\s*:\s*(?:\*\*|__)?\s*(?P<value>.{1,80})$",
    re.IGNORECASE,
)
_RULE = re.compile(r"^\s*(?:-{3,}|\*{3,}|_{3,}|={3,})\s*$")


@dataclass(frozen=True, slots=True)
class Line:
    """A line without its quotation marks and tags; `indent` counts the spaces before it."""

    number: int
    indent: int
    text: str

    @property
    def is_rule(self) -> bool:
        """Whether it only draws a line."""
        return bool(_RULE.match(self.text))


@dataclass(frozen=True, slots=True)
class Start:
    """A line that may begin a question. `level` is a heading's, 0 for none; `number` is None where it has none."""

    text: str
    level: int
    number: int | None
    labelled: bool


@dataclass(frozen=True, slots=True)
class OptionLine:
    """An option: its letter, whether it is marked as right, whether it has a box to tick and then no letter."""

    letter: str
    text: str
    right: bool
    box: bool


def lines_of(text: str) -> Iterator[Line]:
    """The lines, blank ones as "", numbered from 1; what a tag separates stands on lines of its own."""
    for number, raw in enumerate(text.splitlines(), start=1):
        bare = _QUOTE.sub("", _WIDE.sub(r"\1", raw)).expandtabs(4).rstrip()
        pieces = [piece for piece in _TAGS.split(bare) if piece.strip()]
        indent = len(bare) - len(bare.lstrip())
        # A line of tags alone separates nothing: it is no blank line.
        if not pieces and not bare.strip():
            yield Line(number, 0, "")
        for piece in pieces:
            yield Line(number, indent, piece.strip())


def start(text: str) -> Start | None:
    """What a line begins, if it may begin a question."""
    heading = _HEADING.match(text)
    level, body = (len(heading["marks"]), heading["text"]) if heading else (0, text)
    if (match := _NUMBERED.match(body)) and not _BOX.match(text):
        return Start(unbold(match["rest"]), level, int(match["n"] or match["m"]), match["label"] is not None)
    if match := _UNNUMBERED.match(body):
        return Start(unbold(match["rest"]), level, None, True)
    return Start(unbold(body), level, None, False) if heading else None


def option(text: str) -> OptionLine | None:
    """The option that a line is, lettered or with a box."""
    if match := _BOX.match(text):
        return OptionLine("", unbold(match["text"]), match["mark"] in ("x", "X"), True)
    if not (match := _OPTION.match(text)):
        return None
    said = match["text"]
    right = bool(match["star"]) or bool(_RIGHT.search(said))
    letter = match["p"] or match["d"] or match["c"]
    return OptionLine(letter.upper(), unbold(_RIGHT.sub("", said)), right, False)


def answer(text: str) -> str | None:
    """What stands behind "Answer:"; "" where it must follow on the next line, None where a line is no answer."""
    if _LEAD.match(_without_marks(text)):
        return ""
    match = _ANSWER.match(_without_marks(text))
    return match["key"].strip() if match else None


def remark(text: str) -> str | None:
    """What stands behind "Explanation:" and its like."""
    match = _REMARK.match(_without_marks(text))
    return match["text"].strip() if match else None


def detail(text: str) -> tuple[str, str] | None:
    """The topic or the difficulty that a line gives."""
    if not (match := _META.match(text)):
        return None
    kind = "difficulty" if match["key"].lower() in ("difficulty", "level") else "topic"
    return kind, match["value"].strip().strip("*_").strip()


def unbold(text: str) -> str:
    """A text without the bold marks around it, or the half of them that a number took away."""
    text = text.strip()
    for mark in ("**", "__"):
        if text.startswith(mark) and text.endswith(mark) and text.count(mark) == 2 and len(text) > 4:
            return text[2:-2].strip()
        if text.count(mark) == 1:
            return text.removeprefix(mark).removesuffix(mark).strip()
    return text


def _without_marks(text: str) -> str:
    return re.sub(r"^\s*(?:#{1,6}\s+|[-*+]\s+)", "", text)
