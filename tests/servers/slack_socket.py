"""Slack's end of Socket Mode on loopback: a WebSocket that sends envelopes and records their acknowledgements."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from socket import SHUT_RDWR
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve


class SlackSocket:
    """`acknowledged` maps envelope ids to the acknowledgement's payload, `seconds` to how long it took."""

    def __init__(self) -> None:
        self.acknowledged: dict[str, Any] = {}
        self.seconds: dict[str, float] = {}
        self.connections = 0
        self.port = 0
        self._numbers = count(1)
        self._sent: dict[str, float] = {}
        self._connection: ServerConnection | None = None
        self._changed = threading.Condition()

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}/link/?ticket=t"

    def send(self, kind: str, payload: dict[str, Any], envelope_id: str = "") -> str:
        """Send an envelope ("events_api", "slash_commands", "interactive") once a client is connected; return its id."""
        envelope_id = envelope_id or f"envelope{next(self._numbers)}"
        envelope = {"type": kind, "envelope_id": envelope_id, "payload": payload, "accepts_response_payload": True}
        self._sent[envelope_id] = time.perf_counter()
        self._connected().send(json.dumps(envelope))
        return envelope_id

    def drop(self) -> None:
        """Ask the client to reconnect, then close the connection, as Slack does every few hours."""
        before = self._connected()
        with self._changed:
            self._connection = None
        before.send(json.dumps({"type": "disconnect", "reason": "refresh_requested"}))
        before.close()

    def cut(self) -> None:
        """Shut the connection down without a close message, as when a network failure is detected."""
        before = self._connected()
        with self._changed:
            self._connection = None
        before.socket.shutdown(SHUT_RDWR)

    def wait_for(self, *envelopes: str, seconds: float = 60) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: all(e in self.acknowledged for e in envelopes), seconds)

    def wait_until_settled(self, quiet: float = 1.0) -> None:
        """Wait until no new connection has replaced the current one for `quiet` seconds."""
        while True:
            before = self._connected()
            time.sleep(quiet)
            if self._connection is before:
                return

    def _connected(self) -> ServerConnection:
        with self._changed:
            assert self._changed.wait_for(lambda: self._connection is not None, 60)
            assert self._connection is not None
            return self._connection

    def handle(self, connection: ServerConnection) -> None:
        connection.send(json.dumps({"type": "hello", "num_connections": 1}))
        with self._changed:
            self._connection = connection
            self.connections += 1
            self._changed.notify_all()
        try:
            for text in connection:
                answer = json.loads(text)
                with self._changed:
                    envelope_id = answer["envelope_id"]
                    self.acknowledged[envelope_id] = answer.get("payload")
                    self.seconds[envelope_id] = time.perf_counter() - self._sent[envelope_id]
                    self._changed.notify_all()
        except ConnectionClosed:
            pass


@contextmanager
def slack_socket() -> Iterator[SlackSocket]:
    socket = SlackSocket()
    with serve(socket.handle, "127.0.0.1", 0) as server:
        socket.port = server.socket.getsockname()[1]
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield socket
        finally:
            server.shutdown()
            thread.join()
