"""Verified streaming: a model's pieces are held until a sentence is whole, checked, then shown."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from chatbot.answer import REFUSAL, Citation, Statement
from chatbot.citations import (
    Checked,
    Evidence,
    Place,
    SecondOpinion,
    Verified,
    bare,
    check,
    check_cell,
    list_mark,
    only_refuses,
    opened,
    statement,
)
from chatbot.evidence import sentences
from chatbot.evidence.wording import SENTENCE_END
from chatbot.llm.prompts import repeats_rules
from chatbot.llm.transcript import LINE_ENDS, is_fit
from chatbot.marks import clauses_of, in_brackets, marked_numbers, marked_sentences, without_marks
from chatbot.names import mentioned

_LINE_END = re.compile(rf"\r\n|[{LINE_ENDS}]")
# The quotation marks and spaces between two sentences; where there are more, what came is shown a sentence later.
_LONGEST_END = 64
# Marks that were never finished: "72 W [2", "72 W [".
_HALF_AT_END = re.compile(r"\s*\[[\d\s,;–-]*\Z")
# Lines that are no sentences: a heading, a line of a table.
_STRUCTURE = re.compile(r"\s*(?:#|\|)")
_HEADING = re.compile(r"(?P<depth>#{1,6})\s+(?P<text>.+?)\s*#*$")
_RULE = re.compile(r":?-{1,}:?")
_LEAD = re.compile(r"[^.!?|]*:\s*\**|\*\*[^.!?*]+\*\*:?")
_LONGEST_LEAD, _LONGEST_ADMISSION = 14, 25
# A lead stands under every heading.
_DEEPEST = 7
_UNKNOWN = re.compile(r"(?:n/?a|unknown|none given|not (?:stated|given|said|specified|published|mentioned|available|in the (?:sources|passages)).*|no (?:data|figure))", re.IGNORECASE)
# "The sources do not say what it costs": no more than that, so nothing is behind a comma or a "but".
_ADMISSION = re.compile(
    r"(?:(?:however|but|unfortunately|also|though|still|yet),? )?(?:(?:the|these|those|none of the|my) )?(?:(?:provided|given|available|cited|retrieved) )?(?:sources?|passages?|documents?|excerpts?|context|material)\b"
    r"[^.;:]{0,30}?\b(?:(?:do|does|did) not|don['’]t|doesn['’]t|cannot|never|no longer|contains? no|has no|have no|gives? no|says? nothing)\b[^;:]*$"
    r"|(?:.{0,60}? )?(?:is|are) not (?:stated|given|said|mentioned|covered|specified|addressed|published|in|found in) (?:in |by )?the (?:sources|passages|documents)\.?$",
    re.IGNORECASE,
)
# A sentence of so many words that comes again is a repetition; of so many repetitions a circle is made.
_SAYS_SOMETHING, _LOOPS = 4, 3


@dataclass
class SentenceStream:
    """Verifies a text that comes in pieces; however it is cut, what is shown is the same.

    A sentence is checked by `citations.check`; one without a key by those of the sentence that the paragraph ends with, else against all
    that there is. Headings and lines that lead to a list are shown with the first thing under them that holds, table cells are checked
    one by one, each with its row's and its column's name. Nothing is shown before something is cited, nothing at all of a text that
    opens with the refusal, nothing that is not fit to be shown, and nothing twice.
    """

    evidence: Sequence[Evidence]
    given: Sequence[str] = ()
    question: str = ""
    second: SecondOpinion | None = None
    _buffer: str = ""
    _looked: int = 0
    _settled: int = 0
    # That of the current line, where its first sentences are settled and no longer in the buffer.
    _opening: str | None = None
    _refuses: bool = False
    _admits: bool = False
    _shown: str = ""
    _held: str = ""
    _breaks: int = 0
    _line_begun: bool = False
    # Headings and leads that nothing stands under yet, each with its depth; and whether something under the last did not hold.
    _leads: list[tuple[int, str]] = field(default_factory=list)
    _failed: bool = False
    # The names of the columns of the table that is being read, and whether the line under them has come.
    _head: list[str] = field(default_factory=list)
    _ruled: bool = False
    _numbers: dict[Place, int] = field(default_factory=dict)
    _citations: list[Citation] = field(default_factory=list)
    _dropped: list[str] = field(default_factory=list)
    _statements: list[Statement] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)
    _repeated: int = 0

    def push(self, piece: str) -> str:
        """Take a piece; what can be shown now, often nothing."""
        # What came before holds no line end but a carriage return that waits for its line feed.
        sought = max(0, len(self._buffer) - 1)
        self._buffer += piece
        while (end := _line_end(self._buffer, sought)) is not None:
            line, self._buffer = self._buffer[: end[0]], self._buffer[end[1] :]
            sought = self._looked = 0
            self._read(line, whole=True)
        if self._has_new_sentence():
            self._read(self._buffer, whole=False)
        return self._release()

    def close(self) -> str:
        """The text has ended; what can still be shown."""
        self._read(_HALF_AT_END.sub("", self._buffer.rstrip("\r")), whole=True)
        self._buffer = ""
        return self._release()

    def begin_again(self) -> None:
        """Go on with another text behind what was shown; what did not hold of the one before does not count."""
        self.close()
        self._dropped.clear()
        self._leads.clear()
        self._end_table()
        self._refuses = self._admits = False
        self._breaks += 2 if self._shown else 0

    @property
    def verified(self) -> Verified:
        """What has been shown so far, as `verify` gives it."""
        cited, said = (tuple(self._citations), tuple(self._statements)) if self._shown else ((), ())
        return Verified(self._shown, cited, tuple(self._dropped), said)

    @property
    def refuses(self) -> bool:
        """Whether the text itself says that the sources do not answer, and nothing else that holds."""
        return self._refuses or (self._admits and not self._citations)

    @property
    def loops(self) -> bool:
        """Whether the text goes round in circles, so that there is nothing more to read."""
        return self._repeated >= _LOOPS

    def _has_new_sentence(self) -> bool:
        """Whether a sentence of the current line may have ended since this was last asked: else there is nothing to read again."""
        ends = [match.end() for match in SENTENCE_END.finditer(self._buffer, self._looked)]
        self._looked = ends[-1] if ends else max(self._looked, len(self._buffer) - _LONGEST_END)
        return bool(ends) and not _STRUCTURE.match(self._buffer)

    def _read(self, line: str, *, whole: bool) -> None:
        """Check the sentences of the current line that nothing to come can change."""
        begins = self._settled == 0 and self._opening is None
        if begins and _STRUCTURE.match(line):
            if whole:
                self._read_structure(line.strip())
            return
        if begins and self._head:
            self._end_table()
        line = in_brackets(line, len(self.evidence))
        opening, rest = opened(line, self.given) if self._opening is None else (self._opening, line)
        if begins and self._failed and line.strip() and not list_mark(line):
            self._leads.clear()
        found, left = (marked_sentences(rest), "") if whole else self._final(line, rest)
        for number, sentence in enumerate(found[self._settled :], start=self._settled):
            keys = _keys(sentence) or next(filter(None, map(_keys, found[number + 1 :])), "")
            if not (keys or whole or only_refuses(sentence)):
                break  # the paragraph may end with keys
            self._settled += 1
            self._check(sentence, opening, keys)
        if whole:
            if self._line_begun or (self._opening is None and not line.strip()):
                self._breaks += 1
            self._settled, self._line_begun, self._opening = 0, False, None
        elif found and left is not None and self._settled == len(found):
            self._settled, self._looked, self._opening, self._buffer = 0, 0, opening, left

    def _final(self, line: str, rest: str) -> tuple[list[str], str | None]:
        """The sentences that nothing to come can change, and what is left behind them where that can be read by itself."""
        after = line[len(list_mark(line)) :]
        if self._opening is None and any(f"{text}: ".startswith(after) for text in self.given):
            return [], None
        # The last sentence may go on; the one before it may still get the marks that the last begins with.
        spans = sentences(rest)[:-1]
        found = marked_sentences(rest[: spans[-1][1]]) if spans else []
        if found and without_marks(found[-1]) != found[-1]:
            return found, rest[spans[-1][1] :]
        return found[:-1], None

    def _check(self, sentence: str, opening: str, keys: str) -> None:
        if sentence == REFUSAL and not (self._shown or self._held.strip() or self._dropped or self._leads):
            self._refuses = True
        if self._was_said(sentence):
            return
        if not is_fit(sentence) or repeats_rules(sentence):
            self._drop(sentence)
        elif not _keys(sentence) and self._is_lead(sentence):
            self._lead(_DEEPEST, opening + sentence)
        elif (checked := self._held_up(sentence, keys)) is None:
            self._drop(sentence)
        else:
            self._show(" " if self._line_begun else opening, checked)

    def _held_up(self, sentence: str, keys: str) -> Checked | None:
        """A sentence as it is shown; where its keys do not bear it out it is no other's either, without any key all may."""
        if self._admission(sentence):
            self._admits = True
            return Checked(without_marks(sentence).strip(), ())
        if _keys(sentence) or only_refuses(sentence):
            return self._checked(sentence)
        everything = "".join(f"[{n}]" for n in range(1, len(self.evidence) + 1))
        tried = (self._checked(_with_keys(sentence, some)) for some in dict.fromkeys((keys, everything)) if some)
        return next((checked for checked in tried if checked), None)

    def _checked(self, sentence: str) -> Checked | None:
        return check(sentence, self.evidence, self._numbers, own_words=True, question=self.question, second=self.second)

    def _admission(self, sentence: str) -> bool:
        """Whether a sentence says no more than what the sources do not say, of nothing that nobody spoke of."""
        said = without_marks(sentence)
        return bool(_ADMISSION.match(said)) and len(said.split()) <= _LONGEST_ADMISSION and self._is_spoken_of(said)

    def _is_lead(self, sentence: str) -> bool:
        """Whether a line claims nothing and leads to what stands under it: "Why Trn2:", "**Cost**"."""
        return bool(_LEAD.fullmatch(sentence)) and len(sentence.split()) <= _LONGEST_LEAD and self._is_spoken_of(sentence)

    def _is_spoken_of(self, text: str) -> bool:
        """Whether the numbers and names of a text stand in the question or in what may be cited."""
        words = set(re.findall(r"[\w.-]*\d[\w.-]*(?<![.-])", text.lower()))
        return not words or words <= self._known_words()

    def _known_words(self) -> set[str]:
        texts = [self.question, *(piece.passage.chunk.text for piece in self.evidence)]
        return {word for text in texts for word in re.findall(r"[\w.-]*\d[\w.-]*(?<![.-])", text.lower())}

    def _was_said(self, sentence: str) -> bool:
        """Whether the same was said before: a model that goes round in circles is not followed."""
        words = re.findall(r"\w+", without_marks(sentence).lower())
        said = " ".join(words)
        if len(words) >= _SAYS_SOMETHING and (said in self._seen or len(set(words)) < len(words) / 3):
            self._repeated += 1
            return True
        self._seen.add(said)
        return False

    # --- headings, leads and tables ---

    def _read_structure(self, line: str) -> None:
        """A heading, or a line of a table."""
        if heading := _HEADING.match(line):
            self._end_table()
            text = without_marks(in_brackets(heading["text"], 0)).strip()
            if is_fit(text) and len(text.split()) <= _LONGEST_LEAD and self._is_spoken_of(text):
                self._lead(len(heading["depth"]), f"{heading['depth']} {text}")
            self._breaks += 1
            return
        cells = _cells(line)
        if not self._head:
            self._head = cells
        elif not self._ruled and all(_RULE.fullmatch(cell) for cell in cells):
            self._ruled = True
            if all(is_fit(cell) and self._is_spoken_of(cell) for cell in self._head):
                self._lead(_DEEPEST + 1, f"{_row(self._head)}\n{_row(['---'] * len(self._head))}")
            else:
                self._head = [""] * len(self._head)
        else:
            self._read_row(cells, in_brackets(line, len(self.evidence)))
        self._breaks += 1

    def _read_row(self, cells: Sequence[str], line: str) -> None:
        """A row of a table: the cells that hold, in their columns."""
        name, head = without_marks(in_brackets(cells[0], 0)).strip(" *"), self._head
        keys = _keys(line) or "".join(f"[{n}]" for n in range(1, len(self.evidence) + 1))
        told = [in_brackets(cells[0], 0)]
        cited: list[Citation] = []
        for column, cell in enumerate(cells[1:], start=1):
            text = in_brackets(cell, len(self.evidence))
            said = without_marks(text).strip(" *")
            if not re.search(r"\w", said) or _UNKNOWN.fullmatch(said):
                told.append(said or "–")
                continue
            about = head[column].strip(" *") if column < len(head) else ""
            checked = self._cell(name, about, said, _keys(text) or keys) if is_fit(said) else None
            if checked is None:
                self._dropped.append(f"{name}: {about}: {said}")
                told.append("–")
            else:
                cited += checked.citations
                told.append(f"{said} {''.join(dict.fromkeys(f'[{c.number}]' for c in checked.citations))}")
        if cited and is_fit(name):
            self._show("", Checked(_row(told), tuple(cited)))
        self._line_begun = False

    def _cell(self, name: str, about: str, said: str, keys: str) -> Checked | None:
        """A cell that a row of the thing has, or that bears reading as a sentence."""
        # Things stand in rows or, of a comparison, in columns.
        thing, its = (about, name) if mentioned(about) and not mentioned(name) else (name, about)
        claim = f"The {its[:1].lower()}{its[1:]} of {thing} is {said}" if its else f"{thing}: {said}"
        cited = [self.evidence[n - 1] for n in marked_numbers(keys) if 1 <= n <= len(self.evidence)]
        return check_cell(thing, its, said, [*cited, *self.evidence], self._numbers) or self._checked(_with_keys(claim, keys))

    def _end_table(self) -> None:
        self._head, self._ruled = [], False

    def _lead(self, depth: int, text: str) -> None:
        """Hold a line until something under it is shown, in place of those that nothing came of."""
        self._leads = [lead for lead in self._leads if lead[0] < depth]
        self._leads.append((depth, (" " if self._line_begun else "\n" * min(self._breaks, 2)) + text))
        self._failed, self._breaks = False, 0
        self._line_begun = depth == _DEEPEST

    def _show(self, before: str, checked: Checked) -> None:
        leads = "".join(text for _, text in self._leads)
        gap = before if self._line_begun else "\n" * (min(self._breaks, 2) or bool(leads)) + before
        self._held += leads + gap + checked.text
        self._leads, self._failed = [], False
        self._line_begun, self._breaks = True, 0
        self._statements.append(statement(checked, before, len(self._statements)))
        self._citations += [c for c in checked.citations if c not in self._citations]

    def _drop(self, sentence: str) -> None:
        self._dropped.append(bare(sentence))
        self._failed = True

    def _release(self) -> str:
        if not self._citations or self._refuses:
            return ""
        text = self._held if self._shown else self._held.lstrip()
        self._shown += text
        self._held = ""
        return text


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _keys(sentence: str) -> str:
    """The keys in a sentence, each as `[n]`."""
    return "".join(f"[{n}]" for n in dict.fromkeys(n for clause in clauses_of(sentence) for n in clause.numbers))


def _with_keys(sentence: str, keys: str) -> str:
    return f"{sentence.rstrip('. ')} {keys}."


def _line_end(text: str, start: int) -> tuple[int, int] | None:
    """Where the first line of a text ends and the next begins; a carriage return at the very end may have a line feed to come."""
    match = _LINE_END.search(text, start)
    return None if match is None or (match.group() == "\r" and match.end() == len(text)) else match.span()
