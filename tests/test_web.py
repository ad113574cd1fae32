"""Web pages are fetched from the public internet only, whatever they redirect to and however their names resolve."""

import datetime
import gzip
import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal

import pytest

from ingest.document import CorpusError
from ingest.fetching import web
from ingest.fetching.items import FORMATS, Failure, Item
from ingest.fetching.sources import find_items
from ingest.fetching.web import Address, Page, fetch_page, is_public

LOOPBACK = ipaddress.ip_address("127.0.0.1")
METADATA = ipaddress.ip_address("169.254.169.254")
Route = Callable[[BaseHTTPRequestHandler], None]


def answer(body: bytes = b"", status: int = 200, **headers: str) -> Route:
    def route(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in {"Content_Type": "text/html", "Content_Length": str(len(body)), **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return route


@dataclass
class Site:
    """An HTTPS server on loopback that `fetch` takes for the host example.test."""

    port: int
    trust: ssl.SSLContext
    routes: dict[str, Route]
    asked: list[tuple[str, str]] = field(default_factory=list)

    def address(self, path: str) -> str:
        return f"https://example.test:{self.port}{path}"

    def fetch(self, path: str, **options: Any) -> Page:
        options = {"look_up": lambda *_: [LOOPBACK], "is_allowed": lambda address: address == LOOPBACK} | options
        return fetch_page(self.address(path), ssl_context=self.trust, **options)

    def refusal(self, path: str, **options: Any) -> str:
        with pytest.raises(CorpusError) as caught:
            self.fetch(path, **options)
        return str(caught.value)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A PEM file with a self-signed certificate for example.test and its key."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "example.test")])
    now = datetime.datetime.now(datetime.UTC)
    signed = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("example.test")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem, no_password = serialization.Encoding.PEM, serialization.NoEncryption()
    path = tmp_path_factory.mktemp("certificate") / "example.pem"
    path.write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, no_password) + signed.public_bytes(pem))
    return path


@pytest.fixture
def site(certificate: Path) -> Iterator[Site]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.asked.append((self.headers["Host"], self.path))
            site.routes.get(self.path.partition("?")[0], answer(status=404))(self)

        def log_message(self, *_: object) -> None:
            """Say nothing on stderr."""

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    server.socket = context.wrap_socket(server.socket, server_side=True)
    site = Site(server.server_port, ssl.create_default_context(cafile=certificate), {})
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield site
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_page_is_fetched_with_its_type_and_address(site: Site) -> None:
    site.routes["/page"] = answer(b"<p>Text</p>", Content_Type="text/html; charset=utf-8")
    assert site.fetch("/page?part=1#place") == Page(
        site.address("/page?part=1"), "text/html; charset=utf-8", b"<p>Text</p>"
    )
    assert site.asked == [(f"example.test:{site.port}", "/page?part=1")]


def test_redirects_are_followed_to_the_final_address(site: Site) -> None:
    site.routes |= {"/old": answer(status=301, Location="/new"), "/new": answer(b"found")}
    assert site.fetch("/old").address == site.address("/new")


def test_a_circle_of_redirects_ends(site: Site) -> None:
    site.routes["/round"] = answer(status=302, Location="/round")
    assert "redirects more than 5 times" in site.refusal("/round")
    assert len(site.asked) == 6


@pytest.mark.parametrize(
    ("location", "words"),
    [
        ("http://example.test/", "http:// is refused"),
        ("ftp://example.test/", "only https://"),
        ("file:///etc/passwd", "only https://"),
        ("https://user:secret@example.test/", "user name or password"),
        ("https://169.254.169.254/latest/meta-data", "not on the public internet"),
        ("https://[::1]/", "not on the public internet"),
        ("https://inside.test/", "not on the public internet"),
        ("https://example.test:99999/", "failed: check the address"),
        ("https://xn--a.test/", "not a valid address"),
    ],
)
def test_every_redirect_is_checked_like_the_first_address(site: Site, location: str, words: str) -> None:
    def look_up(host: str, port: int) -> list[Address]:
        known = {"example.test": LOOPBACK, "inside.test": METADATA}
        return [known.get(host) or ipaddress.ip_address(host)]

    site.routes["/out"] = answer(status=302, Location=location)
    sentence = site.refusal("/out", look_up=look_up)
    assert words in sentence
    assert "secret" not in sentence
    assert len(site.asked) == 1


def test_one_private_address_among_public_ones_is_refused(site: Site) -> None:
    site.routes["/page"] = answer(b"text")
    assert "not on the public internet" in site.refusal("/page", look_up=lambda *_: [LOOPBACK, METADATA])
    assert "not on the public internet" in site.refusal("/page", look_up=lambda *_: [])
    assert site.asked == []


def test_the_address_that_was_checked_is_the_one_connected_to(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The name is resolved only once, so a second, different DNS answer is never used."""
    answers = iter([[LOOPBACK], [METADATA]])
    looked_up = []
    real = socket.getaddrinfo

    def watched(host: Any, *rest: Any, **options: Any) -> Any:
        looked_up.append(host)
        return real(host, *rest, **options)

    monkeypatch.setattr(socket, "getaddrinfo", watched)
    site.routes["/page"] = answer(b"text")
    assert site.fetch("/page", look_up=lambda *_: next(answers)).data == b"text"
    assert set(looked_up) == {"127.0.0.1"}


def test_the_next_address_is_tried_when_one_does_not_answer(site: Site) -> None:
    site.routes["/page"] = answer(b"text")
    dead = ipaddress.ip_address("127.0.0.2")
    assert site.fetch("/page", look_up=lambda *_: [dead, LOOPBACK], is_allowed=lambda _: True).data == b"text"


def test_a_certificate_of_another_host_is_refused(site: Site) -> None:
    with pytest.raises(CorpusError, match=r"connection to other\.test failed"):
        fetch_page(
            f"https://other.test:{site.port}/",
            ssl_context=site.trust,
            look_up=lambda *_: [LOOPBACK],
            is_allowed=lambda _: True,
        )


def test_a_page_over_the_size_limit_is_not_read_on(site: Site) -> None:
    def endless(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/plain")
        handler.end_headers()
        while True:
            handler.wfile.write(b"x" * 10_000)

    bomb = gzip.compress(b"\0" * 5_000_000)
    site.routes |= {
        "/stated": answer(b"x" * 20_000),
        "/endless": endless,
        "/bomb": answer(bomb, Content_Encoding="gzip"),
    }
    for path in site.routes:
        assert "larger than" in site.refusal(path, max_bytes=10_000)


@pytest.mark.parametrize("silence", ["before", "within"])
def test_a_server_that_trickles_is_left_when_the_time_is_up(site: Site, silence: Literal["before", "within"]) -> None:
    def trickle(handler: BaseHTTPRequestHandler) -> None:
        if silence == "within":
            handler.send_response(200)
            handler.send_header("Content-Type", "text/plain")
            handler.end_headers()
        else:
            handler.wfile.write(b"HTTP/1.0 200 OK\r\nX-Slow: ")
        for _ in range(100):
            handler.wfile.write(b"x")
            time.sleep(0.05)

    site.routes["/slow"] = trickle
    began = time.monotonic()
    assert "did not answer in full within 0.5 s" in site.refusal("/slow", seconds=0.5)
    assert time.monotonic() - began < 4  # the whole response would take five


@pytest.mark.parametrize(
    ("status", "content_type", "words"),
    [
        (403, "text/html", "refuses access (403)"),
        (404, "text/html", "no such page (404)"),
        (500, "text/html", "answered 500"),
        (200, "image/png", "it is image/png"),
        (200, "application/octet-stream", "it is application/octet-stream"),
        (200, "", "of no stated type"),
    ],
)
def test_what_is_no_page_says_so(site: Site, status: int, content_type: str, words: str) -> None:
    site.routes["/page"] = answer(b"x", status=status, Content_Type=content_type)
    assert words in site.refusal("/page")


def test_a_server_that_cannot_be_reached_says_so(site: Site) -> None:
    with pytest.raises(CorpusError, match=r"connection to 127\.0\.0\.1 failed: check"):
        fetch_page("https://127.0.0.1:9/", is_allowed=lambda _: True)


def test_loopback_is_refused_by_default(site: Site) -> None:
    for host in ("127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"):
        with pytest.raises(CorpusError, match="not on the public internet"):
            fetch_page(f"https://{host}:{site.port}/", ssl_context=site.trust)
    assert site.asked == []


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("8.8.8.8", True),
        ("2606:4700::1111", True),
        ("127.0.0.1", False),
        ("10.0.0.1", False),
        ("172.16.0.1", False),
        ("192.168.1.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("255.255.255.255", False),
        ("224.0.0.1", False),
        ("240.0.0.1", False),
        ("::1", False),
        ("::", False),
        ("::8.8.8.8", False),
        ("::ffff:8.8.8.8", False),
        ("64:ff9b::808:808", False),
        ("64:ff9b:1::808:808", False),
        ("2002:808:808::1", False),
        ("2001::1", False),
        ("fe80::1", False),
        ("fe80::1%eth0", False),
        ("fc00::1", False),
        ("fec0::1", False),
        ("ff02::1", False),
    ],
)
def test_public_is_what_the_whole_internet_reaches(address: str, public: bool) -> None:
    assert is_public(ipaddress.ip_address(address)) is public


# As a source


def test_a_page_is_an_item_named_after_its_type(monkeypatch: pytest.MonkeyPatch) -> None:
    page = Page("https://example.org/guide.php", "text/html; charset=utf-8", b"<p>Text</p>")
    monkeypatch.setattr(web, "fetch_page", lambda _: page)
    [item] = find_items("https://example.org/old?a=1&X-Amz-Signature=abc&token=def#top")
    assert isinstance(item, Item)
    assert (item.id, item.name, item.source, item.content_type, item.address, item.fetch()) == (
        "https://example.org/old?a=1",
        "guide.html",
        None,
        "text/html; charset=utf-8",
        "https://example.org/guide.php",
        b"<p>Text</p>",
    )


@pytest.mark.parametrize(
    ("path", "content_type", "name"),
    [
        ("/", "text/html", "index.html"),
        ("/raw/README.md", "text/plain; charset=utf-8", "README.md"),
        ("/raw/script.py", "text/plain", "script.txt"),
        ("/data.csv", "text/plain", "data.csv"),
        ("/paper", "application/pdf", "paper.pdf"),
        ("/a%20b.html", "text/html", "a b.html"),
        ("/feed", "text/calendar", "feed.txt"),
        ("/report.v2", FORMATS[".docx"], "report.docx"),
    ],
)
def test_the_name_of_a_page_tells_its_format(
    monkeypatch: pytest.MonkeyPatch, path: str, content_type: str, name: str
) -> None:
    address = f"https://example.org{path}"
    monkeypatch.setattr(web, "fetch_page", lambda _: Page(address, content_type, b"x"))
    assert [item.name for item in find_items(address) if isinstance(item, Item)] == [name]


@pytest.mark.parametrize(
    ("address", "shown", "words"),
    [
        ("http://example.org/a?key=secret", "http://example.org/a", "use https://"),
        ("http://EXAMPLE.org/a?page=3&key=secret#top", "http://example.org/a?page=3", "use https://"),
        ("https://me:secret@example.org/a", "https://example.org/a", "user name or password"),
        ("ftp://example.org/a", "ftp://example.org/a", "only https://"),
        ("https://", "https://", "only https://"),
        ("https://127.0.0.1/a?sig=secret", "https://127.0.0.1/a", "not on the public internet"),
        ("https://exa mple.org:port/", "https://exa mple.org:port/", "not a valid address"),
        ("https://example.org:99999/", "https://example.org:99999/", "check the address"),
        ("https://xn--a.org/", "https://xn--a.org/", "not a valid address"),
        ("https://example.org/\ud800", "https://example.org/\ud800", "not a valid address"),
    ],
)
def test_a_page_that_cannot_be_fetched_is_a_failure_without_secrets(address: str, shown: str, words: str) -> None:
    [failure] = find_items(address)
    assert isinstance(failure, Failure)
    assert failure.id == shown
    assert words in failure.reason
    assert "secret" not in failure.reason
