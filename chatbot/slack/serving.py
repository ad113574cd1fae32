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
from chatbot.slack.answering import take_over
from chatbot.slack.desk import ENDINGS, Desk, close_desk
from chatbot.slack.events import is_complete
from chatbot.slack.journal import described, failed, log, quiet_logger, slack_code
from chatbot.slack.settings import Tokens
from chatbot.slack.signature import fault_of

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer
    from _typeshed.wsgi import StartResponse, WSGIEnvironment
    from _typeshed.wsgi import WSGIApplication as Application
    from slack_bolt import App, BoltRequest
    from slack_bolt.adapter.socket_mode.websocket_client import SocketModeHandler

PATH = "/slack/events"
HEALTH = "/health"
# Slack's own requests stay far below it.
_MOST_BYTES = 1_000_000
_SOCKET_WORKERS = 10
# Seconds between two looks at leases, and at what is too old.
_BEAT = 3.0
_TIDYING = 600.0
# Without a beat for so long the process is not healthy any more.
_LATEST_BEAT = 30.0
# A ping every so many seconds, and for how long none may be answered before a connection counts as dead.
_PING = 3.0
_SILENCE = 8.0
# So long a connection may be gone before Slack is asked whether it still takes the token.
_GONE = 60.0
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


Fault = Callable[[], str]


def event_server(app: "App", signing_secret: str, host: str, port: int, fault: Fault = lambda: "") -> EventServer:
    """The app on a threaded server, with its health; port 0 takes any free one. ReaderError when it cannot listen."""
    return _listening(with_health(verified(app, signing_secret), fault), host, port, "--port or WATTWISE_SLACK_PORT")


def _listening(application: "Application", host: str, port: int, remedy: str) -> EventServer:
    try:
        return make_server(host, port, application, server_class=EventServer, handler_class=_Request)
    except OSError as error:
        raise ReaderError(
            f"Cannot listen on {host}:{port} ({error.strerror}). Give another port with {remedy}."
        ) from error


class _Refused(Exception):
    def __init__(self, status: HTTPStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status


def with_health(application: "Application | None", fault: Fault) -> "Application":
    """The application, and beside it an address that says whether the process does its work: 200, or 503 and why not."""

    def either(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        if (environ.get("REQUEST_METHOD"), environ.get("PATH_INFO")) == ("GET", HEALTH):
            reason = fault()
            status = HTTPStatus.SERVICE_UNAVAILABLE if reason else HTTPStatus.OK
            return _answered(start_response, status, reason or "ok")
        if application is None:
            return _answered(start_response, HTTPStatus.NOT_FOUND)
        return application(environ, start_response)

    return either


def _answered(start_response: "StartResponse", status: int, text: str = "", **headers: str) -> list[bytes]:
    body = text.encode()
    given = [*headers.items(), ("content-length", str(len(body)))]
    start_response(f"{status:d} {HTTPStatus(status).phrase}", given)
    return [body]


def verified(app: "App", signing_secret: str) -> "Application":
    """A WSGI application that hands Bolt what Slack has signed. Whoever else asks gets a status and no word."""

    def application(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        try:
            response = app.dispatch(_request(environ, signing_secret))
        except _Refused as refused:
            log.warning("a request was refused with %d: %s", refused.status, refused)
            return _answered(start_response, refused.status)
        except Exception as error:
            failed("a request was not answered", error)
            return _answered(start_response, HTTPStatus.INTERNAL_SERVER_ERROR)
        return _answered(start_response, response.status, response.body, **response.first_headers())

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
    """Answer signed requests until a stop signal comes, or Slack takes nothing from the app any more (ReaderError)."""
    with keeping_house(desk) as house:
        server = event_server(app, tokens.signing_secret, desk.settings.host, desk.settings.port, house.fault)
        log.info("listening on http://%s:%d%s", desk.settings.host, server.server_port, PATH)
        with server, _until_stopped(desk, server.shutdown):
            server.serve_forever(poll_interval=0.1)
    close(desk, app)


def serve_socket(desk: Desk, app: "App", tokens: Tokens) -> None:
    """Answer what comes over the WebSocket until a stop signal comes, or Slack takes nothing any more (ReaderError)."""
    # Slack's own client needs a minute to notice that a connection is gone; this one is told by the system.
    from slack_bolt.adapter.socket_mode.websocket_client import SocketModeHandler
    from slack_sdk.errors import SlackApiError

    handler = SocketModeHandler(
        app, tokens.app_token, logger=quiet_logger(), concurrency=_SOCKET_WORKERS, ping_interval=_PING
    )
    stopped = threading.Event()

    def fault() -> str:
        return house.fault() or ("" if handler.client.is_connected() else "not connected to Slack")

    with keeping_house(desk) as house, _until_stopped(desk, stopped.set), _health(desk, fault):
        try:
            handler.connect()  # type: ignore[no-untyped-call]
            _watch(desk, handler, stopped)
        except SlackApiError as error:
            raise ReaderError(
                f"Slack does not take SLACK_APP_TOKEN ({slack_code(error)}). Copy it again, with the scope connections:write."
            ) from error
        finally:
            handler.close()  # type: ignore[no-untyped-call]
    close(desk, app)


def _watch(desk: Desk, handler: "SocketModeHandler", stopped: threading.Event) -> None:
    """Until a stop: replace a connection that answers no ping, and see whether Slack still wants one where none comes about.

    SlackApiError where it does not.
    """
    session, heard, said = None, time.time(), False
    while not stopped.wait(timeout=0.5):
        if handler.client.current_session is not session:
            session, heard = handler.client.current_session, time.time()
        if not handler.client.is_connected() or session is None:
            if time.time() - heard > _GONE:
                heard = time.time()
                _ask_for_a_connection(desk, handler)
            continue
        if not said:
            log.info("connected to Slack")
            said = True
        # The library sends pings, and takes no notice of what does not answer them.
        heard = max(heard, session.last_pong_tm)
        if time.time() - heard > _SILENCE:
            log.warning("the connection answers no more: connecting again")
            heard = time.time()
            handler.client.connect_to_new_endpoint(force=True)


def _ask_for_a_connection(desk: Desk, handler: "SocketModeHandler") -> None:
    try:
        desk.hasty.apps_connections_open(app_token=handler.app_token)
    except Exception as error:
        log.warning("not connected to Slack: %s", described(error))
        if slack_code(error) in ENDINGS:
            raise


@contextmanager
def _health(desk: Desk, fault: Fault) -> Iterator[None]:
    """Answer /health on a port of its own, where one is set."""
    if not desk.settings.health_port:
        yield
        return
    application = with_health(None, fault)
    server = _listening(application, desk.settings.host, desk.settings.health_port, "WATTWISE_SLACK_HEALTH_PORT")
    with server:
        thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.1), daemon=True)
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def _until_stopped(desk: Desk, stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` once, from a thread, on SIGTERM and SIGINT and where the desk is to end: a server cannot be stopped from where it serves."""

    def stopping(number: int, frame: FrameType | None) -> None:
        desk.ending.asked.set()

    def wait() -> None:
        desk.ending.asked.wait()
        stop()

    before = {number: signal.signal(number, stopping) for number in (signal.SIGTERM, signal.SIGINT)}
    waiting = threading.Thread(target=wait, name="stop", daemon=True)
    waiting.start()
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class House:
    """Leases renewed every few seconds, and what is too old deleted every ten minutes, from a thread of its own."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._beat = time.monotonic()
        self._tidied = -_TIDYING

    def fault(self) -> str:
        """Why the process does not do its work; empty where it does."""
        return "the store cannot be written" if time.monotonic() - self._beat > _LATEST_BEAT else ""

    def keep(self, stopped: threading.Event) -> None:
        while True:
            try:
                take_over(self._desk)
                self._beat = time.monotonic()
                if self._beat - self._tidied > _TIDYING:
                    self._tidied = self._beat
                    self._tidy()
            except ReaderError as error:
                failed("the state was not kept", error)
            if stopped.wait(_BEAT):
                return

    def _tidy(self) -> None:
        self._desk.state.forget(self._desk.settings.keep_days)
        try:
            self._desk.members.refresh()
        except Exception as error:
            log.warning("the user groups could not be read again: %s", described(error))


@contextmanager
def keeping_house(desk: Desk) -> Iterator[House]:
    """Keep house until the end, which comes after the last question."""
    stopped, house = threading.Event(), House(desk)
    keeper = threading.Thread(target=house.keep, args=(stopped,), name="housekeeping", daemon=True)
    keeper.start()
    try:
        yield house
    finally:
        stopped.set()
        keeper.join()


def close(desk: Desk, app: "App") -> None:
    """Finish what was acknowledged and what was taken on. ReaderError where it was Slack that ended it."""
    log.info("stopping: finishing what was taken on")
    app.listener_runner.listener_executor.shutdown()
    if not close_desk(desk):
        log.warning("stopped before everything was answered")
    if desk.ending.reason:
        raise ReaderError(desk.ending.reason)
