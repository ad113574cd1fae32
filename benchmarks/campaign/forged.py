"""Forged requests at `wattwise slack --http`: how many are answered, or make it post anything.

    python benchmarks/campaign/forged.py [--seed 1] [--count 1000]

The app runs in a process of its own and may answer in one channel; Slack's Web API is a server on loopback. Between the
forgeries come questions that Slack did sign, each of them three times: refusing forgeries must not stop genuine
questions, and a repeat is answered once. The exit code is 1 if a forgery is answered or posts, if a question is not
answered exactly once, or if the log has a traceback or words of a request.
"""

import argparse
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.slack import app  # noqa: E402
from ingest import sync  # noqa: E402
from tests.servers import slack_requests as requests  # noqa: E402
from tests.servers.slack_api import slack_api  # noqa: E402
from tests.servers.slack_forgeries import MARK, forgeries, is_refused, sent  # noqa: E402

CHANNEL = "CRIGHT"
QUESTION = "Is Trainium for inference?"
QUESTIONS = 5
TIMES = 3


@dataclass(frozen=True)
class Outcome:
    """The results.

    `answered` counts, by kind, the forgeries that were not refused (by a 4xx status or a closed connection); `posted`
    counts the calls that no genuine question caused.
    """

    forged: int
    statuses: dict[int, int]
    answered: dict[str, int]
    posted: int
    right: int
    right_answered_once: int
    tracebacks: int
    words_in_the_log: int

    @property
    def good(self) -> bool:
        got_in = self.answered or self.posted or self.tracebacks or self.words_in_the_log
        return not got_in and self.right_answered_once == self.right


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        outcome = attacked(Path(folder), options.seed, options.count)
    print(as_line(outcome))
    return 0 if outcome.good else 1


def as_line(outcome: Outcome) -> str:
    return (
        f"{outcome.forged} forged requests: {sum(outcome.answered.values())} answered (by kind: {outcome.answered}),"
        f" {outcome.posted} calls of Slack's API for them; statuses {outcome.statuses} (0: closed without one);"
        f" {outcome.right_answered_once} of {outcome.right} right questions answered once;"
        f" {outcome.tracebacks} tracebacks and {outcome.words_in_the_log} lines with a request's words in the log"
    )


def attacked(folder: Path, seed: int, count: int) -> Outcome:
    index, log = folder / "index", folder / "log"
    sync([next((ROOT / "corpus").rglob("*.md"))], index)
    with slack_api() as api:
        with log.open("wb") as written, app(api, index, channels=CHANNEL, log=written) as port:
            right = [api.person_says(QUESTION, channel=CHANNEL, user=f"U{n}") for n in range(QUESTIONS)]
            statuses = []
            forged = forgeries(seed, count, f"{api.url}forged")
            for ts in right:
                statuses += sent(port, (next(forged) for _ in range(count // QUESTIONS)))
                ask(port, ts)
            statuses += sent(port, forged)
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        answers = Counter(message["thread_ts"] for message in api.said(CHANNEL))
        calls = [c for c in api.calls if c.method != "auth.test" and CHANNEL not in str(c.arguments)]
        return Outcome(
            forged=len(statuses),
            statuses=dict(sorted(Counter(status for _, status in statuses).items())),
            answered=dict(Counter(forgery.kind for forgery, status in statuses if not is_refused(status))),
            posted=len(calls),
            right=len(right),
            right_answered_once=sum(answers[ts] == 1 for ts in right),
            tracebacks=sum("Traceback" in line for line in lines),
            words_in_the_log=sum(MARK in line or QUESTION in line or requests.SECRET in line for line in lines),
        )


def ask(port: int, ts: str) -> None:
    payload = requests.mention(QUESTION, ts, channel=CHANNEL, user=f"U{ts}")
    body, kind = requests.encoded(payload)
    headers = requests.signed_headers(body, kind)
    assert [requests.send(port, payload, headers=headers)[0] for _ in range(TIMES)] == [200] * TIMES


if __name__ == "__main__":
    sys.exit(main())
