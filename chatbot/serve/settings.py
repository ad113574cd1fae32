"""The settings of the server, and their validation."""

import os
import re
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from chatbot.answer import ReaderError
from chatbot.llm.models import ModelSettings
from chatbot.settings import settings_from
from ingest import Place

_PREFIX = "WATTWISE_SERVE_"
_OFFLINE_SECONDS = 60.0
_SHORTEST_KEY = 16
_ORIGIN = re.compile(r"\*|null|[\w.+-]+://[^/?#@\s]+")


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """`WATTWISE_SERVE_*` variables; `index` and `model` fall back to `WATTWISE_INDEX` and `WATTWISE_MODEL`.

    Any of `keys` lets a client in; without keys only this machine is served. `hosts` are further names of a server on
    loopback besides those of this machine, for example behind a reverse proxy. `origins` are the origins of web pages that
    may call it from a browser. `body_bytes` bounds a request, `seconds` its answer, including the wait. Up to `at_once`
    requests are answered at the same time, up to `waiting` more may wait, and others are told to ask again.
    """

    index: Place = Path("index")
    model: str = "offline"
    host: str = "127.0.0.1"
    port: int = 8000
    keys: tuple[str, ...] = field(default=(), repr=False)
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    body_bytes: int = 1_000_000
    seconds: float = 450.0
    at_once: int = 4
    waiting: int = 16

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach the address that the server listens on."""
        return is_loopback(self.host)


def serve_settings(environ: Mapping[str, str], **given: Any) -> ServeSettings:
    """Return the settings of the environment, overridden by those given; raises ReaderError with the remedy for bad ones."""
    model = settings_from(environ, ModelSettings)
    # Where a model takes too long to load, there is still time for the offline answer.
    enough = str(model.first_token + model.deadline + _OFFLINE_SECONDS)
    settings = replace(settings_from({f"{_PREFIX}SECONDS": enough, **environ}, ServeSettings, prefix=_PREFIX), **given)
    for name in ("body_bytes", "seconds", "at_once"):
        if not getattr(settings, name) > 0:
            raise ReaderError(f"{_PREFIX}{name.upper()} is {getattr(settings, name)}: it takes a number above 0.")
    for name, most in (("port", 65_535), ("waiting", 100_000)):
        if not 0 <= getattr(settings, name) <= most:
            raise ReaderError(
                f"{_PREFIX}{name.upper()} is {getattr(settings, name)}: it takes a whole number from 0 to {most}."
            )
    check_keys(f"{_PREFIX}KEYS", settings.keys)
    if not settings.keys and not settings.is_local:
        raise ReaderError(
            f"Without a key nobody but this machine is served, and {settings.host} is open to others: set {_PREFIX}KEYS."
        )
    if not settings.keys and settings.hosts:
        raise ReaderError(f"{_PREFIX}HOSTS lets others in, but no key is set: set {_PREFIX}KEYS as well.")
    check_names(f"{_PREFIX}HOSTS", settings.hosts)
    for origin in settings.origins:
        if not _ORIGIN.fullmatch(origin):
            raise ReaderError(f"{_PREFIX}ORIGINS has {origin!r}: it takes origins such as https://chat.example, without a path.")
    return settings


def check_keys(variable: str, keys: Iterable[str]) -> None:
    """Raise ReaderError for a key that could be guessed by trying."""
    if any(len(key) < _SHORTEST_KEY for key in keys):
        raise ReaderError(f"{variable} has too short a key: give it at least {_SHORTEST_KEY} characters that nobody can guess.")


def check_names(variable: str, names: Iterable[str]) -> None:
    """Raise ReaderError for a name that no request can have in its Host header, such as a whole address."""
    for name in names:
        if "/" in name or name.count(":") == 1:
            raise ReaderError(f"{variable} has {name!r}: it takes names such as chat.example, without https://, port and path.")


def is_loopback(host: str | None) -> bool:
    """Whether a host name or address is a loopback one, which only this machine can reach."""
    try:
        address = ip_address(host or "")
    except ValueError:
        return host is not None and host.lower() == "localhost"
    # Python before 3.13 does not look into "::ffff:127.0.0.1".
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


def listening(host: str, port: int, remedy: str) -> socket.socket:
    """Return a listening socket; raises ReaderError with the remedy if it cannot listen."""
    if not 0 <= port < 1 << 16:
        raise ReaderError(f"There is no port {port}. Give another port with {remedy}.")
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=256)
    except OSError as error:
        # `create_server` appends the address to the reason, which would repeat it here.
        reason = error.strerror if isinstance(error, socket.gaierror) else os.strerror(error.errno or 0)
        raise ReaderError(f"Cannot listen on {host}:{port} ({reason}). Give another port with {remedy}.") from error


def in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host
