"""The two ways that Slack reaches the app: a WebSocket it opens to Slack (Socket Mode), or signed HTTP requests."""

import re
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from io import BufferedReader, RawIOBase
from socketserver import ThreadingMixIn
from types import FrameType
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from chatbot.answer import ReaderError
from chatbot.slack.desk import Desk, close_desk, keep_house
from chatbot.slack.events import is_complete
from chatbot.slack.journal import described, failed, log, quiet_logger, slack_code
from chatbot.slack.settings import Tokens
from chatbot.slack.signature import fault_of

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer
    from _typeshed.wsgi import StartResponse, WSGIEnvironment
    from slack_bolt import App, BoltRequest

PATH = "/slack/events"
# Slack's own requests stay far below it.
_MOST_BYTES = 1_000_000
_SOCKET_WORKERS = 10
_HOUSEKEEPING = 600.0
# Slack itself waits three seconds for an answer.
_ARRIVAL_SECONDS = 10.0
_HEADERS = {
    "CONTENT_TYPE": "content-type",
    "HTTP_X_SLACK_REQUEST_TIMESTAMP": "x-slack-request-timestamp",
    "HTTP_X_SLACK_SIGNATURE": "x-slack-signature",
    "HTTP_X_SLACK_RETRY_NUM": "x-slack-retry-num",
    "HTTP_X_SLACK_RETRY_REASON": "x-slack-retry-reason",
}


class EventServer(ThreadingMixIn, WSGIServer):
    """A thread for each request, so that none waits for another's."""

    daemon_threads = False
    request_queue_size = 256
    # A request that has begun is answered before a stop.
    block_on_close = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that breaks off or sends nothing is no traceback's worth."""
        error = sys.exception()
        log.info("a connection was dropped: %s", described(error) if error else "")


class _Request(WSGIRequestHandler):
    def setup(self) -> None:
        super().setup()
        self.rfile.close()
        self.rfile = BufferedReader(_Arriving(self.connection, _ARRIVAL_SECONDS))

    def log_message(self, format: str, *args: Any) -> None:
        """A request's address may carry what is not for a log."""


class _Arriving(RawIOBase):
    """What a connection sends within some seconds in all; a socket's own timeout begins anew with every byte."""

    def __init__(self, connection: socket.socket, seconds: float) -> None:
        self._connection = connection
        self._end = time.monotonic() + seconds

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        self._connection.settimeout(max(0.001, self._end - time.monotonic()))
        return self._connection.recv_into(buffer)


def event_server(app: "App", signing_secret: str, host: str, port: int) -> EventServer:
    """The app on a threaded server; port 0 takes any free one. ReaderError when it cannot listen."""
    try:
        application = verified(app, signing_secret)
        return make_server(host, port, application, server_class=EventServer, handler_class=_Request)
    except OSError as error:
        raise ReaderError(
            f"Cannot listen on {host}:{port} ({error.strerror}). Give another port with --port or WATTWISE_SLACK_PORT."
        ) from error


class _Refused(Exception):
    def __init__(self, status: HTTPStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status


def verified(app: "App", signing_secret: str) -> "Callable[[WSGIEnvironment, StartResponse], Iterable[bytes]]":
    """A WSGI application that hands Bolt what Slack has signed. Whoever else asks gets a status and no word."""
    from slack_bolt.response import BoltResponse

    def application(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        try:
            response = app.dispatch(_request(environ, signing_secret))
        except _Refused as refused:
            log.warning("a request was refused with %d: %s", refused.status, refused)
            response = BoltResponse(status=refused.status)
        except Exception as error:
            failed("a request was not answered", error)
            response = BoltResponse(status=HTTPStatus.INTERNAL_SERVER_ERROR)
        body = response.body.encode()
        headers = [*response.first_headers().items(), ("content-length", str(len(body)))]
        start_response(f"{response.status:d} {HTTPStatus(response.status).phrase}", headers)
        return [body]

    return application


def _request(environ: "WSGIEnvironment", signing_secret: str) -> "BoltRequest":
    from slack_bolt.request import BoltRequest

    body = _body(environ)
    headers = {name: str(environ.get(variable, "")) for variable, name in _HEADERS.items()}
    signed = headers["x-slack-request-timestamp"], headers["x-slack-signature"]
    if fault := fault_of(body, *signed, secret=signing_secret, now=time.time()):
        raise _Refused(HTTPStatus.UNAUTHORIZED, fault)
    try:
        request = BoltRequest(body=body.decode(), headers={name: value for name, value in headers.items() if value})
    except Exception as error:
        # Bolt reads the body at once, and stumbles in many ways over one that is not of Slack's shape.
        raise _Refused(HTTPStatus.BAD_REQUEST, "its body cannot be read") from error
    if not is_complete(request.body):
        raise _Refused(HTTPStatus.BAD_REQUEST, "it lacks a field that its kind has")
    return request


def _body(environ: "WSGIEnvironment") -> bytes:
    if environ.get("REQUEST_METHOD") != "POST" or environ.get("PATH_INFO") != PATH:
        raise _Refused(HTTPStatus.NOT_FOUND, "nothing is at its address")
    length = environ.get("CONTENT_LENGTH") or "0"
    if not re.fullmatch("[0-9]{1,12}", length):
        raise _Refused(HTTPStatus.BAD_REQUEST, "its length is no number")
    if int(length) > _MOST_BYTES:
        raise _Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "it is too long")
    try:
        body = bytes(environ["wsgi.input"].read(int(length)))
    except OSError as error:
        raise _Refused(HTTPStatus.REQUEST_TIMEOUT, "it did not arrive in time") from error
    if len(body) < int(length):
        raise _Refused(HTTPStatus.BAD_REQUEST, "it broke off")
    return body


def serve_http(desk: Desk, app: "App", tokens: Tokens) -> None:
    """Answer signed requests until a stop signal comes."""
    server = event_server(app, tokens.signing_secret, desk.settings.host, desk.settings.port)
    log.info("listening on http://%s:%d%s", desk.settings.host, server.server_port, PATH)
    with server, _until_stopped(server.shutdown), keeping_house(desk):
        server.serve_forever(poll_interval=0.1)
    close(desk, app)


def serve_socket(desk: Desk, app: "App", tokens: Tokens) -> None:
    """Answer what comes over the WebSocket until a stop signal comes."""
    from slack_bolt.adapter.socket_mode import SocketModeHandler
    from slack_sdk.errors import SlackApiError

    handler = SocketModeHandler(app, tokens.app_token, logger=quiet_logger(), concurrency=_SOCKET_WORKERS)
    stopped = threading.Event()
    with _until_stopped(stopped.set), keeping_house(desk):
        try:
            handler.connect()  # type: ignore[no-untyped-call]
            log.info("connected to Slack")
            while not stopped.wait(timeout=1):
                pass
        except SlackApiError as error:
            raise ReaderError(
                f"Slack does not take SLACK_APP_TOKEN ({slack_code(error)}). Copy it again, with the scope connections:write."
            ) from error
        finally:
            handler.close()  # type: ignore[no-untyped-call]
    close(desk, app)


@contextmanager
def _until_stopped(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` on SIGTERM and SIGINT, once, from a thread: a server cannot be stopped from where it serves."""

    def stopping(number: int, frame: FrameType | None) -> None:
        threading.Thread(target=stop, daemon=True).start()

    before = {number: signal.signal(number, stopping) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def keeping_house(desk: Desk) -> Iterator[None]:
    """Now and every ten minutes, from a thread of its own."""
    stopped = threading.Event()

    def keep() -> None:
        while True:
            try:
                keep_house(desk)
            except ReaderError as error:
                failed("the state was not tidied", error)
            if stopped.wait(_HOUSEKEEPING):
                return

    keeper = threading.Thread(target=keep, name="housekeeping", daemon=True)
    keeper.start()
    try:
        yield
    finally:
        stopped.set()
        keeper.join()


def close(desk: Desk, app: "App") -> None:
    """Finish what was acknowledged and what was taken on."""
    log.info("stopping: finishing what was taken on")
    app.listener_runner.listener_executor.shutdown()
    if not close_desk(desk):
        log.warning("stopped before everything was answered")
