"""Access control: only requests that name this app and come from its own pages are served; other pages may not frame it.

The address of a client says little. Any page can make its own name resolve to 127.0.0.1 (DNS rebinding), and behind a
reverse proxy every visitor connects from the proxy's address.
"""

import re
from collections.abc import Iterable, Mapping
from ipaddress import ip_address
from uuid import uuid4

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chatbot.serve.gate import authority_of, name_of
from chatbot.serve.settings import is_loopback

REFUSED = "This app does not answer under this name. Open it as localhost, or have its operator add the name to WATTWISE_APP_HOSTS."
_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
_PROXIED = ("forwarded", "via", "x-forwarded-", "x-real-ip", "x-original-", "cf-connecting-ip", "true-client-ip")
# The cookie that identifies a browser, for its conversations and votes.
VISITOR = "wattwise-visitor"
_A_YEAR = 31_536_000
_FRAMING = {"Content-Security-Policy": "frame-ancestors 'none'", "X-Frame-Options": "DENY"}


class OwnNames:
    """ASGI middleware that refuses requests for other host names and from other origins, WebSockets included.

    `hosts` are the names that the operator has given the app, in addition to those of this machine.
    """

    def __init__(self, app: ASGIApp, hosts: Iterable[str]) -> None:
        self._app = app
        self._hosts = frozenset(host.lower().rstrip(".") for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif is_served(Headers(scope=scope), self._hosts, st.get_option("server.address")):
            await self._app(scope, receive, _with_headers(send, scope))
        elif scope["type"] == "http":
            await PlainTextResponse(REFUSED, 403, _FRAMING)(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008, "reason": "another name or page"})


def _with_headers(send: Send, scope: Scope) -> Send:
    """Forbid framing of the responses, and set a random visitor cookie in a browser that has none.

    Only the browser's own requests ever contain the cookie's value.
    """
    is_named = visitor_of(cookie_parser(Headers(scope=scope).get("cookie", "")))
    secure = "; Secure" if scope.get("scheme") == "https" else ""
    cookie = f"{VISITOR}={uuid4().hex}; Path=/; Max-Age={_A_YEAR}; HttpOnly; SameSite=Lax{secure}"

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(_FRAMING)
            if not is_named and headers.get("content-type", "").startswith("text/html"):
                headers.append("Set-Cookie", cookie)
        await send(message)

    return sending


def visitor_of(cookies: Mapping[str, str]) -> str:
    """Return a browser's visitor cookie; "" if it is missing or not one of ours."""
    name = str(cookies.get(VISITOR, ""))
    return name if re.fullmatch("[0-9a-f]{32}", name) else ""


def is_served(headers: Headers, hosts: frozenset[str], address: str | None) -> bool:
    """Return whether a request names one of `hosts` or this machine, and its Origin, if any, is the app's own.

    If the app listens beyond loopback, any IP address is accepted too: DNS rebinding needs a name.
    """
    given, origins = headers.getlist("host"), headers.getlist("origin")
    name = name_of(given[0]) if len(given) == 1 else None
    if name is None or any(authority_of(origin) != given[0].lower() for origin in origins):
        return False
    own = name in _LOCAL or name in hosts or name == (address or "").lower()
    return own or (not is_loopback(address) and _is_ip(name))


def is_direct(headers: Mapping[str, str]) -> bool:
    """Return whether a request has no headers that a proxy adds."""
    return not any(name.lower().startswith(_PROXIED) for name in headers)


def _is_ip(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
