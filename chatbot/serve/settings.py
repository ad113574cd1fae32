"""What the server can be told, and what it does not start with."""

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from chatbot.answer import ReaderError
from chatbot.settings import settings_from
from ingest import Place

_PREFIX = "WATTWISE_SERVE_"


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """`WATTWISE_SERVE_*` variables; `index` and `model` fall back to `WATTWISE_INDEX` and `WATTWISE_MODEL`.

    Any of `keys` lets a client in; without one only this machine is served. `hosts` are the names under which a server on
    loopback is reached beside those of this machine, through a reverse proxy for example. `origins` are the web pages that
    may call it from a browser. `body_bytes` bounds a request, `seconds` its answer, waiting included. So many as `at_once`
    are answered at the same time, `waiting` more may wait for that, and the others are told to come again.
    """

    index: Place = Path("index")
    model: str = "offline"
    host: str = "127.0.0.1"
    port: int = 8000
    keys: tuple[str, ...] = field(default=(), repr=False)
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    body_bytes: int = 1_000_000
    seconds: float = 120.0
    at_once: int = 4
    waiting: int = 16

    @property
    def is_local(self) -> bool:
        """Whether the server listens where this machine alone reaches it."""
        return is_loopback(self.host)


def serve_settings(environ: Mapping[str, str], **given: Any) -> ServeSettings:
    """The settings as the environment has them, but for those given; ReaderError says what cannot be used, and the remedy."""
    settings = replace(settings_from(environ, ServeSettings, prefix=_PREFIX), **given)
    for name in ("body_bytes", "seconds", "at_once"):
        if not getattr(settings, name) > 0:
            raise ReaderError(f"{_PREFIX}{name.upper()} is {getattr(settings, name)}: it takes a number above 0.")
    for name, most in (("port", 65_535), ("waiting", 100_000)):
        if not 0 <= getattr(settings, name) <= most:
            raise ReaderError(
                f"{_PREFIX}{name.upper()} is {getattr(settings, name)}: it takes a whole number from 0 to {most}."
            )
    if not settings.keys and not settings.is_local:
        raise ReaderError(
            f"Without a key nobody but this machine is served, and {settings.host} is open to others: set {_PREFIX}KEYS."
        )
    if not settings.keys and settings.hosts:
        raise ReaderError(f"{_PREFIX}HOSTS lets others in, but no key is set: set {_PREFIX}KEYS as well.")
    return settings


def is_loopback(host: str) -> bool:
    """Whether a name or address is this machine's own and no other machine's."""
    try:
        return host.lower() == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def listening(host: str, port: int, remedy: str) -> socket.socket:
    """A socket that listens; ReaderError, with the remedy in it, where it cannot."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=256)
    except OSError as error:
        # What `create_server` adds to the reason repeats the address.
        reason = error.strerror if isinstance(error, socket.gaierror) else os.strerror(error.errno or 0)
        raise ReaderError(f"Cannot listen on {host}:{port} ({reason}). Give another port with {remedy}.") from error


def in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host
