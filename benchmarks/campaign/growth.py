"""Measure how the time of every public function that takes text, and of a whole answer, grows with the text.

    python benchmarks/campaign/growth.py [--index DIR] [--longest N] [--only NAME…]

Each function is called with texts of one kind at a time (letters, brackets, tables, …), each four times as long as the
one before, up to 100,000 characters. Time is CPU time. A function fails if four times the text takes more than eight
times as long, unless it finishes within the floor, or if a call does not finish within the cap.

A function that takes a question (judged by its module, or a parameter's name or type) is given at most 8,000
characters, as they are read at the entrance, where longer questions are refused and earlier turns, long words and gaps
are cut. One that takes a draft's sentences is given at most 16,000, because no more of a model's answer is read. With
those it must finish within a second, however its time grows. The exit code is 1 if one fails.
"""

import argparse
import gc
import importlib
import inspect
import pkgutil
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import chatbot
from chatbot import Answer, Chatbot, Citation, Passage, ReaderError, Turn
from chatbot.evidence import Unit
from chatbot.evidence.scored import Scored
from chatbot.exam.keys import KeyProblem
from chatbot.exam.reading import read_questions
from chatbot.language.characters import LONGEST_QUESTION, as_asked
from chatbot.llm.streaming import SentenceStream
from chatbot.llm.transcript import LONGEST as LONGEST_ANSWER
from chatbot.llm.transcript import Transcript
from chatbot.question.options import Option
from chatbot.question.query import Query
from chatbot.table.bounds import Reading
from chatbot.verification.citations import Evidence
from ingest import Chunk, CorpusError, Document, Index, Source

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 100_000
# What takes more than four times as long for twice the text is not linear; four times the text may take this many times
# as long.
RATIO = 8.0
# CPU seconds: what finishes within the floor is fast enough, however it grows; a call is stopped at the cap.
FLOOR = 0.25
CAP = 5.0
# The floor and the cap of functions that are given questions or drafts.
WITHIN = 1.0
# One for each reader of exam files.
_SUFFIXES = (".md", ".gift", ".csv", ".json", ".jsonl")
# Modules of other user interfaces, which serve until they are stopped or write files.
_APART = ("chatbot.slack", "chatbot.app", "chatbot.terminal", "chatbot.__main__", "chatbot.exam.__main__", "chatbot.sizing.__main__")
# They take letters, features, formulas, rows or names of a table, or questions with options, but no text that anybody
# writes.
_NO_TEXT = {
    "reader.phrasing.row_statement", "reader.phrasing.columns", "reader.phrasing.columns_of_things", "exam.asking.put_back", "exam_reader.denial", "exam_reader.chosen",
    "exam_reader.examine", "sizing.arithmetic.evaluate", "sizing.model_names.find_model", "sizing.model_names.sibling",
}  # fmt: skip

KINDS: dict[str, str] = {
    "letters": "a",
    "words": "throughput grows ",
    "digits": "1",
    "numbers": "1,200 GB and ",
    "names": "trn1.32xlarge or H100 ",
    "brackets": "[",
    "marks": "[1] ",
    "parentheses": "(",
    "dots": ".",
    "dashes": "-",
    "tables": "| a ",
    "rows": "| a | b |\n",
    "rules": "|---",
    "quotes": '"',
    "apostrophes": "'",
    "chinese": "训练",
    "spaces": " ",
    "lines": "\n",
    "gaps": " \n",
    "items": "- a\n",
    "options": "A. a\nB. b\n",
    "sentences": "Trn1 has 16 chips [1]. ",
    "headings": "# a\n",
    "stars": "*",
    "underscores": "_a",
    "colons": "a: ",
    "tags": "<a",
    "backquotes": "`",
    "capitals": "Ab ",
    "commas": "a, ",
    "dotted": "a1.",
    "hyphened": "a-",
}


_BETWEEN = {"spaces": "a", "lines": "a", "gaps": "?"}


@dataclass(frozen=True, slots=True)
class Growth:
    """What a function took for texts of one kind: (characters, CPU seconds), and what it raised, if anything."""

    function: str
    kind: str
    times: tuple[tuple[int, float], ...]
    error: str = ""
    floor: float = FLOOR

    @property
    def ratio(self) -> float:
        """The worst growth from one text to the next, four times as long; 0 if all finish within the floor."""
        pairs = zip(self.times, self.times[1:], strict=False)
        return max(
            (later / max(sooner, self.floor / RATIO) for (_, sooner), (_, later) in pairs if later > self.floor),
            default=0.0,
        )

    @property
    def is_linear(self) -> bool:
        """Whether four times the text never took more than `RATIO` times as long."""
        return not self.error and self.ratio <= RATIO

    def __str__(self) -> str:
        took = ", ".join(f"{length:,}: {seconds:.3f}" for length, seconds in self.times)
        return f"{self.function} | {self.kind} | {took} {self.error}".rstrip()


@dataclass(frozen=True, slots=True)
class Call:
    """A function as one of a text, and the most characters that it is given."""

    name: str
    of: Callable[[str], object]
    most: int = LONGEST


def text_of(kind: str, length: int) -> str:
    """Return a text of `length` characters of a kind."""
    piece = KINDS[kind]
    run = (piece * (length // len(piece) + 1))[:length]
    # White space at the ends would be stripped.
    end = _BETWEEN.get(kind, "")
    return f"{end}{run[2 * len(end) :]}{end}"


def growth(call: Call, kind: str, *, longest: int = LONGEST) -> Growth:
    """Call a function with longer and longer texts of a kind."""
    floor, cap = (FLOOR, CAP) if call.most == LONGEST else (WITHIN, WITHIN)
    longest = min(longest, call.most)
    times: list[tuple[int, float]] = []
    error = ""
    for length in (longest // 64, longest // 16, longest // 4, longest):
        text = text_of(kind, length)
        try:
            seconds = _seconds(call, text, cap)
            if seconds > floor / RATIO:
                # Take the shorter of two calls, since what a busy machine adds seldom falls into both.
                seconds = min(seconds, _seconds(call, text, cap))
        except _TooSlow:
            error = f"stopped at {length:,} characters"
            break
        except (CorpusError, ReaderError, KeyProblem):
            continue  # These errors say in a sentence what is wrong with a text.
        except Exception as raised:
            error = f"{type(raised).__name__}: {raised}"[:80]
            break
        times.append((length, seconds))
    return Growth(call.name, kind, tuple(times), error, floor)


def _seconds(call: Call, text: str, cap: float) -> float:
    # Garbage collection is off meanwhile: it takes seconds when much is loaded, and an exception raised within it is
    # swallowed.
    gc.disable()
    try:
        began = time.thread_time()  # other threads of the process may have work of their own
        with _stopped_after(cap):
            call.of(text)
        return time.thread_time() - began
    finally:
        gc.enable()


class _TooSlow(BaseException):
    """Raised in a call that reached the cap; a BaseException, so that no `except Exception` in the call stops it."""


@contextmanager
def _stopped_after(seconds: float) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise _TooSlow

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def public_functions(index: Index) -> Iterator[Call]:
    """Yield every public function of chatbot's modules that takes text."""
    for info in pkgutil.walk_packages(chatbot.__path__, "chatbot."):
        if not info.name.startswith(_APART):
            module = importlib.import_module(info.name)
            for name, function in sorted(vars(module).items()):
                whole = f"{info.name.removeprefix('chatbot.')}.{name}"
                if _is_own(function, info.name) and not name.startswith("_") and whole not in _NO_TEXT:
                    yield from _of_text(whole, function, index)


def _is_own(function: object, module: str) -> bool:
    whole = inspect.unwrap(function) if callable(function) else function
    return inspect.isfunction(whole) and whole.__module__ == module


def _of_text(name: str, function: Callable[..., Any], index: Index) -> Iterator[Call]:
    """Yield a function as one of a text; nothing if it takes no text, or takes something that cannot be made of a text."""
    whole = inspect.unwrap(function)
    try:
        hints = get_type_hints(whole)
    except NameError:  # a name that is imported only for type checking
        return
    needed = [p for p in inspect.signature(whole).parameters.values() if p.default is p.empty]
    if any(p.name not in hints for p in needed) or not any(_is_text(hints[p.name]) for p in needed):
        return
    try:
        for p in needed:
            _value(hints[p.name], "a", index)
    except LookupError:
        return

    def call(text: str) -> object:
        arguments = {p.name: _value(hints[p.name], text, index) for p in needed}
        keyword = {p.name: arguments.pop(p.name) for p in needed if p.kind is p.KEYWORD_ONLY}
        made = function(*arguments.values(), **keyword)
        return list(made) if inspect.isgenerator(made) else made

    if name.startswith(_ASKING) or any(p.name in ("question", "word") or _is_asked(hints[p.name]) for p in needed):
        yield Call(name, lambda text: call(_asked(text)), LONGEST_QUESTION)
    else:
        yield Call(name, call, LONGEST_ANSWER if any(p.name in _DRAFTED for p in needed) else LONGEST)


def _is_asked(hint: Any) -> bool:
    return any(hint is asked for asked in _ASKED) or any(map(_is_asked, get_args(hint)))


def _is_text(hint: Any) -> bool:
    return get_origin(hint) is not Callable and (hint in _MADE or any(map(_is_text, get_args(hint))))


_SOURCE = Source("id", "title")
# The length of what is read of a document at a time: no chunk is longer, so no unit or passage.
_CHUNK = 2_000


def _asked(text: str) -> str:
    """Return a text as a question is read, cut to the longest that is allowed."""
    return as_asked(f"{text[: LONGEST_QUESTION - 1]}?")


def _chunk(text: str) -> Chunk:
    return Chunk("id#0", Document("id", _SOURCE, "title", text), ("heading",), 0, len(text), text, None)


def _unit(chunk: Chunk) -> Unit:
    return Unit(chunk, 0, len(chunk.text), chunk.text, "sentence", ("heading",))


_MADE: dict[Any, Callable[[str], Any]] = {
    str: lambda text: text,
    bytes: str.encode,
    Document: lambda text: Document("id", _SOURCE, "title", text),
    Chunk: lambda text: _chunk(text[:_CHUNK]),
    Unit: lambda text: _unit(_chunk(text[:_CHUNK])),
    Passage: lambda text: Passage(1, _chunk(text[:_CHUNK]), 1.0),
    Evidence: lambda text: Evidence(_MADE[Passage](text), 0, len(text[:_CHUNK])),
    Scored: lambda text: Scored(_MADE[Unit](text), _MADE[Passage](text), 0.5, defaultdict(float)),
    Turn: lambda text: Turn(text, text),
    Option: lambda text: Option("A", text),
    Query: lambda text: Query(text, text),
    Reading: lambda text: Reading(text),
    Citation: lambda text: Citation(1, text, text, 0, len(text), 0.5, _MADE[Passage](text)),
    Answer: lambda text: Answer(
        _asked(text), text, (_MADE[Citation](text),), (_MADE[Passage](text),), False, (), "offline", 0.0
    ),
}
# Parameters that take a draft or a part of it.
_DRAFTED = {"draft", "sentence", "claim"}
# Modules that read only questions.
_ASKING = (
    "asked_quantity", "attribute", "followup", "options", "query", "sides", "sizing", "spelling", "table", "unheard",
)  # fmt: skip
# Types of what is asked.
_ASKED = {Query, Turn, Option, Reading}
_GIVEN: dict[Any, Any] = {int: 1, float: 1.0, bool: True}


def _value(hint: Any, text: str, index: Index) -> Any:
    """Return an argument of a type, made of the text if possible; raises LookupError if it cannot be made."""
    if hint is Index:
        return index
    if hint in _MADE:
        return _MADE[hint](text)
    if hint in _GIVEN:
        return _GIVEN[hint]
    arguments, origin = get_args(hint), get_origin(hint)
    if origin is Callable:
        return lambda *_: ()
    if origin is None or not inspect.isclass(origin):
        raise LookupError(hint)
    if issubclass(origin, tuple) and arguments[-1] is not ...:
        return tuple(_value(argument, text, index) for argument in arguments)
    if issubclass(origin, dict) or origin.__name__ == "Mapping":
        return {_value(arguments[0], text, index): _value(arguments[1], text, index)}
    if issubclass(origin, (Sequence, frozenset, set)) or origin.__name__ in ("Iterable", "Sequence", "Collection"):
        made = _value(arguments[0], text, index)
        return (frozenset if issubclass(origin, (frozenset, set)) else list)([made])
    raise LookupError(hint)


def calls(index: Index) -> list[Call]:
    """Return what is measured: whole answers first, then the functions."""
    bot = Chatbot(index)
    bot.ask("What is Trn1?")  # loads the encoders
    return [
        Call("ask", bot.ask, LONGEST_QUESTION),
        Call("ask, after a turn", lambda text: bot.ask("And its memory?", [Turn(text, text)]), LONGEST_QUESTION),
        Call("streaming", lambda text: _streamed(text, 4)),
        *(Call(f"exam file {suffix}", _file_reader(suffix)) for suffix in _SUFFIXES),
        *public_functions(index),
    ]


def _streamed(text: str, piece: int) -> None:
    """Read a model's answer that comes in pieces; what is longer than the longest answer is not read."""
    transcript, stream = Transcript(), SentenceStream([_MADE[Evidence]("Trn1 has 16 chips.")])
    for start in range(0, len(text), piece):
        stream.push(transcript.take(text[start : start + piece]))
    stream.close()


def _file_reader(suffix: str) -> Callable[[str], object]:
    return lambda text: read_questions([(f"exam{suffix}", text.encode())])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=Path, default=ROOT / "index", metavar="DIR")
    parser.add_argument("--longest", type=int, default=LONGEST, metavar="N")
    parser.add_argument("--only", nargs="+", default=[""], metavar="NAME", help="functions whose names hold one of these")
    options = parser.parse_args()
    index = Index.open(options.index)
    chosen = [call for call in calls(index) if any(o in call.name for o in options.only)]
    print(f"{len(chosen)} functions, {len(KINDS)} kinds of text, up to {options.longest:,} characters")
    found: list[Growth] = []
    for call in chosen:
        for kind in KINDS:
            found.append(growth(call, kind, longest=options.longest))
            if not found[-1].is_linear:
                print(f"FAIL {found[-1]}", flush=True)
    print("The slowest:")
    for one in sorted(found, key=lambda one: one.times[-1][1] if one.times else 0.0, reverse=True)[:10]:
        print(f"     {one}")
    failed = sum(not one.is_linear for one in found)
    print(f"{failed} of {len(found)} grow too fast or raise; {time.process_time():.0f} s of the processor")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
