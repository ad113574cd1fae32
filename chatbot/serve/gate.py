"""ASGI middleware that decides who is let in: requests for this server's own names, with a key, and of bounded size.

A web page can make its own name resolve to 127.0.0.1 (DNS rebinding), and any page can send a request to this machine,
even if it may not read the answer. If a key is required neither gets far, because no page knows it.
"""

import asyncio
import hmac
from collections.abc import Collection, Iterable
from hashlib import sha256
from http import HTTPStatus
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chatbot.serve.failures import Failure
from chatbot.serve.settings import ServeSettings, is_loopback

_ARRIVAL_SECONDS = 20.0


class OwnNames:
    """Refuses requests for foreign host names if the server listens on loopback, and of foreign origins if there are no keys."""

    def __init__(self, app: ASGIApp, settings: ServeSettings) -> None:
        self._app, self._settings = app, settings
        self._hosts = frozenset(host.lower().rstrip(".") for host in settings.hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        fault = self._fault(Headers(scope=scope))
        await (Failure(HTTPStatus.FORBIDDEN, fault).response if fault else self._app)(scope, receive, send)

    def _fault(self, headers: Headers) -> str:
        given, allowed = headers.getlist("host"), self._settings.origins
        host, name = given[0].lower() if given else "", name_of(given[0]) if len(given) == 1 else None
        if self._settings.is_local and not (name and (is_loopback(name) or name in self._hosts)):
            return "This server does not answer under this name. Call it as localhost, or have its operator add the name to WATTWISE_SERVE_HOSTS."
        foreign = [o for o in headers.getlist("origin") if o not in allowed and authority_of(o) != host]
        if foreign and not self._settings.keys and "*" not in allowed:
            return "Pages of other origins are not answered. Have the operator add yours to WATTWISE_SERVE_ORIGINS."
        return ""


class Keys:
    """Refuses requests without one of the keys, except to the paths that are `open`; its Failure goes to `Boundary`."""

    def __init__(self, app: ASGIApp, keys: Iterable[str], open: Collection[str] = ()) -> None:
        self._app, self._open = app, frozenset(open)
        self._digests = [_digest(key.encode(errors="surrogateescape")) for key in keys]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_free = scope["type"] != "http" or not self._digests or scope["path"] in self._open
        if not is_free and not self._has_key(scope):
            text = "The key is missing or wrong. Send one of the server's keys as Authorization: Bearer KEY."
            raise Failure(HTTPStatus.UNAUTHORIZED, text, "invalid_api_key", {"WWW-Authenticate": "Bearer"})
        await self._app(scope, receive, send)

    def _has_key(self, scope: Scope) -> bool:
        given = Headers(scope=scope).getlist("authorization")
        scheme, _, key = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        # Every key is compared, as digests of equal length, so that the time taken reveals nothing about them.
        matches = [hmac.compare_digest(_digest(key.strip().encode("latin-1")), digest) for digest in self._digests]
        return scheme.lower() == "bearer" and any(matches)


class Bounded:
    """Reads a request's whole body before it is passed on; it must arrive in time and have at most `most` bytes."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app, self._most = app, most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            async with asyncio.timeout(_ARRIVAL_SECONDS):
                body = await self._body(scope, receive)
        except TimeoutError:
            text = "The request did not arrive in time. Send it again."
            raise Failure(HTTPStatus.REQUEST_TIMEOUT, text) from None
        if body is None:
            return
        arrived: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def receiving() -> Message:
            return arrived.pop() if arrived else await receive()

        await self._app(scope, receiving, send)

    async def _body(self, scope: Scope, receive: Receive) -> bytes | None:
        """Return the body, None if the client disconnects before its end."""
        length, body, more = Headers(scope=scope).get("content-length", "0"), bytearray(), True
        self._check(int(length) if length.isdecimal() else 0)
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            body += message.get("body", b"")
            self._check(len(body))
            more = message.get("more_body", False)
        return bytes(body)

    def _check(self, length: int) -> None:
        if length > self._most:
            text = f"The request is longer than {self._most:,} bytes. Send a shorter one, or have the operator raise WATTWISE_SERVE_BODY_BYTES."
            raise Failure(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, text, headers={"Connection": "close"})


def _digest(key: bytes) -> bytes:
    return sha256(key).digest()


def name_of(host: str) -> str | None:
    """Return the name in a Host header, without its port; None if the header is malformed."""
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port  # raises ValueError if it is not a number
    except ValueError:
        return None
    return parts.hostname.rstrip(".") if parts.hostname and parts.netloc == host and "@" not in host else None


def authority_of(origin: str) -> str | None:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return None
    return parts.netloc.lower() if parts.scheme in ("http", "https") else None
