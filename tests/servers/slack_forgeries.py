"""Requests that Slack did not send: unsigned, wrongly signed, changed, late or broken. The same seed gives the same requests."""

import re
import socket
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from random import Random

from chatbot.slack.blocks import EVIDENCE, FEEDBACK
from chatbot.slack.serving import PATH
from tests.servers import slack_requests as requests

# In the question of every forged request, so that a log can be searched for it.
MARK = "FORGEDQUESTION"
_SENDERS = 8
_TIMESTAMP, _SIGNATURE = "X-Slack-Request-Timestamp", "X-Slack-Signature"


@dataclass(frozen=True)
class Forgery:
    """A request as sent over the wire. A header name may occur twice."""

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
    """Yield `count` forgeries, cycling through the kinds; commands among them want their answer at `hook`.

    Each is built lazily: most are wrong in one respect only, so their timestamp must still be current when they are sent.
    """
    random = Random(seed)
    for number in range(count):
        body, content_type = requests.encoded(_payload(random, number, hook))
        yield _forgery(_KINDS[number % len(_KINDS)], random, body, content_type)


def sent(port: int, forged: Iterable[Forgery]) -> list[tuple[Forgery, int]]:
    """Send each forgery; return it with the response status, 0 where the connection was closed without a response."""
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
            requests.mention(text, ts, channel="CFORGED", user=user),
            requests.message(text, ts, channel="DFORGED", user=user),
            requests.command(text, hook, user=user, channel=channel),
            requests.shortcut(text, ts, channel=channel, user=user),
            requests.button(FEEDBACK, "+none", user=user, channel=channel),
            requests.button(EVIDENCE, "none", user=user, channel=channel),
            requests.event("app_home_opened", tab="messages", channel="DFORGED", user=user),
            # A shape that listeners do not expect: a failure must not post to the channel.
            requests.event("app_mention", text=text, channel="CFORGED", user=user),
        )
    )


def _forgery(kind: str, random: Random, body: bytes, content_type: str) -> Forgery:
    """A request with the fault of its kind that is otherwise correct."""
    now, query = time.time(), ""
    right = requests.signed_headers(body, content_type)
    # Signed with the wrong secret. Kinds that change a header use it, because the changed header may still be read as valid.
    wrong = requests.signed_headers(body, content_type, secret=random.randbytes(16).hex())
    headers, more = right, list[tuple[str, str]]()
    match kind:
        case "unsigned":
            headers = {"Content-Type": content_type}
        case "one header missing":
            del headers[random.choice((_TIMESTAMP, _SIGNATURE))]
        case "wrong secret":
            headers = wrong
        case "late":
            headers = requests.signed_headers(body, content_type, at=now - random.randrange(302, 10**7))
        case "from the future":
            headers = requests.signed_headers(body, content_type, at=now + random.randrange(330, 10**7))
        case "replayed under a new time":
            headers = requests.signed_headers(body, content_type, at=now - 400) | {_TIMESTAMP: str(int(now))}
        case "changed body":
            body = _changed(random, body)
        case "broken signature":
            headers = right | {_SIGNATURE: _broken_signature(random, right[_SIGNATURE])}
        case "broken timestamp":
            headers = wrong | {_TIMESTAMP: _broken_timestamp(random, int(now))}
        case "headers twice":
            name = random.choice((_SIGNATURE, _TIMESTAMP))
            headers, more = wrong, [(name.replace("-", "_"), wrong[name]), (name, "0")]
        case "posing as Bolt":
            # Bolt's internal headers, and bodies that it answers without checking the signature.
            body = random.choice((body, b"ssl_check=1&token=t", b'{"type": "url_verification", "challenge": "c"}'))
            content_type = random.choice(("application/json", "application/x-www-form-urlencoded"))
            headers = requests.signed_headers(body, content_type, secret="unknown")
            more = [("X-Slack-Bolt-Lazy-Only", "1"), ("X-Slack-Bolt-Lazy-Function-Name", "answer")]
            query = random.choice(("", "?ssl_check=1&mode=socket_mode"))
        case "unreadable body":
            body = _unreadable(random, body)
            kind_of_text = random.choice((content_type, "application/json", "text/plain", "multipart/form-data", "ä", ""))
            signing = random.choice(({"secret": "unknown"}, {"at": now - 400}))
            headers = requests.signed_headers(body, kind_of_text, **signing)  # type: ignore[arg-type]
        case "wrong length":
            lengths = ("2000000", "-1", "9" * 5_000, "²", "1e3", "", "0", "x", str(len(body) - 1), str(len(body) + 99))
            more = [("Content-Length", random.choice(lengths))]
    return Forgery(kind, body, (*headers.items(), *more), query)


def _changed(random: Random, body: bytes) -> bytes:
    at, inserted = random.randrange(len(body)), random.randbytes(random.randrange(1, 4))
    return random.choice(
        (
            body[:at] + bytes((body[at] ^ 1 << random.randrange(8),)) + body[at + 1 :],
            body[:at] + inserted + body[at:],
            body[:at] + body[at + 1 :],
            body[:at],
            body + b" ",
            body.replace(b"Trainium", b"Graviton") + b"\n",
        )
    )


def _broken_signature(random: Random, right: str) -> str:
    at = random.randrange(3, 67)
    changed = right[:at] + format((int(right[at], 16) + 1) % 16, "x") + right[at + 1 :]
    cut = (right[3:], right[:at], right + "0", right + "\x0b\xa0", right.replace("v0=", "v1="), "V0=" + right[3:], changed)
    made = ("v0=ä", "ä" * 67, "", "v0=", *("v0=" + character * 64 for character in "g0٣"), "v0=" + "0" * 30_000)
    return random.choice((*cut, *made, random.randbytes(random.randrange(1, 90)).hex()))


def _broken_timestamp(random: Random, now: int) -> str:
    of_now = (f"{'0' * 20}{now}", f"-{now}", f"{now}.0", f" {now} 1", hex(now), f"{now}000")
    return random.choice((*of_now, "9" * 5_000, "1e9", "²", "٣" * 10, "", "nan", "ä", "None"))


def _unreadable(random: Random, body: bytes) -> bytes:
    broken = (b"", b"{", b"[" * 100_000, b"payload=%7B", b"payload=" + b"[" * 9_000, b"null", b"[1]", b"\0" * 99)
    return random.choice((*broken, b"\xff\xfe" + body, random.randbytes(200)))


_KINDS = (
    "unsigned", "one header missing", "wrong secret", "late", "from the future", "replayed under a new time", "changed body",
    "broken signature", "broken timestamp", "headers twice", "posing as Bolt", "unreadable body", "wrong length",
)  # fmt: skip
