"""`wattwise mcp`: serve the tools over the Model Context Protocol, on standard input and output or HTTP."""

import argparse
import logging
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from chatbot.answer import ReaderError
from chatbot.deadline import Limits
from chatbot.serve.settings import check_keys, in_url, is_loopback, listening
from chatbot.settings import Settings, settings_from
from ingest import CorpusError, place_at

if TYPE_CHECKING:
    from mcp.server import Server
    from mcp.server.transport_security import TransportSecuritySettings
    from starlette.types import ASGIApp

_INSTALL = "The MCP server needs mcp. Install it with: pip install 'wattwise[mcp]'"
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_EVERYWHERE = ("0.0.0.0", "::", "")
_LARGEST_REQUEST = 1 << 20
_GRACE = 5


@dataclass(frozen=True, slots=True)
class McpSettings:
    """Settings of the HTTP server. `key`, from `WATTWISE_MCP_KEY`, is the bearer token that its clients send."""

    key: str = field(default="", repr=False)
    host: str = "127.0.0.1"
    port: int = 8765


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until the client or a signal ends it. The exit code is 0, 1 (could not be done) or 2 (wrong usage)."""
    own = settings_from(os.environ, McpSettings, prefix="WATTWISE_MCP_")
    parser = _parser(own)
    options = parser.parse_args(arguments)
    if not options.http and (options.host, options.port, options.allow_host) != (own.host, own.port, []):
        parser.error("--host, --port and --allow-host are for --http: add it")
    if find_spec("mcp") is None:
        raise ReaderError(_INSTALL)
    from chatbot.bot import Chatbot
    from chatbot.serve.mcp_tools import mcp_server

    # Below WARNING the SDK logs whole requests, and with them users' questions.
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
        # While this runs, anything else that is printed goes to standard error.
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    # An orderly end would wait for the thread that reads standard input, and so for another line or its end.
    before = {number: signal.signal(number, _end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        anyio.run(serve)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return 0


def _end(number: int, _: object) -> None:
    os._exit(128 + number)


def _check(options: argparse.Namespace, key: str) -> None:
    """Raise ReaderError if others could reach the server without a key, or if nobody could reach it."""
    check_keys("WATTWISE_MCP_KEY", [key] if key else [])
    if not is_loopback(options.host) and not key:
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

    from chatbot.serve.failures import Boundary
    from chatbot.serve.gate import Keys

    app: ASGIApp = server.streamable_http_app(
        stateless_http=True,
        max_request_body_size=_LARGEST_REQUEST,
        transport_security=_security([options.host, *options.allow_host]),
    )
    if key:
        app = Boundary(Keys(app, [key]))
    with listening(options.host, options.port, "--port or WATTWISE_MCP_PORT") as listener:
        host, port = listener.getsockname()[:2]
        print(f"MCP is served at http://{in_url(host)}:{port}/mcp. Ctrl-C ends it.", file=sys.stderr, flush=True)
        config = uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=_GRACE)
        uvicorn.Server(config).run(sockets=[listener])
    return 0


def _security(names: Sequence[str]) -> "TransportSecuritySettings":
    """Allow only the Host and Origin names that clients use. This refuses pages on other names that resolve here."""
    from mcp.server.transport_security import TransportSecuritySettings

    hosts = [in_url(name) for name in dict.fromkeys((*_LOOPBACK, *names)) if name not in _EVERYWHERE]
    named = [form for host in hosts for form in (host, f"{host}:*")]
    origins = [f"{scheme}://{form}" for scheme in ("http", "https") for form in named]
    return TransportSecuritySettings(allowed_hosts=named, allowed_origins=origins)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (ReaderError, CorpusError) as failure:
        print(failure, file=sys.stderr)
        sys.exit(1)
