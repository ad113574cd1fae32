"""The chat in a terminal: answers as they are written, sources on demand. Ctrl-C stops an answer, not the program."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress

from chatbot.answer import Answer, ReaderError, Turn
from chatbot.bot import Chatbot, Event
from chatbot.presentation.render import as_text, note
from ingest import CorpusError

_WELCOME = "Ask which hardware should train or serve a model. /sources shows where the last answer stands; an empty line or Ctrl-D ends."
_COMMANDS = "/sources shows the sources of the last answer, /new forgets the conversation, /quit ends."


def chat(bot: Chatbot) -> int:
    """Read questions and answer them until the input ends. Answers go to stdout, everything else to stderr."""
    _say(_WELCOME)
    history: list[Turn] = []
    last: Answer | None = None
    for line in _lines():
        if line == "/quit":
            break
        if line == "/new":
            history, last = [], None
            _say("The conversation is forgotten.")
        elif line == "/sources":
            _show_sources(last)
        elif line.startswith("/") and " " not in line:
            _say(_COMMANDS)
        elif (answer := _answered(bot, line, history)) is not None:
            last = answer
            history.append(Turn(line, answer.text))
    return 0


def _answered(bot: Chatbot, question: str, history: Sequence[Turn]) -> Answer | None:
    """Print the answer as it comes and return it; None if it failed or was stopped."""
    try:
        with closing(bot.stream(question, history)) as events:  # type: ignore[type-var]
            return _printed(events)
    except (CorpusError, ReaderError) as error:
        _say(str(error))
    except KeyboardInterrupt:
        print(flush=True)
        _say("Stopped. Ask on, or press Ctrl-D to end.")
    return None


def _printed(events: Iterator[Event]) -> Answer | None:
    answer = None
    for event in events:
        if event.kind == "text":
            print(event.text, end="", flush=True)
        answer = event.answer or answer
    print("\n", flush=True)
    if answer is not None and (beside := note(answer)):
        _say(beside)
    return answer


def _show_sources(answer: Answer | None) -> None:
    if answer is None or not answer.citations:
        _say("The last answer cites nothing." if answer else "Nothing has been answered yet.")
        return
    print(as_text(answer).removeprefix(answer.text).strip(), end="\n\n", flush=True)


def _lines() -> Iterator[str]:
    """Yield what is typed, line by line, until an empty line or the end. Ctrl-C only discards the line."""
    if sys.stdin.isatty():
        with suppress(ImportError):  # Windows has none
            # The import enables line editing, and pasted text of several lines as one question.
            import readline  # noqa: F401
    while True:
        try:
            line = input("> " if sys.stdin.isatty() else "").strip()
        except EOFError:
            return
        except KeyboardInterrupt:
            _say("\nPress Ctrl-D to end.")
            continue
        if not line:
            return
        yield line


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
