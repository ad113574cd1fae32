"""`wattwise mcp`: the tools for programs that speak the Model Context Protocol, over standard input and output or HTTP."""

import argparse
import hmac
import logging
import os
import socket
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from chatbot.answer import ReaderError
from chatbot.deadline import Limits
from chatbot.settings import Settings, settings_from
from ingest import CorpusError, place_at

if TYPE_CHECKING:
    from mcp.server import Server
    from mcp.server.transport_security import TransportSecuritySettings
    from starlette.types import ASGIApp, Receive, Scope, Send

_INSTALL = "The MCP server needs mcp. Install it with: pip install 'wattwise[mcp]'"
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_EVERYWHERE = ("0.0.0.0", "::", "")
_SHORTEST_KEY = 16
_LARGEST_REQUEST = 1 << 20
_GRACE = 5


@dataclass(frozen=True, slots=True)
class McpSettings:
    """What the HTTP server is told: `WATTWISE_MCP_KEY` is the bearer key that its clients send."""

    key: str = field(default="", repr=False)
    host: str = "127.0.0.1"
    port: int = 8765


class BearerKey:
    """An ASGI application that lets only requests with the key through to another."""

    def __init__(self, app: "ASGIApp", key: str) -> None:
        self._app = app
        self._expected = f"Bearer {key}".encode()

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        from starlette.responses import PlainTextResponse

        given = dict(scope.get("headers", ())).get(b"authorization", b"")
        if scope["type"] == "lifespan" or hmac.compare_digest(given, self._expected):
            await self._app(scope, receive, send)
            return
        refusal = "Send the header Authorization: Bearer with the key of WATTWISE_MCP_KEY."
        await PlainTextResponse(refusal, 401, {"WWW-Authenticate": "Bearer"})(scope, receive, send)


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until the client or a signal ends it; the exit code is 0, 1 (could not be done) or 2 (wrong use)."""
    own = settings_from(os.environ, McpSettings, prefix="WATTWISE_MCP_")
    options = _parser(own).parse_args(arguments)
    if find_spec("mcp") is None:
        raise ReaderError(_INSTALL)
    from chatbot.bot import Chatbot
    from chatbot.mcp_tools import mcp_server

    # Below a warning the SDK writes requests into its log, and with them questions.
    logging.getLogger("mcp").setLevel(max(logging.getLogger().level, logging.WARNING))
    if options.http:
        _check(options, own.key)
    bot = Chatbot.open(options.index, model=options.model)
    server = mcp_server(bot, settings_from(os.environ, Limits).deadline)
    return _serve_http(server, options, own.key) if options.http else _serve_stdio(server)


def _parser(own: McpSettings) -> argparse.ArgumentParser:
    common = settings_from(os.environ, Settings)
    parser = argparse.ArgumentParser(
        prog="wattwise mcp",
        description="The tools ask, search_sources, find_instances, size_workload and read_document for MCP clients, which start"
        " this command themselves; with --http, over streamable HTTP at /mcp.",
    )
    parser.add_argument(
        "--http", action="store_true", help="serve streamable HTTP instead of standard input and output"
    )
    parser.add_argument(
        "--host",
        default=own.host,
        metavar="H",
        help="the address for --http (%(default)s); another than loopback needs WATTWISE_MCP_KEY",
    )
    parser.add_argument("--port", type=int, default=own.port, metavar="N", help="the port for --http (%(default)s)")
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="a name or address that clients reach --host by; may be repeated",
    )
    parser.add_argument("--index", type=place_at, default=common.index, metavar="PLACE", help="the index (%(default)s)")
    parser.add_argument("--model", default=common.model, metavar="M", help="offline, or provider:model (%(default)s)")
    return parser


def _serve_stdio(server: "Server[Any]") -> int:
    import anyio
    from mcp.server.stdio import stdio_server

    async def serve() -> None:
        # While it runs, whatever else is printed goes to standard error.
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    anyio.run(serve)
    return 0


def _check(options: argparse.Namespace, key: str) -> None:
    """ReaderError where others could reach the server without a key, or nobody could."""
    if key and len(key) < _SHORTEST_KEY:
        raise ReaderError(
            f"WATTWISE_MCP_KEY is too short: give it at least {_SHORTEST_KEY} characters that nobody can guess."
        )
    if options.host not in _LOOPBACK and not key:
        raise ReaderError(
            f"On {options.host or 'every address'} others can reach the server: set WATTWISE_MCP_KEY to the key that they must send, or leave out --host."
        )
    if not 0 <= options.port < 1 << 16:
        raise ReaderError(f"There is no port {options.port}: give one from 1 to 65535, or 0 for any that is free.")
    if options.host in _EVERYWHERE and not options.allow_host:
        raise ReaderError(
            f"No client can name {options.host or 'every address'!r} in a URL: add --allow-host with the name or address that it uses."
        )


def _serve_http(server: "Server[Any]", options: argparse.Namespace, key: str) -> int:
    import uvicorn

    app: ASGIApp = server.streamable_http_app(
        stateless_http=True,
        max_request_body_size=_LARGEST_REQUEST,
        transport_security=_security([options.host, *options.allow_host]),
    )
    if key:
        app = BearerKey(app, key)
    listening = _listening(options.host, options.port)
    with listening:
        host, port = listening.getsockname()[:2]
        print(f"MCP is served at http://{_in_url(host)}:{port}/mcp. Ctrl-C ends it.", file=sys.stderr, flush=True)
        config = uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=_GRACE)
        uvicorn.Server(config).run(sockets=[listening])
    return 0


def _security(names: Sequence[str]) -> "TransportSecuritySettings":
    """Requests must name the server as its clients do: a page of another name that resolves to it is refused."""
    from mcp.server.transport_security import TransportSecuritySettings

    hosts = [_in_url(name) for name in dict.fromkeys((*_LOOPBACK, *names)) if name not in _EVERYWHERE]
    named = [form for host in hosts for form in (host, f"{host}:*")]
    origins = [f"{scheme}://{form}" for scheme in ("http", "https") for form in named]
    return TransportSecuritySettings(allowed_hosts=named, allowed_origins=origins)


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _listening(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        # Python adds the address to the reason.
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
        raise ReaderError(
            f"Port {port} of {host} cannot be listened on ({reason}): give another with --port or --host."
        ) from error


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (ReaderError, CorpusError) as failure:
        print(failure, file=sys.stderr)
        sys.exit(1)
