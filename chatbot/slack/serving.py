"""The two ways in which Slack reaches the app: a WebSocket that the app opens (Socket Mode), or signed HTTP requests."""

import hashlib
import hmac
import re
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedReader, RawIOBase
from typing import TYPE_CHECKING, Any

from chatbot.answer import ReaderError
from chatbot.slack.answering import take_over
from chatbot.slack.desk import ENDINGS, Desk, close_desk
from chatbot.slack.journal import described, failed, log, quiet_logger, slack_code
from chatbot.slack.settings import Tokens

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer
    from slack_bolt import App, BoltRequest
    from slack_bolt.adapter.socket_mode.websocket_client import SocketModeHandler

PATH = "/slack/events"
HEALTH = "/health"
# The largest request accepted; Slack's own are far smaller.
_MOST_BYTES = 1_000_000
_SOCKET_WORKERS = 10
# Seconds between lease renewals, and between clean-ups.
_BEAT = 3.0
_TIDYING = 600.0
# Seconds without a successful lease renewal before the process counts as unhealthy.
_LATEST_BEAT = 30.0
# Seconds between pings, and seconds without a pong before a connection counts as dead.
_PING = 3.0
_SILENCE = 8.0
# Seconds without a connection before Slack is asked whether it still accepts the token.
_GONE = 60.0
# Seconds in which a whole request must arrive; Slack itself waits three seconds for an answer.
_ARRIVAL_SECONDS = 10.0
_TIMESTAMP, _SIGNATURE = "x-slack-request-timestamp", "x-slack-signature"
_HEADERS = ("content-type", _TIMESTAMP, _SIGNATURE, "x-slack-retry-num", "x-slack-retry-reason")
_FIVE_MINUTES = 300
Fault = Callable[[], str]


class _Refused(Exception):
    def __init__(self, status: HTTPStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class EventServer(ThreadingHTTPServer):
    """Passes requests that Slack has signed to the app, and reports at /health whether the process works, and if not, why.

    Each request has its own thread, so that none waits for another; requests in progress are answered before a stop.
    Without an app, there is only /health. Port 0 picks any free port. Raises ReaderError if it cannot listen.
    """

    daemon_threads = False
    request_queue_size = 256

    def __init__(
        self,
        app: "App | None",
        signing_secret: str,
        host: str,
        port: int,
        fault: Fault = lambda: "",
        remedy: str = "--port or WATTWISE_SLACK_PORT",
    ) -> None:
        self.app, self.signing_secret, self.fault = app, signing_secret, fault
        try:
            super().__init__((host, port), _Request)
        except (OSError, OverflowError) as error:
            reason = error.strerror if isinstance(error, OSError) else "there is no such port"
            raise ReaderError(f"Cannot listen on {host}:{port} ({reason}). Give another port with {remedy}.") from error

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log a connection that breaks off or sends nothing without a traceback."""
        error = sys.exception()
        log.info("a connection was dropped: %s", described(error) if error else "")


class _Request(BaseHTTPRequestHandler):
    """Answers requests that are not from Slack with a status only, without an explanation."""

    server: EventServer
    error_message_format = ""

    def setup(self) -> None:
        super().setup()
        self.rfile.close()
        self.rfile = BufferedReader(_Arriving(self.connection, _ARRIVAL_SECONDS))

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: a request's address may contain data that must not be logged."""

    def do_GET(self) -> None:
        if self.path.partition("?")[0] != HEALTH:
            self._answer(HTTPStatus.NOT_FOUND)
            return
        reason = self.server.fault()
        self._answer(HTTPStatus.SERVICE_UNAVAILABLE if reason else HTTPStatus.OK, reason or "ok")

    do_HEAD = do_GET

    def do_POST(self) -> None:
        try:
            if self.server.app is None or self.path.partition("?")[0] != PATH:
                raise _Refused(HTTPStatus.NOT_FOUND, "nothing is at its address")
            response = self.server.app.dispatch(self._signed())
        except _Refused as refused:
            log.warning("a request was refused with %d: %s", refused.status, refused)
            self._answer(refused.status)
        except Exception as error:
            failed("a request was not answered", error)
            self._answer(HTTPStatus.INTERNAL_SERVER_ERROR)
        else:
            self._answer(response.status, response.body, response.first_headers())

    def _answer(self, status: int, text: str = "", headers: Mapping[str, str] | None = None) -> None:
        body = text.encode()
        self.send_response(status)
        for name, value in {**(headers or {}), "content-length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _signed(self) -> "BoltRequest":
        from slack_bolt.request import BoltRequest

        body = self._body()
        headers: dict[str, str | Sequence[str]] = {n: v for n in _HEADERS if (v := ",".join(self.headers.get_all(n, ())))}
        timestamp, signature = str(headers.get(_TIMESTAMP, "")), str(headers.get(_SIGNATURE, ""))
        if fault := fault_of(body, timestamp, signature, secret=self.server.signing_secret, now=time.time()):
            raise _Refused(HTTPStatus.UNAUTHORIZED, fault)
        try:
            return BoltRequest(body=body.decode(), headers=headers)
        except Exception as error:
            # Bolt parses the body here, and fails in many ways if it does not have Slack's format.
            raise _Refused(HTTPStatus.BAD_REQUEST, "its body cannot be read") from error

    def _body(self) -> bytes:
        length = self.headers.get("content-length") or "0"
        if not re.fullmatch("[0-9]{1,12}", length):
            raise _Refused(HTTPStatus.BAD_REQUEST, "its length is no number")
        if int(length) > _MOST_BYTES:
            raise _Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "it is too long")
        try:
            body = self.rfile.read(int(length))
        except OSError as error:
            raise _Refused(HTTPStatus.REQUEST_TIMEOUT, "it did not arrive in time") from error
        if len(body) < int(length):
            raise _Refused(HTTPStatus.BAD_REQUEST, "it broke off")
        return body


class _Arriving(RawIOBase):
    """Reads from a connection with one deadline for everything; a socket's own timeout restarts with every byte."""

    def __init__(self, connection: socket.socket, seconds: float) -> None:
        self._connection = connection
        self._end = time.monotonic() + seconds

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        self._connection.settimeout(max(0.001, self._end - time.monotonic()))
        return self._connection.recv_into(buffer)


def fault_of(body: bytes, timestamp: str, signature: str, *, secret: str, now: float) -> str:
    """Return why a request does not count as Slack's, in words for the log; empty if it does.

    This follows https://docs.slack.dev/authentication/verifying-requests-from-slack/. The headers may contain anything.
    The checks in Bolt and Slack's SDK give no reason, and raise if a signature is not ASCII or a timestamp is too long for
    a number.
    """
    if not re.fullmatch("[0-9]{1,12}", timestamp) or not re.fullmatch("v0=[0-9a-f]{64}", signature):
        return "it is not signed"
    if abs(now - int(timestamp)) > _FIVE_MINUTES:
        return "it was signed more than five minutes from now: set this machine's clock"
    right = hmac.new(secret.encode(), f"v0:{timestamp}:".encode() + body, hashlib.sha256).hexdigest()
    if hmac.compare_digest(f"v0={right}", signature):
        return ""
    return "its signature does not match: it is not Slack's, or SLACK_SIGNING_SECRET is not the app's"


def serve_http(desk: Desk, app: "App", tokens: Tokens) -> None:
    """Answer signed requests until a stop signal arrives. Raises ReaderError once Slack no longer accepts the app."""
    with keeping_house(desk, app) as fault:
        server = EventServer(app, tokens.signing_secret, desk.settings.host, desk.settings.port, fault)
        log.info("listening on http://%s:%d%s", desk.settings.host, server.server_port, PATH)
        with _stop_signals(desk), _running(server):
            desk.ending.asked.wait()
    close(desk)


def serve_socket(desk: Desk, app: "App", tokens: Tokens) -> None:
    """Answer what the WebSocket brings until a stop signal. Raises ReaderError once Slack no longer accepts the app."""
    # Slack's built-in client needs a minute to notice a lost connection; this one is told by the operating system.
    from slack_bolt.adapter.socket_mode.websocket_client import SocketModeHandler
    from slack_sdk.errors import SlackApiError

    handler = SocketModeHandler(
        app, tokens.app_token, logger=quiet_logger(), concurrency=_SOCKET_WORKERS, ping_interval=_PING
    )

    def fault() -> str:
        return house_fault() or ("" if handler.client.is_connected() else "not connected to Slack")

    with keeping_house(desk, app) as house_fault, _stop_signals(desk), ExitStack() as health:
        if desk.settings.health_port:
            where = (desk.settings.host, desk.settings.health_port)
            health.enter_context(_running(EventServer(None, "", *where, fault, "WATTWISE_SLACK_HEALTH_PORT")))
        try:
            handler.connect()  # type: ignore[no-untyped-call]
            _watch(desk, handler)
        except SlackApiError as error:
            raise ReaderError(
                f"Slack does not take SLACK_APP_TOKEN ({slack_code(error)}). Copy it again, with the scope connections:write."
            ) from error
        finally:
            # Acknowledge everything received before closing the connection, including the event that ends the process.
            handler.client.closed = True
            handler.client.message_processor.shutdown()  # type: ignore[no-untyped-call]
            handler.client.message_workers.shutdown()
            handler.close()  # type: ignore[no-untyped-call]
    close(desk)


def _watch(desk: Desk, handler: "SocketModeHandler") -> None:
    """Until a stop, replace connections that answer no pings.

    If no connection comes about, ask Slack whether it still accepts one. Raises SlackApiError if it does not.
    """
    session, heard, said = None, time.time(), False
    while not desk.ending.asked.wait(timeout=0.5):
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
        # The library sends pings, but ignores missing pongs.
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
def _running(server: EventServer) -> Iterator[None]:
    with server:
        threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True).start()
        try:
            yield
        finally:
            server.shutdown()


@contextmanager
def _stop_signals(desk: Desk) -> Iterator[None]:
    """Make SIGTERM and SIGINT end the desk.

    A handler runs in the thread that waits for the event, which must not set it itself; so another thread does.
    """

    def stop(*_: object) -> None:
        threading.Thread(target=desk.ending.asked.set).start()

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def keeping_house(desk: Desk, app: "App") -> Iterator[Fault]:
    """Renew leases every few seconds, and clean up every ten minutes, until the block ends and the listeners are done.

    Yields a function that says why the process does not work; empty if it does.
    """
    stopped, beat = threading.Event(), time.monotonic()

    def keep() -> None:
        nonlocal beat
        tidied = -_TIDYING
        while True:
            try:
                take_over(desk)
                beat = time.monotonic()
                if beat - tidied > _TIDYING:
                    tidied = beat
                    tidy(desk)
            except ReaderError as error:
                failed("the state was not kept", error)
            if stopped.wait(_BEAT):
                return

    keeper = threading.Thread(target=keep, name="housekeeping", daemon=True)
    keeper.start()
    try:
        yield lambda: "the store cannot be written" if time.monotonic() - beat > _LATEST_BEAT else ""
    finally:
        # Listeners may wait for Slack longer than a lease lasts.
        app.listener_runner.listener_executor.shutdown()
        stopped.set()
        keeper.join()


def tidy(desk: Desk) -> None:
    """Delete expired rows, and fetch the members of the user groups again."""
    desk.state.forget(desk.settings.keep_days)
    try:
        desk.members.refresh()
    except Exception as error:
        log.warning("the user groups could not be read again: %s", described(error))


def close(desk: Desk) -> None:
    """Finish accepted questions. Raises ReaderError if Slack was the reason to end."""
    log.info("stopping: finishing what was taken on")
    if not close_desk(desk):
        log.warning("stopped before everything was answered")
    if desk.ending.reason:
        raise ReaderError(desk.ending.reason)
