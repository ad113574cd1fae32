"""Load test of the web app: ten sessions ask questions for a minute, over the protocol that browsers speak.

    python -m benchmarks.app [--sessions N] [--seconds S] [--pause S] [--index DIR]

Each session asks its own order of questions and a follow-up, and checks that the page shows its own questions and no
other's. Times run from sending a question to the end of the run that answers it. The exit code is 1 if a goal is
missed.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from ingest import sync
from tests.app_server import connected, free_port, is_healthy

ROOT = Path(__file__).resolve().parents[1]
QUESTIONS = (
    "How many vCPUs has trn1.2xlarge?",
    "and the bigger one?",
    "Is Trainium for inference?",
    "Trainium or Inferentia?",
    "How much does a p5.48xlarge cost per hour?",
    "Which instance has the lowest footprint for training?",
    "Which chip is built for serving predictions?\nA. Trainium\nB. Inferentia",
    "How much accelerator memory does a trn1.32xlarge have?",
)
FOLLOW_UP, FOLLOWED = "and the bigger one?", "128 vCPUs"
# The page shows this many earlier exchanges of a long conversation.
SHOWN = 12


@dataclass
class Session:
    """A visitor: a connection, what was asked, how long each answer took, what went wrong."""

    number: int
    port: int
    pause: float = 0
    asked: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def run(self, until: float) -> None:
        try:
            with connected(self.port) as self.socket:
                page = self.finished(BackMsg())
                while time.monotonic() < until:
                    page = self.ask(page)
                    time.sleep(self.pause)
        except Exception as error:
            self.errors.append(f"session {self.number}: {error!r}")

    def ask(self, page: "Page") -> "Page":
        question = QUESTIONS[(2 * self.number + len(self.asked)) % len(QUESTIONS)]
        message = BackMsg()
        box = message.rerun_script.widget_states.widgets.add(id=page.box)
        box.chat_input_value.data = question
        began = time.perf_counter()
        answered = self.finished(message)
        self.seconds.append(time.perf_counter() - began)
        self.asked.append(question)
        self.errors += answered.faults(self)
        return answered

    def finished(self, message: BackMsg, *, until_box: bool = False) -> "Page":
        """Send a message; read the page until the script has run or, with `until_box`, until there is a box to ask in."""
        if not message.HasField("rerun_script"):
            message.rerun_script.query_string = ""
        self.socket.send(message.SerializeToString())
        page = Page()
        while True:
            received = ForwardMsg.FromString(self.socket.recv(timeout=60))  # type: ignore[arg-type]
            if received.WhichOneof("type") == "script_finished":
                return page
            if received.WhichOneof("type") == "delta":
                page.take(received)
                if until_box and page.box:
                    return page


@dataclass
class Page:
    """The elements of the page by their position."""

    box: str = ""
    html: dict[tuple[int, ...], str] = field(default_factory=dict)
    alerts: list[str] = field(default_factory=list)

    def take(self, received: ForwardMsg) -> None:
        place = tuple(received.metadata.delta_path)
        for below in [p for p in self.html if p[: len(place)] == place]:
            del self.html[below]
        element = received.delta.new_element
        kind = element.WhichOneof("type")
        if kind == "chat_input":
            self.box = element.chat_input.id
        elif kind == "html":
            self.html[place] = element.html.body
        elif kind in ("alert", "exception"):
            self.alerts.append(str(element)[:200])

    def faults(self, session: Session) -> list[str]:
        """Return what is wrong with the page: it must show its session's latest questions, in order, and no others."""
        shown = [body for _, body in sorted(self.html.items()) if body.startswith('<div class="ww-question"')]
        expected = session.asked[-SHOWN - 1 :]
        right = len(shown) == len(expected) and all(escape(q) in body for q, body in zip(expected, shown, strict=True))
        faults = [] if right else [f"session {session.number} does not show its own questions"]
        if session.asked[-2:] == [QUESTIONS[0], FOLLOW_UP] and not any(FOLLOWED in body for body in self.html.values()):
            faults.append(f"session {session.number}: the follow-up lost what it follows")
        return faults + self.alerts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--pause", type=float, default=1, help="what a visitor waits between questions (%(default)s s)")
    parser.add_argument("--index", type=Path, help="an index of the corpus; without one it is made first")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        index = options.index or Path(folder) / "index"
        if options.index is None:
            sync([ROOT / "corpus"], index)
        port = free_port()
        process = _start(port, index)
        try:
            is_healthy(port)
            first = [_first_page(port), _first_page(port)]
            before = _mebibytes(process.pid)
            sessions = _load(port, options)
            after = _mebibytes(process.pid)
        finally:
            process.terminate()
            process.wait(20)
    return _report(sessions, options, first, before, after)


def _start(port: int, index: Path) -> subprocess.Popen[bytes]:
    """Start Streamlit itself, so that its memory can be read."""
    command = [sys.executable, "-m", "streamlit", "run", "streamlit_app.py", f"--server.port={port}"]
    environment = {**os.environ, "WATTWISE_INDEX": str(index), "WATTWISE_MODEL": "offline"}
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _first_page(port: int) -> float:
    """Return the seconds until a new visitor has the landing page with its box."""
    began = time.perf_counter()
    visitor = Session(0, port)
    with connected(port) as visitor.socket:
        visitor.finished(BackMsg(), until_box=True)
    return time.perf_counter() - began


def _load(port: int, options: argparse.Namespace) -> list[Session]:
    sessions = [Session(n, port, options.pause) for n in range(options.sessions)]
    until = time.monotonic() + options.seconds
    threads = [threading.Thread(target=session.run, args=(until,)) for session in sessions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sessions


def _mebibytes(process: int) -> float:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024


def _report(sessions: list[Session], options: argparse.Namespace, first: list[float], before: float, after: float) -> int:
    seconds = [s for session in sessions for s in session.seconds]
    errors = [e for session in sessions for e in session.errors]
    p95 = statistics.quantiles(seconds, n=20)[-1]
    print(f"{options.sessions} sessions for {options.seconds:g} s, {options.pause:g} s between an answer and the next question")
    print(f"landing page       {first[0]:.2f} s for the first visitor, {first[1]:.2f} s for the second")
    print(f"answers            {len(seconds)}, longest conversation {max(len(s.asked) for s in sessions)} turns")
    print(f"seconds an answer  median {statistics.median(seconds):.2f}, 95 % {p95:.2f}, most {max(seconds):.2f}")
    print(f"memory             {before:.0f} MiB before, {after:.0f} MiB after")
    print("\n".join(errors[:10]))
    goals = {
        "no error, no mixed-up history": not errors,
        "the landing page under 2 s": max(first) < 2,
        "95 % of the answers under 2 s": p95 < 2,
    }
    for goal, reached in goals.items():
        print(f"{'PASS' if reached else 'FAIL'}  {goal}")
    return 0 if all(goals.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
