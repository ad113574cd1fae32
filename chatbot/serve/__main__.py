"""`wattwise serve`: answer other programs over HTTP, as OpenAI's API does and in the commands' own JSON."""

import argparse
import logging
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec

from chatbot.answer import ReaderError
from chatbot.serve.settings import ServeSettings, in_url, listening, serve_settings
from ingest import CorpusError, place_at

_NEEDED = ("fastapi", "prometheus_client", "uvicorn")
_log = logging.getLogger("wattwise.serve")


def main(arguments: Sequence[str]) -> int:
    """Serve until a stop signal comes; the exit code is 0, 1 (failed) or 2 (wrong use)."""
    options = vars(_parser().parse_args(arguments))
    logging.basicConfig(stream=sys.stderr, format="%(message)s")
    # Clients of model services log whole requests, so only this server's own lines are shown, whatever WATTWISE_LOG says.
    root, before = logging.getLogger(), logging.getLogger().level
    root.setLevel(logging.CRITICAL)
    _log.setLevel(logging.INFO)
    try:
        _serve(serve_settings(os.environ, **{name: value for name, value in options.items() if value is not None}))
    except (CorpusError, ReaderError) as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        root.setLevel(before)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="wattwise serve",
        description="Answers other programs over HTTP: OpenAI's chat completions, /ask, /size and /search."
        " Keys and limits come from WATTWISE_SERVE_* variables.",
    )
    parser.add_argument("--index", type=place_at, metavar="PLACE", help="the index (WATTWISE_INDEX, index)")
    parser.add_argument("--model", metavar="M", help="the reader's model (WATTWISE_MODEL, offline)")
    parser.add_argument("--host", metavar="H", help="the address to listen on (WATTWISE_SERVE_HOST, 127.0.0.1)")
    parser.add_argument(
        "--port", type=int, metavar="N", help="the port, 0 for any free one (WATTWISE_SERVE_PORT, 8000)"
    )
    return parser


def _serve(settings: ServeSettings) -> None:
    if any(find_spec(package) is None for package in _NEEDED):
        raise ReaderError(
            "The server needs FastAPI and more packages. Install them with: pip install 'wattwise[serve]'"
        )
    from chatbot.bot import Chatbot
    from chatbot.serve.application import Server
    from chatbot.serve.service import Service

    service = Service(Chatbot.open(settings.index, model=settings.model), settings)
    with listening(settings.host, settings.port, "--port or WATTWISE_SERVE_PORT") as listener, _signals_kept():
        port = listener.getsockname()[1]
        _log.info("Listening on http://%s:%d; /docs says what to call.", in_url(settings.host), port)
        Server(service).run([listener])


@contextmanager
def _signals_kept() -> Iterator[None]:
    """Ignore the SIGTERM or SIGINT that uvicorn raises once more after it has ended because of it."""
    before = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
