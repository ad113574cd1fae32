"""A burst of mentions at `wattwise slack`: how fast each is acknowledged, and whether each is answered exactly once.

    python benchmarks/slack.py [--mentions 200] [--channels 10] [--starts 10] [--index DIR]

A burst goes over HTTP and over Socket Mode, each followed by one in which every event is sent twice. Then the program
is started anew --starts times, each time with 40 mentions at once before it is warm. The app runs in a process of its
own; Slack's ends are servers on loopback, which limit calls as Slack does. The exit code is 1 if an answer is lost or
doubled, if anybody gets an apology, if the slowest hundredth of the acknowledgements takes 500 ms or more, or if 200
mentions are not answered within a minute.
"""

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from chatbot.slack.memory import ANSWER, NOTICE  # noqa: E402
from ingest import sync  # noqa: E402
from tests.servers import slack_requests as requests  # noqa: E402
from tests.servers.slack_api import SlackApi, slack_api  # noqa: E402
from tests.servers.slack_socket import SlackSocket, slack_socket  # noqa: E402

QUESTIONS = (
    "Is Trainium for inference?",
    "How much accelerator memory does a trn1.32xlarge have?",
    "Trainium or Inferentia?",
    "Which instance has the lowest footprint for training?",
)
SENDERS = 50
LONGEST_P99 = 0.5
LONGEST_BURST = 60.0
COLD_MENTIONS = 40
COLD = "cold start"
PATIENCE = 300.0


@dataclass(frozen=True)
class Burst:
    """What became of a burst; times are in seconds."""

    mode: str
    mentions: int
    sent: int
    median: float
    p99: float
    slowest: float
    answered: int
    lost: int
    doubled: int
    apologies: int
    limited: int
    all_answered_after: float

    @property
    def good(self) -> bool:
        # The speed of a program that has just started is reported, but is not a goal.
        fast = self.mode == COLD or (self.p99 < LONGEST_P99 and self.all_answered_after < LONGEST_BURST)
        return fast and not (self.lost or self.doubled or self.apologies)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mentions", type=int, default=200)
    parser.add_argument("--channels", type=int, default=10)
    parser.add_argument("--starts", type=int, default=10)
    parser.add_argument("--index", type=Path, help="an index of the corpus; without one it is made first")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        index = options.index or Path(folder) / "index"
        if options.index is None:
            sync([ROOT / "corpus"], index)
        runs = [(options.mentions, mode, times) for mode in ("http", "socket") for times in (1, 2)]
        bursts = []
        for mentions, mode, times in [*runs, *[(COLD_MENTIONS, COLD, 1)] * options.starts]:
            bursts.append(run(index, mentions, options.channels, mode=mode, times=times))
            print(as_line(bursts[-1]), flush=True)
    return 0 if all(burst.good for burst in bursts) else 1


def as_line(burst: Burst) -> str:
    return (
        f"{burst.mode}: {burst.mentions} mentions, {burst.sent} events; acknowledged in median {burst.median * 1000:.0f} ms,"
        f" 99 %: {burst.p99 * 1000:.0f} ms, slowest {burst.slowest * 1000:.0f} ms; {burst.answered} answered,"
        f" {burst.lost} lost, {burst.doubled} doubled, {burst.apologies} apologies, {burst.limited} calls limited; all after {burst.all_answered_after:.1f} s"
    )


def run(index: Path, mentions: int, channels: int, *, mode: str, times: int) -> Burst:
    with (
        slack_api(tiers=True) as api,
        slack_socket() as websocket,
        app(api, index, http=mode == "http", websocket_url=websocket.url) as port,
    ):
        # The app remembers the messages of the run before, so each run has channels of its own.
        run_id = time.time_ns()
        payloads = [mention(api, f"C{run_id}X{number % channels}", number) for number in range(mentions)]
        if mode != COLD:
            # The first answer loads the encoder; a cold start is measured separately.
            warm_up(api, websocket, port, mode)
        began = time.perf_counter()
        events = [payload for payload in payloads for _ in range(times)]
        seconds = send_http(port, events) if mode == "http" else send_socket(websocket, events)
        wait_for_answers(api, payloads)
        took = time.perf_counter() - began
        # A doubled answer would come after the first ones.
        time.sleep(1)
        return measured(mode, api, payloads, seconds, took)


def mention(api: SlackApi, channel: str, number: int) -> dict[str, Any]:
    question, user = QUESTIONS[number % len(QUESTIONS)], f"U{number}"
    return requests.mention(question, api.person_says(question, channel=channel, user=user), channel=channel, user=user)


def warm_up(api: SlackApi, websocket: SlackSocket, port: int, mode: str) -> None:
    payload = mention(api, f"CFIRST{port}", 0)
    send_http(port, [payload]) if mode == "http" else send_socket(websocket, [payload])
    wait_for_answers(api, [payload])


def send_http(port: int, payloads: list[dict[str, Any]]) -> list[float]:
    with ThreadPoolExecutor(SENDERS) as pool:
        results = list(pool.map(lambda payload: requests.send(port, payload), payloads))
    assert {status for status, _, _ in results} == {200}
    return [seconds for _, _, seconds in results]


def send_socket(websocket: SlackSocket, payloads: list[dict[str, Any]]) -> list[float]:
    envelopes = [websocket.send("events_api", payload) for payload in payloads]
    websocket.wait_for(*envelopes, seconds=PATIENCE)
    return [websocket.seconds[envelope] for envelope in envelopes]


def answers(api: SlackApi) -> Counter[tuple[str, str]]:
    """Return how many answers stand in each thread of a channel."""
    return Counter(
        (channel, message["thread_ts"])
        for (channel, _), message in list(api.messages.items())
        if (message.get("metadata") or {}).get("event_type") == ANSWER
    )


def place(payload: dict[str, Any]) -> tuple[str, str]:
    return payload["event"]["channel"], payload["event"]["ts"]


def wait_for_answers(api: SlackApi, payloads: list[dict[str, Any]]) -> None:
    end = time.monotonic() + PATIENCE
    while not {place(p) for p in payloads} <= answers(api).keys() and time.monotonic() < end:
        time.sleep(0.05)


def measured(mode: str, api: SlackApi, payloads: list[dict[str, Any]], seconds: list[float], took: float) -> Burst:
    found = answers(api)
    counts = [found[place(payload)] for payload in payloads]
    ordered = sorted(seconds)
    return Burst(
        mode=mode,
        mentions=len(payloads),
        sent=len(seconds),
        median=ordered[len(ordered) // 2],
        p99=ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))],
        slowest=ordered[-1],
        answered=sum(count > 0 for count in counts),
        lost=sum(count == 0 for count in counts),
        doubled=sum(count > 1 for count in counts),
        apologies=sum((m.get("metadata") or {}).get("event_type") == NOTICE for m in api.messages.values()),
        limited=sum(not call.ok for call in api.calls),
        all_answered_after=took,
    )


@contextmanager
def app(api: SlackApi, index: Path, *, http: bool = True, websocket_url: str = "", channels: str = "", log: int | IO[bytes] = subprocess.DEVNULL) -> Iterator[int]:
    """Run `wattwise slack` in a process of its own, stopped at the end as a service is; yield the port of --http."""
    api.socket_url = websocket_url
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environ = {
        **os.environ,
        "SLACK_BOT_TOKEN": "xoxb-loopback",
        "SLACK_APP_TOKEN": "xapp-loopback",
        "SLACK_SIGNING_SECRET": requests.SECRET,
        "WATTWISE_SLACK_API_URL": api.url,
        "WATTWISE_SLACK_CHANNELS": channels,
    }
    arguments = [sys.executable, "-m", "chatbot.slack", "--index", str(index), *(["--http", "--port", str(port)] if http else [])]
    process = subprocess.Popen(arguments, cwd=ROOT, env=environ, stderr=log)
    try:
        wait_until_up(port if http else 0)
        yield port
    finally:
        process.terminate()
        process.wait(60)


def wait_until_up(port: int) -> None:
    """Wait until the port accepts connections; for a WebSocket, whoever sends over it waits."""
    end = time.monotonic() + 30
    while port and time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)


if __name__ == "__main__":
    sys.exit(main())
