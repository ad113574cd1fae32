"""Run the real app in its own process on a loopback port, and connect to it with the protocol that browsers use."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect

ROOT = Path(__file__).resolve().parents[1]
_COMMAND = "import sys; from chatbot.app import main; sys.exit(main(sys.argv[1:]))"


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def start(index: Path, port: int, environment: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
    """Start `wattwise app` without waiting until it serves."""
    arguments = [sys.executable, "-c", _COMMAND, "--index", str(index), "--port", str(port)]
    own = {**os.environ, **(environment or {})}
    return subprocess.Popen(arguments, cwd=ROOT, env=own, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@contextmanager
def serving(index: Path, environment: Mapping[str, str] | None = None) -> Iterator[int]:
    """Serve the app until the block ends; yield its port."""
    port = free_port()
    process = start(index, port, environment)
    try:
        assert is_healthy(port), "the app did not start"
        yield port
    finally:
        process.terminate()
        process.wait(20)


def is_healthy(port: int, tries: int = 200) -> bool:
    for _ in range(tries):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=2) as answer:
                return bool(answer.read() == b"ok")
        except OSError:
            time.sleep(0.1)
    return False


def connected(port: int, *, host: str = "127.0.0.1", headers: Mapping[str, str] | None = None) -> ClientConnection:
    """Connect as a page opened under the name `host`; the Origin header is that name unless `headers` overrides it."""
    name = f"{host}:{port}"
    given = {"Origin": f"http://{name}", **(headers or {})}
    return connect(
        f"ws://{name}/_stcore/stream",
        sock=socket.create_connection(("127.0.0.1", port)),
        origin=given.pop("Origin"),  # type: ignore[arg-type]
        subprotocols=["streamlit"],  # type: ignore[list-item]
        additional_headers=given,
        max_size=None,
    )


def send(connection: ClientConnection, message: BackMsg | None = None) -> None:
    """Send a message; without one, ask the page to rerun."""
    if message is None:
        message = BackMsg()
        message.rerun_script.query_string = ""
    connection.send(message.SerializeToString())


def elements(connection: ClientConnection) -> Iterator[Element]:
    """Yield what the page shows until its script has finished."""
    while True:
        received = ForwardMsg.FromString(connection.recv(timeout=30))  # type: ignore[arg-type]
        kind = received.WhichOneof("type")
        if kind == "delta":
            yield received.delta.new_element
        elif kind == "script_finished":
            return
