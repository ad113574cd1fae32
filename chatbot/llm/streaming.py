"""Verified streaming: a model's pieces are held until a sentence is whole, checked, then shown."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field

from chatbot.answer import REFUSAL, Citation
from chatbot.citations import Checked, Evidence, Place, SecondOpinion, Verified, bare, check, list_mark, opened
from chatbot.evidence import sentences
from chatbot.evidence.wording import SENTENCE_END
from chatbot.marks import marked_sentences, without_marks

# No answer is longer; what a model writes beyond this is not read.
LONGEST = 16_000
_BRACKETS = str.maketrans({"【": "[", "】": "]", "\t": " ", "\xa0": " ", "\u202f": " "})
_LINE_ENDS = "\r\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
_LINE_END = re.compile(rf"\r\n|[{_LINE_ENDS}]")
# The quotation marks and spaces between two sentences; where there are more, what came is shown a sentence later.
_LONGEST_END = 64
_THOUGHT, _THOUGHT_OUT = "<think>", "</think>"
# Links, pictures, HTML and mentions of people have no place in an answer: the citations carry the addresses.
_ACTIVE = re.compile(
    r"https?:|\b\w{2,}://|\bwww\.|\b(?:javascript|mailto):|\bdata:\w+/|!\[|\]\(|<[!@#/a-z]|&#?\w+;|(?<!\w)@\w|(?<![\w.+-])[\w.+-]++@[\w-]+\.\w"
    r"|(?<![\w-])[\w-]++\.(?:com|net|org|io|dev|ai|app|example|xyz|ru|cn|co|info|link)\b",
    re.IGNORECASE,
)
# Marks that were never finished: "72 W [2", "72 W [".
_HALF_AT_END = re.compile(r"\s*\[[\d\s,;–-]*\Z")
_HALF = re.compile(r"\[\s*\d|\[\W*\Z")


def is_fit(sentence: str) -> bool:
    """Whether a sentence can be shown at all: nothing in it to click, load or notify, and no unfinished mark."""
    return not _ACTIVE.search(sentence) and not _HALF.search(without_marks(sentence))


def cleaned(text: str) -> str:
    """A model's text without what does not show: control and format characters; odd brackets and spaces as plain ones.

    Works character by character, so that pieces of a text can be cleaned one by one.
    """
    return "".join(c for c in text.translate(_BRACKETS) if c in _LINE_ENDS or unicodedata.category(c)[0] != "C")


@dataclass
class Transcript:
    """What a model has written so far: cleaned, cut at the longest, its opening thoughts left out."""

    _thought: str | None = ""
    _length: int = 0

    def take(self, piece: str) -> str:
        """The part of a piece that belongs to the answer."""
        text = piece[: LONGEST - self._length]
        self._length += len(text)
        return self._without_thoughts(cleaned(text))

    def rest(self) -> str:
        """What was held because it might have become a thought; a thought that never ended is none of the answer."""
        held, self._thought = self._thought or "", None
        return "" if held.lstrip().startswith(_THOUGHT) else held

    @property
    def is_full(self) -> bool:
        """Whether nothing more is read."""
        return self._length >= LONGEST

    def _without_thoughts(self, text: str) -> str:
        if self._thought is None:
            return text
        self._thought += text
        opening = self._thought.lstrip()
        if not opening.startswith(_THOUGHT):
            return "" if _THOUGHT.startswith(opening) else self._released(self._thought)
        _, found, after = opening.partition(_THOUGHT_OUT)
        return self._released(after) if found else ""

    def _released(self, text: str) -> str:
        self._thought = None
        return text


@dataclass
class SentenceStream:
    """Verifies a text that comes in pieces; however it is cut, what is shown is what `verify` keeps of the whole (with `own_words`).

    Nothing is shown before the first sentence that cites something, and nothing at all of a text that opens with the
    refusal. Beyond `verify`, it drops sentences that are not fit to be shown, and an unfinished mark at the very end.
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
    _shown: str = ""
    _held: str = ""
    _breaks: int = 0
    _line_begun: bool = False
    _numbers: dict[Place, int] = field(default_factory=dict)
    _citations: list[Citation] = field(default_factory=list)
    _dropped: list[str] = field(default_factory=list)

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

    def _has_new_sentence(self) -> bool:
        """Whether a sentence of the current line may have ended since this was last asked: else there is nothing to read again."""
        ends = [match.end() for match in SENTENCE_END.finditer(self._buffer, self._looked)]
        self._looked = ends[-1] if ends else max(self._looked, len(self._buffer) - _LONGEST_END)
        return bool(ends)

    def close(self) -> str:
        """The text has ended; what can still be shown."""
        self._read(_HALF_AT_END.sub("", self._buffer.rstrip("\r")), whole=True)
        self._buffer = ""
        return self._release()

    @property
    def verified(self) -> Verified:
        """What has been shown so far, as `verify` gives it."""
        return Verified(self._shown, tuple(self._citations) if self._shown else (), tuple(self._dropped))

    def _read(self, line: str, *, whole: bool) -> None:
        """Check the sentences of the current line that nothing to come can change."""
        opening, rest = opened(line, self.given) if self._opening is None else (self._opening, line)
        found, left = (marked_sentences(rest), "") if whole else self._final(line, rest)
        for sentence in found[self._settled :]:
            self._settled += 1
            self._check(sentence, opening)
        if whole:
            if self._line_begun or (self._opening is None and not line.strip()):
                self._breaks += 1
            self._settled, self._line_begun, self._opening = 0, False, None
        elif found and left is not None:
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

    def _check(self, sentence: str, opening: str) -> None:
        if sentence == REFUSAL and not self._shown and not self._held.strip():
            self._refuses = True
        checked = self._checked(sentence) if is_fit(sentence) else None
        if checked is None:
            self._dropped.append(bare(sentence))
            return
        before = " " if self._line_begun else "\n" * min(self._breaks, 2) + opening
        self._held += before + checked.text
        self._line_begun, self._breaks = True, 0
        self._citations += [c for c in checked.citations if c not in self._citations]

    def _checked(self, sentence: str) -> Checked | None:
        return check(sentence, self.evidence, self._numbers, own_words=True, question=self.question, second=self.second)

    def _release(self) -> str:
        if not self._citations or self._refuses:
            return ""
        text = self._held if self._shown else self._held.lstrip()
        self._shown += text
        self._held = ""
        return text


def _line_end(text: str, start: int) -> tuple[int, int] | None:
    """Where the first line of a text ends and the next begins; a carriage return at the very end may have a line feed to come."""
    match = _LINE_END.search(text, start)
    return None if match is None or (match.group() == "\r" and match.end() == len(text)) else match.span()
