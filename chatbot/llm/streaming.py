"""Verified streaming: the pieces that a model writes are held until a sentence is complete, checked, then shown."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from chatbot.answer import REFUSAL, Citation, Statement
from chatbot.language.names import mentioned
from chatbot.language.wording import SENTENCE_END, sentences
from chatbot.llm.prompts import repeats_rules
from chatbot.llm.transcript import LINE_ENDS
from chatbot.verification.citations import (
    REFERS_BACK,
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
from chatbot.verification.fit import is_fit
from chatbot.verification.marks import clauses_of, in_brackets, marked_numbers, marked_sentences, without_marks

_LINE_END = re.compile(rf"\r\n|[{LINE_ENDS}]")
# The most characters of quotation marks and spaces between two sentences; with more, text is shown one sentence later.
_LONGEST_END = 64
# Unfinished marks at the end of a text: "72 W [2", "72 W [".
_HALF_AT_END = re.compile(r"\s*\[[\d\s,;–-]*\Z")
# Lines that are not sentences: a heading, a line of a table.
_STRUCTURE = re.compile(r"\s*(?:#|\|)")
_HEADING = re.compile(r"(?P<depth>#{1,6})\s+(?P<text>.+?)\s*#*$")
_RULE = re.compile(r":?-{1,}:?")
_LEAD = re.compile(r"(?:[^.!?|]|\.(?=\w))*:\s*\**|\*\*(?:[^.!?*]|\.(?=\w))+\*\*:?")
# "**Memory:** 512 GB": a short value behind its label, as in a cell of a table.
_VALUE = re.compile(r"\W*(?P<label>[^.:*]{2,40})(?::\*\*|\*\*:|:)\s+(?P<said>\S+(?: \S+){0,6}?)[.\s]*")
_LONGEST_LEAD, _LONGEST_ADMISSION = 14, 25
# The depth of a lead-in, which stands below every heading.
_DEEPEST = 7
_UNKNOWN = re.compile(r"(?:n/?a|unknown|none given|not (?:stated|given|said|specified|published|mentioned|available|in the (?:sources|passages)).*|no (?:data|figure))", re.IGNORECASE)
# "The sources do not say what it costs": a sentence about what the sources lack. Nothing that may add a claim follows.
_ASKS = r"(?:what|which|how|whether|when|where|who|why|if)\b"
_NO_MORE = (
    rf"(?:(?!\b(?:so|but|yet|though|although|however|therefore|thus|hence|because|since|while|whereas|and(?! {_ASKS}))\b"
    rf"|,(?! (?:or|nor|how|whether|what|when|where)\b)|\s[–-]\s|[;:—]).)"
)
_ADMISSION = re.compile(
    r"(?:(?:however|but|unfortunately|also|though|still|yet),? )?(?:(?:the|these|those|none of the|my) )?(?:(?:provided|given|available|cited|retrieved) )?(?:sources?|passages?|documents?|excerpts?|context|material)\b"
    rf"(?:, however,)?(?:(?!\.){_NO_MORE}){{0,30}}?\b(?:(?:do|does|did) not|don['’]t|doesn['’]t|cannot|never|no longer|contains? no|has no|have no|gives? no|says? nothing)\b{_NO_MORE}*$"
    rf"|(?:{_NO_MORE}{{0,60}}? )?(?:is|are) not (?:stated|given|said|mentioned|covered|specified|addressed|published|in|found in) (?:in |by )?the (?:sources|passages|documents)\.?$",
    re.IGNORECASE,
)
# What claims nothing, so that nobody misses it: a list of keys, and courtesies.
_COURTESY = re.compile(
    r"\W*(?:(?:sources?|references?|citations?|keys?)\W*|(?:sure|certainly|absolutely|of course|you['’]re welcome|thank(?:s| you)|(?:great|good) question)\b.{0,16}"
    r"|(?:(?:please|just|and|but|so) )*(?:let me know|feel free|do(?: not|n['’]t) hesitate|(?:i )?hope (?:this|that|it)|(?:i['’]m|i am|i['’]d be|i would be|always)? ?(?:happy|glad) to"
    r"|would you like|do you want|shall i|should i|want me to|i can also|if (?:you|there|anything)\b.*\b(?:let me know|tell me|just ask|feel free|i can|i['’]ll|i will|happy to|glad to))\b.*)",
    re.IGNORECASE,
)
# A sentence of at least _SAYS_SOMETHING words that comes again is a repetition; with _LOOPS of these a text is looping.
_SAYS_SOMETHING, _LOOPS = 4, 3


@dataclass
class SentenceStream:
    """Verifies a text that comes in pieces; however it is cut, what is shown is the same.

    A sentence is checked by `citations.check`. One without a key is checked with the keys of the next sentence of its
    paragraph that has some, else against all evidence. Headings and lead-ins to a list are shown with the first verified
    thing under them. Table cells are checked one by one, each with the name of its row and column. Nothing is shown before
    something is cited, nothing at all of a text that opens with the refusal, nothing that is not fit to be shown, and
    nothing twice.
    """

    evidence: Sequence[Evidence]
    given: Sequence[str] = ()
    question: str = ""
    second: SecondOpinion | None = None
    _buffer: str = ""
    _looked: int = 0
    _settled: int = 0
    # The opening of the current line, once its first sentences are settled and no longer in the buffer.
    _opening: str | None = None
    _refuses: bool = False
    _admits: bool = False
    _shown: str = ""
    _held: str = ""
    _breaks: int = 0
    _line_begun: bool = False
    # The headings and lead-ins that the current line stands under, with their depths.
    _above: list[tuple[int, str]] = field(default_factory=list)
    # The sentence before, in whatever form it was written.
    _last: str = ""
    # Those of them with nothing shown under them yet, as they are shown; and whether something under the last one failed.
    _leads: list[tuple[int, str]] = field(default_factory=list)
    _failed: bool = False
    # The column names of the table that is being read, and whether the rule under them has come.
    _head: list[str] = field(default_factory=list)
    _ruled: bool = False
    _numbers: dict[Place, int] = field(default_factory=dict)
    _citations: list[Citation] = field(default_factory=list)
    _dropped: list[str] = field(default_factory=list)
    _statements: list[Statement] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)
    _repeated: int = 0

    def push(self, piece: str) -> str:
        """Add a piece and return what can be shown now, often nothing."""
        # The only line end left in the buffer can be a final carriage return that waits for its line feed.
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
        """End the text and return what can still be shown."""
        self._read(_HALF_AT_END.sub("", self._buffer.rstrip("\r")), whole=True)
        self._buffer = ""
        return self._release()

    def begin_again(self) -> None:
        """Continue with another text after what was shown; the dropped sentences of the one before no longer count."""
        self.close()
        self._dropped.clear()
        self._leads.clear()
        self._above.clear()
        self._end_table()
        self._refuses = self._admits = False
        self._breaks += 2 if self._shown else 0

    @property
    def verified(self) -> Verified:
        """What has been shown so far, in the form that `verify` returns."""
        cited, said = (tuple(self._citations), tuple(self._statements)) if self._shown else ((), ())
        return Verified(self._shown, cited, tuple(self._dropped), said)

    @property
    def refuses(self) -> bool:
        """Whether the text itself says that the sources do not answer, and has nothing else that is verified."""
        return self._refuses or (self._admits and not self._citations)

    @property
    def loops(self) -> bool:
        """Whether the text goes round in circles, so that reading can stop."""
        return self._repeated >= _LOOPS

    def _has_new_sentence(self) -> bool:
        """Whether a sentence of the current line may have ended since the last call; else there is nothing to read again."""
        ends = [match.end() for match in SENTENCE_END.finditer(self._buffer, self._looked)]
        self._looked = ends[-1] if ends else max(self._looked, len(self._buffer) - _LONGEST_END)
        return bool(ends) and not _STRUCTURE.match(self._buffer)

    def _read(self, line: str, *, whole: bool) -> None:
        """Check the sentences of the current line that later text cannot change."""
        begins = self._settled == 0 and self._opening is None
        if begins and _STRUCTURE.match(line):
            if whole:
                self._read_structure(line.strip())
            return
        if begins and self._head:
            self._end_table()
        line = in_brackets(line, len(self.evidence))
        opening, rest = opened(line, self.given) if self._opening is None else (self._opening, line)
        if begins and line.strip() and not list_mark(line):
            self._above = [above for above in self._above if above[0] < _DEEPEST]
            if self._failed:
                self._leads.clear()
        found, left = (marked_sentences(rest), "") if whole else self._final(line, rest)
        for number, sentence in enumerate(found[self._settled :], start=self._settled):
            keys = _keys(sentence) or next(filter(None, map(_keys, found[number + 1 :])), "")
            if not (keys or whole or only_refuses(sentence)):
                break  # keys may still follow later in the paragraph
            self._settled += 1
            self._check(sentence, opening, keys)
        if whole:
            if self._line_begun or (self._opening is None and not line.strip()):
                self._breaks += 1
            self._settled, self._line_begun, self._opening = 0, False, None
        elif found and left is not None and self._settled == len(found):
            self._settled, self._looked, self._opening, self._buffer = 0, 0, opening, left

    def _final(self, line: str, rest: str) -> tuple[list[str], str | None]:
        """Return the sentences that later text cannot change, and the rest, which is None if it cannot be read by itself."""
        after = line[len(list_mark(line)) :]
        if self._opening is None and any(f"{text}: ".startswith(after) for text in self.given):
            return [], None
        # The last sentence may continue; the one before it may still get the marks that the last one begins with.
        spans = sentences(rest)[:-1]
        found = marked_sentences(rest[: spans[-1][1]]) if spans else []
        if found and without_marks(found[-1]) != found[-1]:
            return found, rest[spans[-1][1] :]
        return found[:-1], None

    def _check(self, sentence: str, opening: str, keys: str) -> None:
        if sentence == REFUSAL and not (self._shown or self._held.strip() or self._dropped or self._leads):
            self._refuses = True
        if self._was_said(sentence) or _COURTESY.fullmatch(bare(sentence)):
            return
        if not is_fit(sentence) or repeats_rules(sentence):
            self._drop(sentence)
        elif not _keys(sentence) and self._is_lead(sentence):
            self._lead(_DEEPEST, opening + sentence)
        elif (checked := self._held_up(sentence, keys)) is None:
            self._drop(sentence)
        else:
            self._show(" " if self._line_begun else opening, checked)
        self._last = without_marks(sentence)

    def _held_up(self, sentence: str, keys: str) -> Checked | None:
        """Return a sentence as it is shown, None if it is not verified.

        With keys of its own, only these are tried; without any, those of its paragraph (`keys`), then all evidence.
        """
        if self._admission(sentence):
            self._admits = True
            return Checked(without_marks(sentence).strip(), ())
        if value := self._value(sentence, keys):
            return value
        if _keys(sentence) or only_refuses(sentence):
            return self._checked(sentence)
        everything = "".join(f"[{n}]" for n in range(1, len(self.evidence) + 1))
        tried = (self._checked(_with_keys(sentence, some)) for some in dict.fromkeys((keys, everything)) if some)
        return next((checked for checked in tried if checked), None)

    def _checked(self, sentence: str) -> Checked | None:
        return check(
            sentence, self.evidence, self._numbers, own_words=True, question=self.question, subject=self._subject(sentence), second=self.second
        )

    def _value(self, sentence: str, keys: str) -> Checked | None:
        """Check a value behind its label, under a lead that names one thing, as a cell of that thing's row."""
        said, above = without_marks(sentence), next((text for _, text in reversed(self._above) if mentioned(text)), "")
        if len(mentioned(above)) != 1 or not (value := _VALUE.fullmatch(said)):
            return None
        checked = check_cell(above, value["label"], value["said"], self._cited(keys), self._numbers)
        return checked and replace(checked, text=f"{said.rstrip('. ')} {''.join(f'[{c.number}]' for c in checked.citations)}")

    def _cited(self, keys: str) -> list[Evidence]:
        """Return the evidence of the keys, then all evidence."""
        return [*(self.evidence[n - 1] for n in marked_numbers(keys) if 1 <= n <= len(self.evidence)), *self.evidence]

    def _subject(self, sentence: str) -> str:
        """Return what a sentence that names nothing is about: what the sentence before names if it refers back to that, else
        what stands above it."""
        if mentioned(sentence):
            return ""
        before = [self._last] if REFERS_BACK.match(sentence) else []
        return next((text for text in (*before, *(text for _, text in reversed(self._above))) if mentioned(text)), "")

    def _admission(self, sentence: str) -> bool:
        """Whether a sentence reports what the sources do not say, about something that the question or evidence mentions."""
        said = without_marks(sentence)
        return bool(_ADMISSION.match(said)) and len(said.split()) <= _LONGEST_ADMISSION and self._is_spoken_of(said)

    def _is_lead(self, sentence: str) -> bool:
        """Whether a line claims nothing and only leads to what stands under it: "Why Trn2:", "**Cost**"."""
        return bool(_LEAD.fullmatch(sentence)) and len(sentence.split()) <= _LONGEST_LEAD and self._is_spoken_of(sentence)

    def _is_spoken_of(self, text: str) -> bool:
        """Whether all words with a digit in a text (numbers, many names) stand in the question or the evidence."""
        words = set(re.findall(r"[\w.-]*\d[\w.-]*(?<![.-])", text.lower()))
        return not words or words <= self._known_words()

    def _known_words(self) -> set[str]:
        texts = [self.question, *(piece.passage.chunk.text for piece in self.evidence)]
        return {word for text in texts for word in re.findall(r"[\w.-]*\d[\w.-]*(?<![.-])", text.lower())}

    def _was_said(self, sentence: str) -> bool:
        """Whether a sentence repeats an earlier one or itself; repetitions are counted to detect a text that loops."""
        words = re.findall(r"\w+", without_marks(sentence).lower())
        said = " ".join(words)
        if len(words) >= _SAYS_SOMETHING and (said in self._seen or len(set(words)) < len(words) / 3):
            self._repeated += 1
            return True
        self._seen.add(said)
        return False

    # --- headings, leads and tables ---

    def _read_structure(self, line: str) -> None:
        """Read a heading, or a line of a table."""
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
        elif not self._read_row(cells, in_brackets(line, len(self.evidence))):
            return
        self._breaks += 1

    def _read_row(self, cells: Sequence[str], line: str) -> bool:
        """Check the row of a table and show its verified cells, in their columns; return whether any was shown."""
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
        is_shown = bool(cited) and is_fit(name)
        if is_shown:
            self._show("", Checked(_row(told), tuple(cited)))
        self._line_begun = False
        return is_shown

    def _cell(self, name: str, about: str, said: str, keys: str) -> Checked | None:
        """Check a cell against the table rows of its thing, else as a sentence; None if it is not verified."""
        # Things stand in rows or, in some comparisons, in columns.
        thing, its = (about, name) if mentioned(about) and not mentioned(name) else (name, about)
        claim = f"The {its[:1].lower()}{its[1:]} of {thing} is {said}" if its else f"{thing}: {said}"
        return check_cell(thing, its, said, self._cited(keys), self._numbers) or self._checked(_with_keys(claim, keys))

    def _end_table(self) -> None:
        self._head, self._ruled = [], False

    def _lead(self, depth: int, text: str) -> None:
        """Hold a heading or lead-in until something under it is shown; it replaces held ones of its depth or deeper."""
        self._above = [*(above for above in self._above if above[0] < depth), (depth, re.sub(r"[#*`]", "", text).strip(" :"))]
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
        self._statements.append(statement(checked, before, self._statements))
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
    # One pipe at each end is the frame; a second one is that of an empty cell.
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|"))]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _keys(sentence: str) -> str:
    """Return the keys in a sentence, each as `[n]`."""
    return "".join(f"[{n}]" for n in dict.fromkeys(n for clause in clauses_of(sentence) for n in clause.numbers))


def _with_keys(sentence: str, keys: str) -> str:
    return f"{sentence.rstrip('. ')} {keys}."


def _line_end(text: str, start: int) -> tuple[int, int] | None:
    """Return where the first line of a text ends and the next begins; None without one.

    A carriage return at the very end does not count yet, because its line feed may still come.
    """
    match = _LINE_END.search(text, start)
    return None if match is None or (match.group() == "\r" and match.end() == len(text)) else match.span()
