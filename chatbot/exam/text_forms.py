"""Exams written as text or Markdown: check boxes, lettered options, Aiken, `NO.12`; the answer within, after or at the end."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from chatbot.exam.answer_section import Entry, entries, opens_section
from chatbot.exam.settling import Written, unaskable, without_letters
from chatbot.exam.text_lines import Line, OptionLine, Start, answer, detail, lines_of, option, remark, start

_HINT = re.compile(r"^\W*(?:choose|select|pick)\b.{0,40}$", re.IGNORECASE)


@dataclass
class Item:
    """A question while its lines are gathered."""

    line: int
    first: Start
    topic: str = ""
    stem: list[str] = field(default_factory=list)
    options: list[str] = field(default_factory=list)
    marked: list[int] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    explanation: list[str] = field(default_factory=list)
    difficulty: str = ""
    flaw: str = ""
    boxes: bool = False
    # What the next line belongs to.
    awaits_key: bool = False
    explains: bool = False
    after_blank: bool = False
    ruled: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether nothing but its place says that it begins here."""
        return not self.first.level and self.first.number is None and not self.first.labelled

    @property
    def text(self) -> str:
        """The text of the question."""
        body = "\n".join(self.stem).strip()
        first = self.first.text
        # A heading that is no sentence is the title of what stands below it.
        is_title = body and self.first.level and self.first.number is None and not first.endswith(("?", ".", ":", "…"))
        return body if is_title else "\n".join(filter(None, [first, body]))

    @property
    def asks(self) -> bool:
        """Whether its words ask like an exam."""
        return "?" in self.text or bool(unaskable(self.text))

    @property
    def is_title(self) -> bool:
        """Whether it is a heading with no text of its own below."""
        return bool(self.first.level) and not self.options and not any(self.stem)

    @property
    def is_question(self) -> bool:
        """Whether it is worth a word: it has options, or asks like an exam where a number or a heading says that it begins."""
        return bool(self.options) or (self.asks and not self.is_plain) or bool(unaskable(self.text))

    def written(self) -> Written:
        """The question as it stands there."""
        return Written(
            line=self.line,
            text=self.text,
            options=tuple(without_letters(self.options) if self.boxes else self.options),
            keys=tuple(self.keys),
            marked=tuple(self.marked),
            topic=self.topic,
            difficulty=self.difficulty,
            explanation="\n".join(self.explanation).strip(),
            flaw=self.flaw,
        )


def read_text(text: str) -> list[Written]:
    """The questions in a text; what begins like one and is none has a flaw or no options."""
    return _Reader(list(lines_of(text))).read()


class _Reader:
    """Goes through the lines once."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = lines
        self._items: list[Item] = []
        self._item: Item | None = None
        self._topic = ""
        self._unkeyed_from = 0

    def read(self) -> list[Written]:
        position = 0
        while position < len(self._lines):
            if self._opens_section(position):
                position = self._read_section(position)
            else:
                self._take(self._lines[position])
                position += 1
        self._close()
        return [item.written() for item in self._items if item.is_question]

    # --- the key at the end

    def _opens_section(self, position: int) -> bool:
        following = (line.text for line in self._lines[position + 1 : position + 8] if line.text)
        return bool(self._items or self._item) and opens_section(self._lines[position].text, next(following, ""))

    def _read_section(self, position: int) -> int:
        """Give the keys of a section to the questions before it; the position behind it."""
        self._close()
        found, behind = entries(self._lines, position)
        questions = [i for i in self._items[self._unkeyed_from :] if i.is_question and not (i.keys or i.marked)]
        _give_keys(questions, found)
        self._unkeyed_from = len(self._items)
        return behind

    # --- one question after another

    def _take(self, line: Line) -> None:
        if not line.text or line.is_rule:
            self._blank(is_rule=bool(line.text))
            return
        begun = start(line.text)
        if begun is not None and answer(line.text) is None and self._begins(begun, line):
            self._open(line, begun)
        elif self._item is None or ((self._item.is_plain or self._item.ruled) and self._begins_plain(line)):
            self._open(line, Start(line.text, 0, None, False))
        else:
            _add(self._item, line)
        if self._item is not None:
            self._item.after_blank = False

    def _blank(self, *, is_rule: bool) -> None:
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

    def _begins(self, begun: Start, line: Line) -> bool:
        """Whether a heading or a number begins a question here, and not a list within one."""
        item = self._item
        if item is None or begun.labelled:
            return True
        if remark(line.text) is not None:
            return False
        if begun.level:
            return bool(item.options) or not (item.first.number is not None and item.is_title)
        if item.first.number is None and not item.options and not item.asks:
            return item.is_title or item.after_blank
        if item.options:
            return not (item.explains and begun.number is not None and begun.number < (item.first.number or 0))
        # Without options so far, a number goes on with the numbering or belongs to a list in the text.
        before = item.first.number
        if before is None or item.first.level or line.indent:
            return False
        # Markdown numbers a list as well when every item is written as "1.".
        return begun.number == before + 1 or (begun.number == before and item.after_blank and item.asks)

    def _begins_plain(self, line: Line) -> bool:
        """Whether a paragraph behind a finished question is the next one."""
        item = self._item
        assert item is not None
        if not item.options or not item.after_blank or _HINT.match(line.text) or line.indent > 3:
            return False
        return all(found is None for found in (option(line.text), answer(line.text), remark(line.text), detail(line.text))) and not item.awaits_key  # fmt: skip

    def _open(self, line: Line, begun: Start) -> None:
        self._drop_introduction()
        self._close()
        self._item = Item(line.number, begun, topic=self._topic)

    def _drop_introduction(self) -> None:
        """A heading that asks nothing names the topic of what follows, and the words below it introduce that."""
        item = self._item
        if item is None or item.options or item.asks or item.first.number is not None or item.first.labelled:
            return
        if item.first.level:
            self._topic = item.first.text if item.first.level > 1 else ""
        self._item = None

    def _close(self) -> None:
        if self._item is not None:
            self._items.append(self._item)
        self._item = None


def _give_keys(questions: Sequence[Item], found: Sequence[Entry]) -> None:
    """By number where numbers are unique; in order where there is an entry for each question."""
    numbers = [q.first.number for q in questions]
    by_number = {e.number: e for e in found}
    in_order = [e.number for e in found] == list(range(1, len(questions) + 1))
    for place, question in enumerate(questions):
        if question.first.number is not None and numbers.count(question.first.number) == 1:
            entry = by_number.get(question.first.number)
        else:
            entry = found[place] if in_order else None
        if entry is None:
            question.flaw = question.flaw or "the key at the end has no entry that is surely its own"
        elif [e.number for e in found].count(entry.number) > 1:
            question.flaw = f"the key at the end has two entries for number {entry.number}"
        else:
            question.keys.append(entry.key)
            question.explanation.extend(entry.explanation)


# --- one line after another within a question


def _add(item: Item, line: Line) -> None:
    """Put a line where it belongs within a question."""
    offered = option(line.text)
    if item.awaits_key and _add_awaited_key(item, line, offered):
        return
    key = answer(line.text) if len(item.options) > 1 else None
    said = remark(line.text) if item.options else None
    known = detail(line.text) if item.options else None
    if offered is not None and not item.explains and not item.keys and _add_option(item, offered):
        return
    if key is not None and not (item.explains and (item.keys or item.marked)):
        item.explains, item.awaits_key = bool(key), not key
        item.keys += [key] * bool(key)
    elif known is not None:
        item.topic, item.difficulty = (known[1], item.difficulty) if known[0] == "topic" else (item.topic, known[1])
    elif said is not None:
        item.explains = True
        item.explanation += [said] * bool(said)
    elif item.explains:
        item.explanation.append(line.text)
    elif item.options:
        _add_behind_options(item, line)
    else:
        item.stem.append(line.text)


def _add_awaited_key(item: Item, line: Line, offered: OptionLine | None) -> bool:
    """Whether a line below "Answer" is the key, or one more part of it."""
    if answer(line.text):
        item.awaits_key = False
        return False
    bare = re.sub(r"^[-*+•]\s+", "", line.text)
    if (offered is not None and not offered.box) or re.fullmatch(r"[\W]*[A-H](?:\W{0,3}(?:and\W)?[A-H])*\W*", bare):
        item.keys = ["\n".join([*item.keys, bare])]
        return True
    if not item.keys and any(bare.strip(" *_.").casefold() == o.strip(" .").casefold() for o in item.options):
        item.keys = [bare]
        return True
    item.awaits_key, item.explains = False, True
    return False


def _add_option(item: Item, offered: OptionLine) -> bool:
    """Whether a line is the next option; one that is lettered out of turn is a flaw."""
    expected = chr(ord("A") + len(item.options))
    if offered.box != item.boxes and item.options:
        return False
    if offered.letter and offered.letter != expected:
        if item.options:
            letters = [chr(ord("A") + i) for i in range(len(item.options))]
            item.flaw = item.flaw or f"its options are lettered {', '.join([*letters, offered.letter])}"
        return bool(item.options)
    item.boxes = offered.box
    item.marked += [len(item.options)] * offered.right
    item.options.append(offered.text)
    return True


def _add_behind_options(item: Item, line: Line) -> None:
    if _HINT.match(line.text):
        item.stem.append(line.text)
    elif not item.after_blank or line.indent > 3:
        item.options[-1] = f"{item.options[-1]} {line.text}"
    else:
        item.explains = True
        item.explanation.append(line.text)
