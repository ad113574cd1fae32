"""Read exams written as text or Markdown: check boxes, lettered options, Aiken, `NO.12`.

The answer may be marked on the options, follow the question, or stand in a key at the end.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from chatbot.exam.keys import read_key
from chatbot.exam.question import ExamQuestion
from chatbot.exam.settling import Found, settle, skipped, unaskable, without_letters

# --- kinds of lines

_TAGS = re.compile(r"</?(?:details|summary|p|div|center)\b[^>]*>|<br\s*/?>", re.IGNORECASE)
_QUOTE = re.compile(r"^\s{0,3}>\s?(?:\[![\w-]+\][+-]?\s*)?")
# Long runs of spaces carry no meaning but are slow: every pattern below scans each run several times. So they are cut.
_WIDE = re.compile(r"([^\S\n]{40})[^\S\n]+")
_RULE = re.compile(r"-{3,}|\*{3,}|_{3,}|={3,}")
_HEADING = re.compile(r"(?P<marks>#{1,6})\s+(?P<text>.*?)\s*#*$")
_NUMBERED = re.compile(
    r"(?:\*\*|__)?\s*+(?:(?P<label>(?:question|q)\s*+(?:no|number|nr)?\s*+[.:#]?\s*+|no\s*+[.:#]\s*+)(?P<n>\d{1,4})(?!\d)\s*+[.:)\]–—-]*"
    r"|(?P<m>\d{1,4})[.)](?=\s|\*\*|__|$))\s*+(?P<rest>.*)$",
    re.IGNORECASE,
)
_BOX = re.compile(r"(?:[-*+]|\d{1,2}[.)])\s+\[(?P<mark>[ xX]?)\](?:\s+|$)(?P<text>.*)$")
_OPTION = re.compile(
    r"(?:[-+•]\s+|\*\s+)?(?P<star>\*(?!\*|\s)|[✅✓✔☑]️?\s*)?(?:\*\*|__)?(?:[(\[](?P<p>[A-Za-z])[)\]]|(?P<d>[A-Za-z])(?:\*\*|__)?[.)](?=\s|\*\*|__|(?<=[A-Z].)[A-Z0-9](?![.)]))|(?P<c>[A-Z])(?:\*\*|__)?:(?=\s|\*\*|__))(?:\*\*|__)?\s*(?P<text>\S.*)$"
)
_RIGHT = re.compile(
    r"\s*(?:[(\[]\s*(?:correct|right)(?:\s+answer)?\s*[)\]]|(?:<-+|←)\s*correct|[✅✓✔☑]️?)\s*$", re.IGNORECASE
)
_ANSWER = re.compile(
    r"\W{0,6}(?:(?:show|view|see|reveal)\s+)?(?:the\s+)?(?:(?:correct|right|suggested|official)\s+(?:answer|option|choice)s?|answers?|ans|solutions?|keys?)(?:\(s\))?(?:\s+(?:key|sheet|list)s?|\s*(?:&|and|/|\+)\s*explanations?)?"
    r"(?:\W*$|\s*(?:\*\*|__)?\s*(?:[:：=]|\s[-–—](?=\s)|\s(?:is|are)\b:?)\s*(?:\*\*|__)?\s*(?P<key>.*)$)",
    re.IGNORECASE,
)
_REMARK = re.compile(
    r"\W{0,6}(?:(?:overall\s+|general\s+)?explanations?|rationale|reason(?:ing)?|why|references?|feedback|discussion|notes?|sources?|topic|domain|difficulty)\b\s*(?:\*\*|__)?\s*(?:[:：]|$)\s*(?:\*\*|__)?\s*(?P<text>.*)$",
    re.IGNORECASE,
)
_HINT = re.compile(r"\W*(?:choose|select|pick)\b.{0,40}$", re.IGNORECASE)
_LETTERS = re.compile(r"\W*[A-H](?:\W{0,3}(?:and\W)?[A-H])*\W*")

# --- the lines of a key at the end: "3. B", "| 3 | B |", "3. **Correct answer: B. Spot**", or "1-A 2-B 3-A,C" on one line

_ENTRY = re.compile(
    r"(?:#{1,6}\s+)?(?:[-*+]\s+)?(?:\*\*|__)?(?:(?:question|q|no)[\s.#]*+)?(?P<n>\d{1,4})(?:\*\*|__)?\s*(?:[.):=|–—-]+|\s)\s*(?:\*\*|__)?\s*(?P<key>[^\s|][^|]*)",
    re.IGNORECASE,
)
_ENTRIES = re.compile(
    r"(?P<n>\d{1,4})\s*[.):=–—-]\s*(?P<key>[A-H](?:[ \t]*[,&+]?[ \t]*[A-H](?![a-z]))*)(?=[\s,;|]+\d|[\s,;|.]*$)"
)
_KEY = re.compile(r"\W*(?:[A-H](?:\W{0,3}[A-H])*\W*$|[A-H]\s*[.):–—-]|(?:correct|right|answer)\b)", re.IGNORECASE)


class _Line(NamedTuple):
    """A line without quote prefixes (">") and HTML tags; `indent` is the number of leading spaces."""

    number: int
    indent: int
    text: str


class _Start(NamedTuple):
    """A line that may begin a question. `level` is its heading level, 0 for none; `number` its question number, if any.

    `labelled` tells whether a label such as "Question" or "No." stands before the number.
    """

    text: str
    level: int = 0
    number: int | None = None
    labelled: bool = False


class _Option(NamedTuple):
    """An option; `letter` is "" for a check box, and `right` tells whether it is marked as right."""

    letter: str
    text: str
    right: bool


@dataclass
class _Entry:
    """One entry of a key at the end: the number of a question and its answer."""

    number: int
    key: str
    explanation: list[str] = field(default_factory=list)


def _lines_of(text: str) -> Iterator[_Line]:
    """Yield the lines, numbered from 1, blank ones as ""; HTML tags split a line into several with the same number."""
    for number, raw in enumerate(text.splitlines(), start=1):
        bare = _QUOTE.sub("", _WIDE.sub(r"\1", raw)).expandtabs(4).rstrip()
        pieces = [piece.strip() for piece in _TAGS.split(bare) if piece.strip()]
        # A line of tags alone yields nothing: it does not count as a blank line.
        for piece in pieces or [""] * (not bare):
            yield _Line(number, len(bare) - len(bare.lstrip()), piece)


def _start(text: str) -> _Start | None:
    """Parse a line that may begin a question; None if it cannot."""
    heading = _HEADING.match(text)
    level, body = (len(heading["marks"]), heading["text"]) if heading else (0, text)
    if (match := _NUMBERED.match(body)) and not _BOX.match(text):
        return _Start(_unbold(match["rest"]), level, int(match["n"] or match["m"]), match["label"] is not None)
    return _Start(_unbold(body), level) if heading else None


def _option(text: str) -> _Option | None:
    """Parse an option, lettered or with a check box; None for other lines."""
    if match := _BOX.match(text):
        return _Option("", _unbold(match["text"]), match["mark"] in ("x", "X"))
    if match := _OPTION.match(text):
        letter, right = match["p"] or match["d"] or match["c"], match["star"] or _RIGHT.search(match["text"])
        return _Option(letter.upper(), _unbold(_RIGHT.sub("", match["text"])), bool(right))
    return None


def _answer(text: str) -> str | None:
    """Return the text after "Answer:"; "" if the answer is on the next line, None if the line is no answer."""
    match = _ANSWER.match(_without_marks(text))
    return (match["key"] or "").strip() if match else None


def _remark(text: str) -> str | None:
    """Return the text after "Explanation:" or a similar label; None for other lines."""
    match = _REMARK.match(_without_marks(text))
    return match["text"].strip() if match else None


def _entries(text: str) -> list[_Entry]:
    """Return the entries on a line of a key; [] for any other line."""
    if not re.search(r"\w", _ENTRIES.sub("", text)):
        return [_Entry(int(m["n"]), m["key"]) for m in _ENTRIES.finditer(text)]
    match = _ENTRY.match(text.strip("| "))
    key = match["key"].strip() if match else ""
    return [_Entry(int(match["n"]), _answer(key) or key)] if match and _KEY.match(key) else []


def _unbold(text: str) -> str:
    """Strip the bold marks around a text, or a single mark whose pair was cut off with the question number."""
    text = text.strip()
    for mark in ("**", "__"):
        if text.count(mark) == 1 or (text.count(mark) == 2 and text.startswith(mark) and text.endswith(mark)):
            return text.removeprefix(mark).removesuffix(mark).strip()
    return text


def _without_marks(text: str) -> str:
    return re.sub(r"^(?:#{1,6}\s+|[-*+]\s+)", "", text)


# --- from lines to questions


@dataclass
class _Item:
    """A question whose lines are being collected; the flags tell where the next line belongs."""

    line: int
    first: _Start
    topic: str
    stem: list[str] = field(default_factory=list)
    options: list[str] = field(default_factory=list)
    marked: list[int] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    explanation: list[str] = field(default_factory=list)
    flaw: str = ""
    boxes: bool = False
    awaits_key: bool = False
    explains: bool = False
    after_blank: bool = False
    ruled: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether only its position marks its beginning: it has neither a heading nor a number."""
        return not self.first.level and self.first.number is None

    @property
    def is_title(self) -> bool:
        """Whether it is a heading without text or options below it."""
        return bool(self.first.level) and not self.options and not any(self.stem)

    @property
    def text(self) -> str:
        """The text of the question; a heading that is not a sentence is only the title of the text below and left out."""
        body, first = "\n".join(self.stem).strip(), self.first.text
        has_title = self.first.level and self.first.number is None and not first.endswith(("?", ".", ":", "…"))
        return body if body and has_title else "\n".join(filter(None, [first, body]))

    @property
    def asks(self) -> bool:
        """Whether it reads like an exam question: it has a "?" or is an item of another kind, such as a hotspot."""
        return "?" in self.text or bool(unaskable(self.text))

    @property
    def is_question(self) -> bool:
        """Whether to report it: it has options, asks something after a number or heading, or is an item of another kind."""
        return bool(self.options) or (self.asks and not self.is_plain) or bool(unaskable(self.text))

    def settled(self) -> Found:
        question = ExamQuestion(
            id="",
            text=self.text,
            options=tuple(without_letters(self.options) if self.boxes else self.options),
            topic=self.topic,
            explanation="\n".join(self.explanation).strip(),
            line=self.line,
        )
        if self.flaw:
            return skipped(question, self.flaw)
        marked = [tuple(self.marked)] * bool(self.marked)
        return settle(question, chain(marked, (read_key(key, question.options) for key in self.keys)))

    def add(self, line: _Line) -> None:
        """Add a line to the part of the question it belongs to."""
        offered, key, said = _option(line.text), _answer(line.text), _remark(line.text)
        if self.awaits_key and self._takes_key(line.text, offered):
            return
        if offered is not None and not self.explains and not self.keys and self._takes_option(offered):
            return
        if not self.options or (not self.explains and _HINT.match(line.text)):
            self.stem.append(line.text)
        elif key is not None and len(self.options) > 1 and not (self.explains and (self.keys or self.marked)):
            self.explains, self.awaits_key = bool(key), not key
            self.keys += [key] * bool(key)
        elif said is None and not self.explains and (not self.after_blank or line.indent > 3):
            self.options[-1] = f"{self.options[-1]} {line.text}".lstrip()
        else:
            self.explains = True
            self.explanation += [line.text] if said is None else [said] * bool(said)

    def _takes_key(self, text: str, offered: _Option | None) -> bool:
        """Take a line below "Answer" as the key or a further part of it; return whether it was taken."""
        bare = re.sub(r"^[-*+•]\s+", "", text)
        is_text = not self.keys and bare.strip(" *_.").casefold() in [o.strip(" .").casefold() for o in self.options]
        is_key = not _answer(text) and ((offered is not None and offered.letter) or _LETTERS.fullmatch(bare) or is_text)
        if is_key:
            self.keys = ["\n".join([*self.keys, bare])]
        else:
            self.awaits_key, self.explains = False, not _answer(text)
        return bool(is_key)

    def _takes_option(self, offered: _Option) -> bool:
        """Take a line as the next option; return whether it was taken. A letter out of order is recorded as a flaw."""
        letters = [chr(ord("A") + i) for i in range(len(self.options) + 1)]
        if self.options and self.boxes == bool(offered.letter):
            return False
        if offered.letter and offered.letter != letters[-1]:
            if self.options:
                self.flaw = self.flaw or f"its options are lettered {', '.join([*letters[:-1], offered.letter])}"
            return bool(self.options)
        self.boxes = not offered.letter
        self.marked += [len(self.options)] * offered.right
        self.options.append(offered.text)
        return True


def read_text(text: str) -> list[Found]:
    """Read the questions in a text; items that look like questions but cannot be asked are reported as skipped."""
    return _Reader(list(_lines_of(text))).read()


class _Reader:
    """Reads the lines in one pass."""

    def __init__(self, lines: Sequence[_Line]) -> None:
        self._lines = lines
        self._items: list[_Item] = []
        self._item: _Item | None = None
        self._topic = ""
        self._unkeyed_from = 0

    def read(self) -> list[Found]:
        position = 0
        while position < len(self._lines):
            if self._opens_key(position):
                position = self._read_key(position)
            else:
                self._take(self._lines[position])
                position += 1
        self._close()
        return [item.settled() for item in self._items if item.is_question]

    # --- the key at the end

    def _opens_key(self, position: int) -> bool:
        """Whether a line begins the key: a title with an entry or a table below, or entries without any title."""
        text = self._lines[position].text
        if not (self._items or self._item):
            return False
        if _answer(text) == "":
            below = next((line.text for line in self._lines[position + 1 : position + 8] if line.text), "")
            return bool(_entries(below)) or below.startswith("|")
        return bool(_entries(text)) and not re.search(r"\w", _ENTRIES.sub("", text))

    def _read_key(self, position: int) -> int:
        """Assign the answers of a key to the questions before it; return the position after the key."""
        self._close()
        found: list[_Entry] = []
        position += not _entries(self._lines[position].text)
        while position < len(self._lines):
            text = self._lines[position].text
            if new := _entries(text):
                found += new
            elif _ends_key(text):
                break
            elif text and found and _option(text) is None:
                said = _remark(text)
                found[-1].explanation.append(text if said is None else said)
            position += 1
        _give_keys([i for i in self._items[self._unkeyed_from :] if i.is_question and not (i.keys or i.marked)], found)
        self._unkeyed_from = len(self._items)
        return position

    # --- one question after another

    def _take(self, line: _Line) -> None:
        if not line.text or _RULE.fullmatch(line.text):
            self._take_blank(is_rule=bool(line.text))
            return
        begun = _start(line.text)
        if begun is not None and _answer(line.text) is None and self._begins(begun, line):
            self._open(line, begun)
        elif self._item is None or ((self._item.is_plain or self._item.ruled) and self._begins_plain(self._item, line)):
            self._open(line, _Start(line.text))
        else:
            self._item.add(line)
        if self._item is not None:
            self._item.after_blank = False

    def _take_blank(self, *, is_rule: bool) -> None:
        item = self._item
        if item is None:
            return
        if is_rule and not item.options and not item.asks:
            self._drop_introduction()
            return
        item.after_blank = True
        item.ruled = item.ruled or is_rule
        into = item.explanation if item.explains else [] if item.options else item.stem
        if into and into[-1]:
            into.append("")

    def _begins(self, begun: _Start, line: _Line) -> bool:
        """Whether a heading or number begins a new question, and not a list within the current one."""
        item = self._item
        if item is None or begun.labelled:
            return True
        if _remark(line.text) is not None:
            return False
        before = item.first.number
        if begun.level:
            return bool(item.options) or before is None or not item.is_title
        if item.options:
            return not (item.explains and begun.number is not None and begun.number < (before or 0))
        if before is None and not item.asks:
            return item.is_title or item.after_blank
        # Without options so far, a number either continues the numbering of questions or belongs to a list in the text.
        if before is None or item.first.level or line.indent:
            return False
        # Markdown allows "1." for every item of a numbered list, so the next question may repeat the number.
        return begun.number == before + 1 or (begun.number == before and item.after_blank and item.asks)

    def _begins_plain(self, item: _Item, line: _Line) -> bool:
        """Whether a paragraph after a finished question is the next question."""
        if not item.options or not item.after_blank or item.awaits_key or _HINT.match(line.text) or line.indent > 3:
            return False
        return all(kind(line.text) is None for kind in (_option, _answer, _remark))

    def _open(self, line: _Line, begun: _Start) -> None:
        self._drop_introduction()
        self._close()
        self._item = _Item(line.number, begun, self._topic)

    def _drop_introduction(self) -> None:
        """Drop an item that asks nothing: its text is an introduction, and its heading the topic of what follows.

        A level-1 heading is a title and only clears the topic.
        """
        item = self._item
        if item is None or item.options or item.asks or item.first.number is not None:
            return
        if item.first.level:
            self._topic = item.first.text if item.first.level > 1 else ""
        self._item = None

    def _close(self) -> None:
        self._items += [self._item] if self._item else []
        self._item = None


def _ends_key(text: str) -> bool:
    """Whether a line ends the key: a heading that is neither remark nor answer, or a question of the next part."""
    if _HEADING.match(text):
        return _remark(text) is None and _answer(text) is None
    return bool(_ENTRY.match(text)) and text.rstrip("* ").endswith("?")


def _give_keys(questions: Sequence[_Item], found: Sequence[_Entry]) -> None:
    """Assign entries by number if a question's number is unique; else in order if there is one entry per question."""
    numbers = [q.first.number for q in questions]
    keyed = [e.number for e in found]
    in_order = keyed == list(range(1, len(questions) + 1))
    for place, question in enumerate(questions):
        if question.first.number is not None and numbers.count(question.first.number) == 1:
            entry = next((e for e in found if e.number == question.first.number), None)
        else:
            entry = found[place] if in_order else None
        if entry is None:
            question.flaw = question.flaw or "the key at the end has no entry that is surely its own"
        elif keyed.count(entry.number) > 1:
            question.flaw = f"the key at the end has two entries for number {entry.number}"
        else:
            question.keys.append(entry.key)
            question.explanation += entry.explanation
