"""Who is served and what a visitor may do: other host names, other origins, proxies, frames."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers
from streamlit.proto.ChatInput_pb2 import ChatInput
from websockets.exceptions import InvalidStatus

from app.access import REFUSED, is_direct, is_served
from ingest import sync
from tests.app_server import connected, elements, send, serving

LOOPBACK, EVERYWHERE, LAN = "127.0.0.1", "0.0.0.0", "10.0.0.8"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("access")
    (folder / "chips.md").write_text("# Chips\n\nThe Quokka-9 chip has 77 GB of memory.\n")
    sync([folder / "chips.md"], folder / "index", encoder="none")
    return folder / "index"


@pytest.fixture(scope="module")
def port(index: Path) -> Iterator[int]:
    with serving(index) as port:
        yield port


def served(host: str | None, *, origin: str | None = None, address: str | None = LOOPBACK, hosts: str = "") -> bool:
    given = {name: value for name, value in (("host", host), ("origin", origin)) if value is not None}
    return is_served(Headers(given), frozenset(hosts.split()), address)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8501", "127.0.0.1:8501", "[::1]:8501", "localhost.:8501"])
def test_this_machine_is_served_under_its_own_names(host: str) -> None:
    assert served(host)


@pytest.mark.parametrize(
    "host",
    [None, "", "evil.example", "evil.example:8501", "localhost.evil.example", "localhost@evil.example", "127.0.0.1:x",
     "localhost/", "localhost:8501#", "10.0.0.8:8501", "[::1", "127.0.0.1.nip.io:8501"],
)  # fmt: skip
def test_another_name_is_refused(host: str | None) -> None:
    assert not served(host)


@given(st.binary())
def test_no_bytes_before_a_name_make_it_this_machine(host: bytes) -> None:
    assert not served(f"{host.decode('latin-1')}.example")
    assert not served("localhost", origin=host.decode("latin-1"))


@pytest.mark.parametrize(
    ("origin", "answer"),
    [
        ("http://localhost:8501", True),
        ("https://localhost:8501", True),
        ("http://localhost:3000", False),
        ("http://127.0.0.1:8501", False),
        ("http://evil.example", False),
        ("http://[", False),
        ("file://localhost:8501", False),
        ("null", False),
        ("", False),
    ],
)
def test_another_page_is_refused(origin: str, answer: bool) -> None:
    assert served("localhost:8501", origin=origin) is answer


def test_the_operator_adds_names() -> None:
    assert served("chat.example", hosts="chat.example")
    assert served("Chat.Example.:443", hosts="chat.example")
    assert not served("evil.chat.example", hosts="chat.example")


@pytest.mark.parametrize("address", [EVERYWHERE, LAN, None, "::"])
def test_beyond_loopback_an_ip_address_is_served_and_a_strange_name_is_not(address: str | None) -> None:
    assert served("10.0.0.8:8501", address=address)
    assert served("[fe80::1]:8501", address=address)
    assert not served("evil.example:8501", address=address)


def test_the_name_that_the_app_listens_on_is_its_own() -> None:
    assert served("gpu-box:8501", address="gpu-box")


@pytest.mark.parametrize(
    "header", ["X-Forwarded-For", "x-forwarded-host", "X-Forwarded-Proto", "Forwarded", "Via", "X-Real-IP"]
)
def test_a_proxy_is_known_by_its_mark(header: str) -> None:
    assert not is_direct({"Host": "localhost", header: "1"})
    assert is_direct({"Host": "localhost", "User-Agent": "via x-forwarded-for"})


def answer(port: int, method: str, path: str, **headers: str) -> httpx.Response:
    return httpx.request(method, f"http://127.0.0.1:{port}{path}", headers=headers, timeout=10)


@pytest.mark.evaluation
@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/"), ("GET", "/_stcore/health"), ("GET", "/_stcore/host-config"), ("PUT", "/_stcore/upload_file/a/b")],
)
def test_a_name_that_was_made_to_resolve_here_gets_nothing(port: int, method: str, path: str) -> None:
    for headers in ({"Host": f"evil.example:{port}"}, {"Origin": "http://evil.example"}):
        refused = answer(port, method, path, **headers)
        assert (refused.status_code, refused.text) == (403, REFUSED)


def test_no_page_may_frame_the_app(port: int) -> None:
    for path in ("/", "/sources", "/_stcore/health"):
        shown = answer(port, "GET", path)
        assert shown.status_code == 200
        assert shown.headers["X-Frame-Options"] == "DENY"
        assert shown.headers["Content-Security-Policy"] == "frame-ancestors 'none'"


@pytest.mark.parametrize(
    ("host", "headers"),
    [
        ("evil.example", {}),
        ("127.0.0.1", {"Origin": "http://evil.example"}),
        ("127.0.0.1", {"Origin": "http://localhost:3000"}),
        ("127.0.0.1", {"Origin": "null"}),
    ],
)
def test_a_strange_page_gets_no_connection(port: int, host: str, headers: dict[str, str]) -> None:
    with pytest.raises(InvalidStatus) as refused, connected(port, host=host, headers=headers):
        pass
    assert refused.value.response.status_code == 403


def rights(port: int, host: str = "127.0.0.1", headers: dict[str, str] | None = None) -> tuple[bool, bool]:
    """Return whether a visitor may add files, and whether they may name a model."""
    with connected(port, host=host, headers=headers) as connection:
        send(connection)
        shown = list(elements(connection))
    (box,) = (e.chat_input for e in shown if e.WhichOneof("type") == "chat_input")
    (models,) = (e.selectbox for e in shown if e.WhichOneof("type") == "selectbox")
    return box.accept_file != ChatInput.AcceptFile.NONE, models.accept_new_options


def test_the_user_of_this_machine_may_add_files_and_name_models(port: int) -> None:
    assert rights(port) == (True, True)


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "Via"])
def test_behind_a_proxy_nothing_is_allowed_that_was_not_switched_on(port: int, header: str) -> None:
    assert rights(port, headers={header: "203.0.113.9"}) == (False, False)


@pytest.mark.evaluation
def test_under_a_name_of_its_own_an_app_allows_what_was_switched_on(index: Path) -> None:
    with serving(index, {"WATTWISE_APP_HOSTS": "chat.example"}) as port:
        assert rights(port, "chat.example") == (False, False)
        assert rights(port) == (False, False)
    with serving(index, {"WATTWISE_APP_HOSTS": "chat.example", "WATTWISE_APP_UPLOADS": "on"}) as port:
        assert rights(port, "chat.example", {"X-Forwarded-For": "203.0.113.9"}) == (True, False)


def test_a_browser_is_given_a_random_name_once(port: int) -> None:
    first, second = (answer(port, "GET", "/").headers["Set-Cookie"] for _ in range(2))
    found = re.fullmatch(r"wattwise-visitor=([0-9a-f]{32}); Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax", first)
    assert found is not None
    assert first != second
    assert "Set-Cookie" not in answer(port, "GET", "/", Cookie=f"wattwise-visitor={found[1]}").headers
    assert "Set-Cookie" in answer(port, "GET", "/", Cookie="wattwise-visitor=../../mine").headers
    assert "wattwise-visitor" not in answer(port, "GET", "/_stcore/health").headers.get("Set-Cookie", "")
