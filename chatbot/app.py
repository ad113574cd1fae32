"""`wattwise app`: start the Streamlit chat in a process of its own."""

import argparse
import os
import re
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from chatbot.answer import ReaderError
from chatbot.serve.settings import check_names, listening
from chatbot.settings import Settings, settings_from
from ingest import address_of, place_at

SCRIPT = Path(__file__).resolve().parents[1] / "streamlit_app.py"
CONFIG = SCRIPT.parent / "app" / "config.toml"
_GRACE = 5.0  # seconds
_UPLOADS = ("auto", "on", "off", "session")


@dataclass(frozen=True, slots=True)
class AppSettings:
    """The operator's settings for the app, from `WATTWISE_APP_…` variables.

    `hosts` are the names under which the app is reached besides localhost, for example through a reverse proxy.

    `uploads` says whether visitors may add files and sync. "on" allows it and "off" forbids it. "auto" allows it only
    to visitors at this machine: the app listens on loopback, has no other name, and no proxy is in front of it. With
    "session" every visitor may add files that nobody else sees and that last as long as the session, and nobody may
    sync. `corpus_removable` also lets visitors who may change the index remove the operator's own sources from it.

    `models` are offered besides the default one; `exams` is the folder of exam files on offer.
    """

    host: str = "127.0.0.1"
    port: int = 8501
    hosts: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    uploads: str = "auto"
    upload_megabytes: int = 20
    upload_count: int = 50
    corpus_removable: bool = False
    exams: Path = SCRIPT.parent / "corpus" / "exam"

    def __post_init__(self) -> None:
        if self.uploads not in _UPLOADS:
            raise ReaderError(f"WATTWISE_APP_UPLOADS is {self.uploads!r}: it takes auto, on, off or session.")
        for name in ("upload_megabytes", "upload_count"):
            if getattr(self, name) < 1:
                raise ReaderError(f"WATTWISE_APP_{name.upper()} is {getattr(self, name)}: it takes a whole number from 1 on. WATTWISE_APP_UPLOADS=off forbids files.")
        check_names("WATTWISE_APP_HOSTS", self.hosts)

    def may_change(self, is_own_user: bool) -> bool:
        """Whether a visitor may change the index. `is_own_user` says that the visitor uses this machine, which is
        enough for "auto"."""
        return self.uploads == "on" or (self.uploads == "auto" and is_own_user)


def main(arguments: Sequence[str]) -> int:
    """Run the app until it is stopped; the exit code is Streamlit's own, 0 after Ctrl-C."""
    options = _parser().parse_args(arguments)
    if find_spec("streamlit") is None:
        raise ReaderError("The app needs Streamlit: pip install 'wattwise[app]'.")
    if not SCRIPT.is_file():
        raise ReaderError(f"{SCRIPT} is missing: install wattwise again, or run the app from a checkout.")
    listening(options.host, options.port, "--port or WATTWISE_APP_PORT").close()  # Streamlit would fail with a traceback
    environment = {
        **streamlit_variables(tomllib.loads(CONFIG.read_text(encoding="utf-8"))),
        **os.environ,
        "WATTWISE_INDEX": address_of(options.index),
        "WATTWISE_MODEL": options.model,
    }
    print(f"The chat opens on http://{_shown(options.host)}:{options.port}. Ctrl-C ends it.", file=sys.stderr)
    return _watched(subprocess.Popen(_command(options), cwd=SCRIPT.parent, env=environment))


def streamlit_variables(config: Mapping[str, Any]) -> dict[str, str]:
    """Streamlit's configuration as environment variables: {"server": {"maxUploadSize": 50}} gives
    STREAMLIT_SERVER_MAX_UPLOAD_SIZE.

    Streamlit itself looks for `.streamlit/config.toml`, which a checkout has and an installed package does not.
    """
    return dict(_variables("STREAMLIT", config))


def _variables(prefix: str, table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        name = f"{prefix}_{re.sub('(?<=[a-z])(?=[A-Z])', '_', key).upper()}"
        if isinstance(value, Mapping):
            yield from _variables(name, value)
        else:
            yield name, str(value).lower() if isinstance(value, bool) else str(value)


def _parser() -> argparse.ArgumentParser:
    common, own = settings_from(os.environ, Settings), settings_from(os.environ, AppSettings, prefix="WATTWISE_APP_")
    parser = argparse.ArgumentParser(prog="wattwise app", description="The chat in a browser.")
    parser.add_argument("--index", type=place_at, default=common.index, metavar="PLACE", help="the index (%(default)s)")
    parser.add_argument("--model", default=common.model, metavar="M", help="offline, or provider:model (%(default)s)")
    parser.add_argument("--port", type=int, default=own.port, metavar="N", help="the port (%(default)s)")
    parser.add_argument("--host", default=own.host, metavar="H", help="the address to listen on (%(default)s)")
    return parser


def _command(options: argparse.Namespace) -> list[str]:
    return [
        *(sys.executable, "-m", "streamlit", "run", str(SCRIPT)),
        *(f"--server.port={options.port}", f"--server.address={options.host}", "--server.headless=true"),
        # When it listens on all addresses, Streamlit's welcome message asks checkip.amazonaws.com for the address of
        # this machine.
        "--logger.hideWelcomeMessage=true",
    ]


def _shown(host: str) -> str:
    return "localhost" if host in ("0.0.0.0", "::", "127.0.0.1", "::1") else host


def _watched(child: subprocess.Popen[bytes]) -> int:
    """Wait for the child and return its exit code. The child never outlives this process, however the process is ended."""

    def end(*_: object) -> None:
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGTERM, end)
    try:
        return max(child.wait(), 0)
    except KeyboardInterrupt:
        return 0
    finally:
        signal.signal(signal.SIGTERM, previous)
        _end(child)


def _end(child: subprocess.Popen[bytes]) -> None:
    """Terminate the child, and kill it if it does not end within `_GRACE` seconds."""
    child.terminate()
    try:
        with suppress(subprocess.TimeoutExpired):
            child.wait(_GRACE)
    finally:
        child.kill()
        child.wait()
