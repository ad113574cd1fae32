"""The command line: `wattwise ask`, `chat` and `status`. All other commands have modules of their own (`_ELSEWHERE`)."""

import argparse
import errno
import json
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from chatbot.answer import ReaderError, Turn
from chatbot.settings import Settings, settings_from
from ingest import CorpusError, place_at

if TYPE_CHECKING:
    from chatbot.bot import Chatbot

# Commands implemented in modules of their own, each with `main(arguments) -> exit code`.
_ELSEWHERE = {
    "ingest": ("ingest.__main__", "read documents into the index"),
    "exam": ("chatbot.exam.__main__", "score a model on exam files or golden questions"),
    "size": ("chatbot.sizing.__main__", "whether a model fits, what to launch, what it costs and emits"),
    "app": ("chatbot.app", "start the chat in the browser"),
    "slack": ("chatbot.slack.__main__", "answer in Slack"),
    "serve": ("chatbot.serve.__main__", "answer other programs over HTTP, as OpenAI's API does"),
    "mcp": ("chatbot.serve.mcp_server", "offer the tools of an MCP server"),
}
# What the system says where no more can be written, for example on a full disk.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_UNEXPECTED = "Something went wrong inside wattwise. Run the same command with WATTWISE_LOG=debug for the details."


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. The exit code is 0, 1 (failed), 2 (wrong usage) or 130 (Ctrl-C)."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    os.umask(0o077)  # only the user who runs a command may read what it writes
    _open_closed_streams()
    # The matrices are small: a second BLAS thread waits longer than it works and takes CPU time from other processes.
    # NumPy is imported after this.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    level = logging.getLevelNamesMapping().get(os.environ.get("WATTWISE_LOG", "").upper(), logging.CRITICAL)
    logging.basicConfig(level=level, stream=sys.stderr)
    # Bytes that do not decode to characters are read like those of arguments, and printed as backslash escapes, which JSON
    # accepts.
    for stream, errors in ((sys.stdin, "surrogateescape"), (sys.stdout, "backslashreplace")):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=errors)
    try:
        with _ended_by_sigterm():
            code = _run(given)
            sys.stdout.flush()
            return code
    except (CorpusError, ReaderError) as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        if not isinstance(error, BrokenPipeError) and error.errno not in _FULL:
            return _unexpected()
        # Without this redirection Python reports another error at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # the reader of the output has closed the pipe
            return 0
        print(f"Not all could be written ({error.strerror}): make room, or write to another place.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except Exception:
        return _unexpected()


def _unexpected() -> int:
    logging.getLogger("wattwise").debug("unexpected", exc_info=True)
    print(_UNEXPECTED, file=sys.stderr)
    return 1


def _open_closed_streams() -> None:
    """Give standard streams that the caller has closed the null device, so that no file of ours takes their place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """End the command on SIGTERM as on Ctrl-C, closing what is open. The exit code follows the shell's convention: 128
    plus the signal number."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _run(given: list[str]) -> int:
    if given and given[0] in _ELSEWHERE:
        module, _ = _ELSEWHERE[given[0]]
        main_of: Callable[[list[str]], int] = import_module(module).main
        return main_of(given[1:])
    options = _parser().parse_args(given)
    command: Callable[[argparse.Namespace], int] = options.command
    return command(options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="wattwise", description="Which instance should train or serve a model? Answers from documents, cited."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, (_, purpose) in _ELSEWHERE.items():
        commands.add_parser(name, help=purpose, add_help=False)
    ask = commands.add_parser("ask", help="answer one question, or a file of them")
    ask.add_argument("question", nargs="?", help="the question; - reads it from standard input")
    ask.add_argument(
        "--batch", type=Path, metavar="FILE.jsonl", help='one {"id": …, "turns": ["…"]} a line; - is standard input'
    )
    ask.add_argument("--json", action="store_true", help="print the answer as JSON")
    ask.set_defaults(command=_ask)
    chat = commands.add_parser("chat", help="ask and ask on")
    chat.set_defaults(command=_chat)
    status = commands.add_parser("status", help="what the index holds")
    status.add_argument("--check", action="store_true", help="read all of it and name what is not as it was written")
    status.add_argument("--json", action="store_true", help="print it as JSON")
    status.set_defaults(command=_status)
    common = settings_from(os.environ, Settings)
    for command in (ask, chat, status):
        command.add_argument("--index", type=place_at, default=common.index, metavar="PLACE")
    for command in (ask, chat):
        command.add_argument("--model", default=common.model, metavar="M")
    return parser


def _open(options: argparse.Namespace) -> "Chatbot":
    from chatbot.bot import Chatbot

    return Chatbot.open(options.index, model=options.model)


def _ask(options: argparse.Namespace) -> int:
    from chatbot.presentation.render import as_json, as_text, note

    if (options.question is None) == (options.batch is None):
        print(
            "Give either a question or --batch FILE.jsonl, for example: wattwise ask 'How many chips has a trn1.32xlarge?'",
            file=sys.stderr,
        )
        return 2
    bot = _open(options)
    if options.batch is not None:
        return _ask_batch(bot, options.batch)
    answer = bot.ask(sys.stdin.read() if options.question == "-" else options.question)
    print(json.dumps(as_json(answer), ensure_ascii=False) if options.json else as_text(answer))
    if beside := note(answer):
        print(beside, file=sys.stderr)
    return 0


def _ask_batch(bot: "Chatbot", path: Path) -> int:
    """Print one JSON answer per input line, in order. A line that cannot be answered gives {"id", "error"} in its
    place, and the exit code is 1."""
    failed = False
    with _lines_of(path) as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            result = _batch_line(bot, line, number)
            failed = failed or "error" in result
            print(json.dumps(result, ensure_ascii=False), flush=True)
    return 1 if failed else 0


def _lines_of(path: Path) -> BinaryIO:
    """Open the batch as bytes, so that a line that is not UTF-8 does not affect the others."""
    if str(path) == "-":
        return sys.stdin.buffer
    try:
        return path.open("rb")
    except OSError as error:
        raise ReaderError(
            f"{path} cannot be read ({error.strerror}). Give a file with one JSON object a line."
        ) from error


def _batch_line(bot: "Chatbot", line: bytes, number: int) -> dict[str, Any]:
    from chatbot.presentation.render import as_json

    identity, turns = _turns(line)
    if not turns:
        return {"id": identity, "error": f'Line {number} is not {{"id": …, "turns": ["question", …]}}.'}
    try:
        return {"id": identity, **as_json(_last_answer(bot, turns))}
    except (CorpusError, ReaderError) as error:
        return {"id": identity, "error": str(error)}
    except Exception:
        logging.getLogger("wattwise").debug("unexpected", exc_info=True)
        return {"id": identity, "error": _UNEXPECTED}


def _turns(line: bytes) -> tuple[Any, list[str]]:
    """Return the id and the questions of a batch line; no questions if the line is malformed."""
    try:
        item = json.loads(line)
        identity = item.get("id") if isinstance(item, dict) else None
        json.dumps(identity, allow_nan=False)  # Python reads NaN and 1e999, but no JSON can hold what it reads
    except (ValueError, RecursionError):
        return None, []
    turns = item.get("turns") if isinstance(item, dict) else None
    if not isinstance(turns, list) or not all(isinstance(turn, str) for turn in turns):
        turns = []
    return identity, turns


def _last_answer(bot: "Chatbot", turns: Sequence[str]) -> Any:
    history: list[Turn] = []
    for turn in turns[:-1]:
        history.append(Turn(turn, bot.ask(turn, history).text))
    return bot.ask(turns[-1], history)


def _chat(options: argparse.Namespace) -> int:
    from chatbot.terminal import chat

    return chat(_open(options))


def _status(options: argparse.Namespace) -> int:
    from ingest import Index, check

    if options.check:
        problems = check(options.index)
        if options.json:
            print(json.dumps({"index": str(options.index), "problems": problems}, ensure_ascii=False))
        else:
            print("\n".join(problems) or f"{options.index}: all of it is as it was written.")
        return 1 if problems else 0
    index = Index.open(options.index)
    state: dict[str, Any] = {
        "index": str(options.index),
        "generation": index.generation,
        "updated": index.updated,
        "encoder": index.encoder_name,
        "chunks": len(index),
        "documents": [
            {"id": d.id, "title": d.title, "original": d.source.original, "published": d.source.published}
            for d in index.documents()
        ],
    }
    if options.json:
        print(json.dumps(state, ensure_ascii=False))
        return 0
    print(
        f"{state['index']}: {len(state['documents'])} documents, {state['chunks']} chunks, encoder {state['encoder']}, updated {state['updated']}"
    )
    for document in state["documents"]:
        print(f"  {document['id']}: {document['title']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
