"""Requests that Slack did not send: unsigned, wrongly signed, changed, late or broken; the same ones for the same seed."""

import re
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from random import Random

from chatbot.slack.blocks import EVIDENCE, FEEDBACK
from chatbot.slack.serving import PATH
from tests.servers import slack_requests as requests

# Stands in every question of a forged request, so that it can be looked for in a log.
MARK = "FORGEDQUESTION"
_SENDERS = 8
_TIMESTAMP, _SIGNATURE = "X-Slack-Request-Timestamp", "X-Slack-Signature"


@dataclass(frozen=True)
class Forgery:
    """A request as it goes over the wire. A header's name may stand twice."""

    kind: str
    body: bytes
    headers: tuple[tuple[str, str], ...]
    query: str = ""

    def wire(self) -> bytes:
        given = {name.lower() for name, _ in self.headers}
        length = () if "content-length" in given else (("Content-Length", str(len(self.body))),)
        lines = [f"POST {PATH}{self.query} HTTP/1.1", "Host: slack.example"]
        lines += [f"{name}: {value}" for name, value in (*self.headers, *length)]
        return "\r\n".join((*lines, "", "")).encode() + self.body


def forgeries(seed: int, count: int, hook: str) -> Iterator[Forgery]:
    """So many forgeries, every kind in turn; commands among them want their answer at `hook`.

    Each is made when it is asked for, because most of them are right in everything but one thing: also in their time.
    """
    random = Random(seed)
    for number in range(count):
        kind = tuple(_KINDS)[number % len(_KINDS)]
        body, content_type = requests.encoded(_payload(random, number, hook))
        yield _KINDS[kind](kind, random, body, content_type)


def sent(port: int, forged: Iterable[Forgery]) -> list[tuple[Forgery, int]]:
    """Each forgery with the status of its answer, 0 where the connection was closed without one."""
    with ThreadPoolExecutor(_SENDERS) as pool:
        return list(pool.map(lambda forgery: (forgery, _status(port, forgery)), forged))


def is_refused(status: int) -> bool:
    return status == 0 or 400 <= status < 500


def _status(port: int, forgery: Forgery) -> int:
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        try:
            connection.sendall(forgery.wire())
            connection.shutdown(socket.SHUT_WR)
            answer = connection.makefile("rb").readline()
        except ConnectionError:
            return 0
    status = re.match(rb"HTTP/\d\.\d (\d{3}) ", answer)
    return int(status[1]) if status else 0


def _payload(random: Random, number: int, hook: str) -> dict[str, object]:
    text, ts, user = f"{MARK} Is Trainium for inference?", f"{number}.{random.randrange(10**6):06}", f"UF{number}"
    channel = random.choice(("CFORGED", "DFORGED"))
    return random.choice(
        (
            lambda: requests.mention(text, ts, channel="CFORGED", user=user),
            lambda: requests.message(text, ts, channel="DFORGED", user=user),
            lambda: requests.command(text, hook, user=user, channel=channel),
            lambda: requests.shortcut(text, ts, channel=channel, user=user),
            lambda: requests.button(FEEDBACK, "+none", user=user, channel=channel),
            lambda: requests.button(EVIDENCE, "none", user=user, channel=channel),
            lambda: requests.event("app_home_opened", tab="messages", channel="DFORGED", user=user),
            lambda: requests.event(
                "assistant_thread_started",
                assistant_thread={"channel_id": "DFORGED", "thread_ts": ts, "user_id": user, "context": {}},
            ),
            # Of a shape that listeners do not expect: what fails must not tell the channel.
            lambda: requests.event("app_mention", text=text, channel="CFORGED", user=user),
        )
    )()


def _signed(body: bytes, content_type: str, **signing: object) -> dict[str, str]:
    return requests.signed_headers(body, content_type, **signing)  # type: ignore[arg-type]


def _forgery(kind: str, body: bytes, headers: dict[str, str], *more: tuple[str, str], query: str = "") -> Forgery:
    return Forgery(kind, body, (*headers.items(), *more), query)


def _unsigned(kind: str, random: Random, body: bytes, content_type: str) -> Forgery:
    return _forgery(kind, body, {"Content-Type": content_type})


def _one_header_missing(kind: str, random: Random, body: bytes, content_type: str) -> Forgery:
    headers = _signed(body, content_type)
    del headers[random.choice((_TIMESTAMP, _SIGNATURE))]
    return _forgery(kind, body, headers)


def _wrong_secret(kind: str, random: Random, body: bytes, content_type: str) -> Forgery:
    return _forgery(kind, body, _signed(body, content_type, secret=random.randbytes(16).hex()))


def _late(kind: str, random: Random, body: bytes, content_type: str) -> Forgery:
    return _forgery(kind, body, _signed(body, content_type, at=time.time() - random.randrange(302, 10**7)))


def _from_the_future(kind: str, random: Random, body: bytes, content_type: str) -> Forgery:
    return _forgery(kind, body, _signed(body, content_type, at=time.time() + random.randrange(330, 10**7)))


def _replayed_under_a_new_time(kind: str, random: Random, body: bytes, content_type: str) -> Forgery:
    headers = _signed(body, content_type, at=time.time() - 400)
    return _forgery(kind, body, headers | {_TIMESTAMP: str(int(time.time()))})


def _changed_body(kind: str, random: Random, body: bytes, content_type: str) -> Forgery:
    at, inserted = random.randrange(len(body)), random.randbytes(random.randrange(1, 4))
    changed = random.choice(
        (
            body[:at] + bytes((body[at] ^ 1 << random.randrange(8),)) + body[at + 1 :],
            body[:at] + inserted + body[at:],
            body[:at] + body[at + 1 :],
            body[:at],
            body + b" ",
            body.replace(b"Trainium", b"Graviton") + b"\n",
        )
    )
    return _forgery(kind, changed, _signed(body, content_type))


def _broken_signature(kind: str, random: Random, body: bytes, content_type: str) -> Forgery:
    headers = _signed(body, content_type)
    right, at = headers[_SIGNATURE], random.randrange(3, 67)
    broken = random.choice(
        (
            "v0=ä",
            "ä" * 67,
            "",
            "v0=",
            "v0=" + "g" * 64,
            "v0=" + "0" * 64,
            "v0=" + "٣" * 64,
            right[3:],
            right[:at],
            right + "0",
            right + "\x0b\xa0",
            right.replace("v0=", "v1="),
            "V0=" + right[3:],
            right[:at] + format((int(right[at], 16) + 1) % 16, "x") + right[at + 1 :],
            random.randbytes(random.randrange(1, 90)).hex(),
            "v0=" + "0" * 30_000,
        )
    )
    return _forgery(kind, body, headers | {_SIGNATURE: broken})


def _broken_timestamp(kind: str, random: Random, body: bytes, content_type: str) -> Forgery:
    now = int(time.time())
    broken = random.choice(
        ("9" * 5_000, "0" * 20 + str(now), f"-{now}", f"{now}.0", f" {now} 1", "1e9", hex(now), str(now * 1000), "²", "٣" * 10, "", "nan", "ä", "None")
    )  # fmt: skip
    return _forgery(kind, body, _signed(body, content_type, secret="unknown") | {_TIMESTAMP: broken})


def _headers_twice(kind: str, random: Random, body: bytes, content_type: str) -> Forgery:
    forged = _signed(body, content_type, secret="unknown")
    name = random.choice((_SIGNATURE, _TIMESTAMP))
    return _forgery(kind, body, forged, (name.replace("-", "_"), forged[name]), (name, "0"))


def _posing_as_bolt(kind: str, random: Random, body: bytes, content_type: str) -> Forgery:
    """Headers by which Bolt speaks to itself, and texts that it answers without looking at the signature."""
    lazy = (("X-Slack-Bolt-Lazy-Only", "1"), ("X-Slack-Bolt-Lazy-Function-Name", "answer"))
    checked, form = b"ssl_check=1&token=t", "application/x-www-form-urlencoded"
    challenge = b'{"type": "url_verification", "challenge": "c"}'
    return random.choice(
        (
            _forgery(kind, body, _signed(body, content_type, secret="unknown"), *lazy),
            _forgery(kind, checked, _signed(checked, form, secret="unknown")),
            _forgery(kind, body, _signed(body, form, secret="unknown"), query="?ssl_check=1&mode=socket_mode"),
            _forgery(kind, challenge, _signed(challenge, "application/json", secret="unknown")),
        )
    )


def _unreadable_body(kind: str, random: Random, body: bytes, content_type: str) -> Forgery:
    broken = random.choice(
        (b"", b"{", b"[" * 100_000, b"payload=%7B", b"payload=" + b"[" * 9_000, b"null", b"[1]", b"\xff\xfe" + body, random.randbytes(200), b"\0" * 99)
    )  # fmt: skip
    kind_of_text = random.choice((content_type, "application/json", "text/plain", "multipart/form-data", "ä", ""))
    signing = random.choice(({"secret": "unknown"}, {"at": time.time() - 400}))
    return _forgery(kind, broken, _signed(broken, kind_of_text, **signing))


def _wrong_length(kind: str, random: Random, body: bytes, content_type: str) -> Forgery:
    length = random.choice(
        ("2000000", "-1", "9" * 5_000, "²", "1e3", "", "0", "x", str(len(body) - 1), str(len(body) + 99))
    )
    return _forgery(kind, body, _signed(body, content_type), ("Content-Length", length))


_KINDS: dict[str, Callable[[str, Random, bytes, str], Forgery]] = {
    "unsigned": _unsigned,
    "one header missing": _one_header_missing,
    "wrong secret": _wrong_secret,
    "late": _late,
    "from the future": _from_the_future,
    "replayed under a new time": _replayed_under_a_new_time,
    "changed body": _changed_body,
    "broken signature": _broken_signature,
    "broken timestamp": _broken_timestamp,
    "headers twice": _headers_twice,
    "posing as Bolt": _posing_as_bolt,
    "unreadable body": _unreadable_body,
    "wrong length": _wrong_length,
}
