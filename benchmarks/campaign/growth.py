"""How the time of every public function that takes text grows with the text, and that of a whole answer.

    python benchmarks/campaign/growth.py [--index DIR] [--longest N] [--only NAME…]

Each function is called with texts of one kind at a time (letters, brackets, tables, …), each four times as long as the
one before, until the longest or until a call takes too long. Time is that of the processor. A function fails where four
times the text takes more than eight times as long, unless it is done within the floor. The exit code is 1 then.
"""

import argparse
import importlib
import inspect
import pkgutil
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import chatbot
from chatbot import Answer, Chatbot, Citation, Passage, Turn
from chatbot.citations import Evidence
from chatbot.evidence import Unit
from chatbot.exam.reading import ACCEPTED_SUFFIXES, read_questions
from chatbot.followup.referents import Said
from chatbot.llm.streaming import SentenceStream
from chatbot.options import Option
from chatbot.query import Query
from chatbot.scoring import Scored
from chatbot.table.bounds import Reading
from ingest import Chunk, Document, Index, Source

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 100_000
# What doubles the text and more than quadruples the time is not linear; four times the text may take so many times as long.
RATIO = 8.0
# Seconds: what is done within this is fast enough, however it grows.
FLOOR = 0.1
# A call that takes longer is the last of its kind.
_PATIENCE = 3.0
# Modules of other surfaces, and functions that serve until they are stopped or write files.
_APART = ("chatbot.slack", "chatbot.app", "chatbot.terminal", "chatbot.__main__", "chatbot.exam.__main__")
# They take letters, features, rows of a table or questions with options, no text of anybody's.
_NO_TEXT = {
    "phrasing.row_statement",
    "phrasing.columns_of_things",
    "exam.grading.put_back",
    "examination.denial",
    "examination.chosen",
    "examination.examine",
}

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


@dataclass(frozen=True, slots=True)
class Growth:
    """What a function took for texts of one kind: (characters, seconds of the processor), and what it raised, if anything."""

    function: str
    kind: str
    times: tuple[tuple[int, float], ...]
    error: str = ""

    @property
    def ratio(self) -> float:
        """The worst growth from one text to the next, four times as long; 0 where all are done within the floor."""
        pairs = zip(self.times, self.times[1:], strict=False)
        return max(
            (later / max(sooner, FLOOR / RATIO) for (_, sooner), (_, later) in pairs if later > FLOOR), default=0.0
        )

    @property
    def is_linear(self) -> bool:
        """Whether four times the text never took more than `RATIO` times as long."""
        return not self.error and self.ratio <= RATIO


def text_of(kind: str, length: int) -> str:
    """A text of so many characters of a kind."""
    piece = KINDS[kind]
    return (piece * (length // len(piece) + 1))[:length]


def growth(function: str, call: Callable[[str], object], kind: str, *, longest: int = LONGEST) -> Growth:
    """Call a function with longer and longer texts of a kind."""
    times: list[tuple[int, float]] = []
    for length in (longest // 64, longest // 16, longest // 4, longest):
        text = text_of(kind, length)
        began = time.process_time()
        try:
            call(text)
        except Exception as error:
            # Its own exceptions say in a sentence what is wrong with a text.
            if type(error).__module__.startswith("chatbot."):
                continue
            return Growth(function, kind, tuple(times), f"{type(error).__name__}: {error}"[:80])
        times.append((length, time.process_time() - began))
        if times[-1][1] > _PATIENCE:
            break
    return Growth(function, kind, tuple(times))


def public_functions(index: Index) -> Iterator[tuple[str, Callable[[str], object]]]:
    """Every public function of chatbot's modules that takes text, as a function of one text."""
    for info in pkgutil.walk_packages(chatbot.__path__, "chatbot."):
        if not info.name.startswith(_APART):
            module = importlib.import_module(info.name)
            for name, function in sorted(vars(module).items()):
                if (
                    _is_own(function, info.name)
                    and not name.startswith("_")
                    and f"{info.name.removeprefix('chatbot.')}.{name}" not in _NO_TEXT
                    and (call := _of_text(function, index))
                ):
                    yield f"{info.name.removeprefix('chatbot.')}.{name}", call


def _is_own(function: object, module: str) -> bool:
    whole = inspect.unwrap(function) if callable(function) else function
    return inspect.isfunction(whole) and whole.__module__ == module


def _of_text(function: Callable[..., Any], index: Index) -> Callable[[str], object] | None:
    """A function as one of a text, None where it takes no text or something that cannot be made of one."""
    whole = inspect.unwrap(function)
    try:
        hints = get_type_hints(whole)
    except NameError:  # a name that is imported for type checking alone
        return None
    needed = [p for p in inspect.signature(whole).parameters.values() if p.default is p.empty]
    if not needed or any(p.name not in hints for p in needed):
        return None
    try:
        values = [_value(hints[p.name], "a", index) for p in needed]
    except LookupError:
        return None
    if not any(_is_text(hints[p.name]) for p in needed):
        return None

    def call(text: str) -> object:
        arguments = {p.name: _value(hints[p.name], text, index) for p in needed}
        keyword = {p.name: arguments.pop(p.name) for p in needed if p.kind is p.KEYWORD_ONLY}
        made = function(*arguments.values(), **keyword)
        return list(made) if inspect.isgenerator(made) else made

    del values
    return call


def _is_text(hint: Any) -> bool:
    return get_origin(hint) is not Callable and (hint in _MADE or any(map(_is_text, get_args(hint))))


_SOURCE = Source("id", "title")
_CHUNK = 2_000
_MADE: dict[Any, Callable[[str], Any]] = {
    str: lambda text: text,
    bytes: str.encode,
    Document: lambda text: Document("id", _SOURCE, "title", text),
    Chunk: lambda text: Chunk("id#0", _MADE[Document](text), ("heading",), 0, len(text), text, None),
    Unit: lambda text: Unit(_MADE[Chunk](text), 0, len(text), text, "sentence", ("heading",)),
    # A chunk is no longer than this: what a question costs grows with the question, for passages have their size.
    Passage: lambda text: Passage(1, _MADE[Chunk](text[:_CHUNK]), 1.0),
    Evidence: lambda text: Evidence(_MADE[Passage](text), 0, len(text[:_CHUNK])),
    Scored: lambda text: Scored(_MADE[Unit](text), _MADE[Passage](text), 0.5, defaultdict(float)),
    Turn: lambda text: Turn(text, text),
    Option: lambda text: Option("A", text),
    Query: lambda text: Query(text, text),
    Said: lambda text: Said(text, text, (text,)),
    Reading: lambda text: Reading(text),
    Citation: lambda text: Citation(1, text, text, 0, len(text), 0.5, _MADE[Passage](text)),
    Answer: lambda text: Answer(
        text, text, (_MADE[Citation](text),), (_MADE[Passage](text),), False, (), "offline", 0.0
    ),
}
_GIVEN: dict[Any, Any] = {int: 1, float: 1.0, bool: True}


def _value(hint: Any, text: str, index: Index) -> Any:
    """An argument of a type: made of the text where that can be, LookupError where it cannot."""
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


def calls(index: Index) -> dict[str, Callable[[str], object]]:
    """What is measured: whole answers first, then the functions."""
    bot = Chatbot(index)
    return {
        "ask": bot.ask,
        "ask, as an earlier turn": lambda text: bot.ask("And its memory?", [Turn(text, text)]),
        "streaming": lambda text: _streamed(text, 40),
        **{f"exam file {suffix}": _file_reader(suffix) for suffix in ACCEPTED_SUFFIXES},
        **dict(public_functions(index)),
    }


def _streamed(text: str, piece: int) -> None:
    """A model's answer that comes in pieces."""
    stream = SentenceStream([_MADE[Evidence]("Trn1 has 16 chips.")])
    for start in range(0, len(text), piece):
        stream.push(text[start : start + piece])
    stream.close()


def _file_reader(suffix: str) -> Callable[[str], object]:
    return lambda text: read_questions([(f"exam{suffix}", text.encode())])


def main() -> int:
    options = _parser().parse_args()
    index = Index.open(options.index)
    chosen = {
        name: call for name, call in calls(index).items() if not options.only or any(o in name for o in options.only)
    }
    failed = 0
    print(f"{len(chosen)} functions, {len(KINDS)} kinds of text, up to {options.longest:,} characters")
    for name, call in chosen.items():
        for kind in options.kind or KINDS:
            found = growth(name, call, kind, longest=options.longest)
            if not found.is_linear or options.all:
                took = ", ".join(f"{length:,}: {seconds:.3f}" for length, seconds in found.times)
                print(f"{'ok  ' if found.is_linear else 'FAIL'} {name} | {kind} | {took} {found.error}", flush=True)
            failed += not found.is_linear
    print(f"{failed} of {len(chosen) * len(options.kind or KINDS)} grow too fast or raise")
    return 1 if failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=Path, default=ROOT / "index", metavar="DIR")
    parser.add_argument("--longest", type=int, default=LONGEST, metavar="N")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="functions whose names hold one of these")
    parser.add_argument("--kind", nargs="+", choices=KINDS, metavar="KIND")
    parser.add_argument("--all", action="store_true", help="print what is linear, too")
    return parser


if __name__ == "__main__":
    sys.exit(main())
