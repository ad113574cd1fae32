"""Fetch one web page over https, from the public internet only, within limits of size and time."""

import re
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from pathlib import PurePosixPath
from ssl import SSLContext
from typing import Any
from urllib.parse import unquote

import httpcore
import httpx

from ingest.document import CorpusError
from ingest.fetching.items import FORMATS, MAX_BYTES, TOO_LARGE, UNSUPPORTED, Failure, Item

Address = IPv4Address | IPv6Address
# The range that the public IPv6 internet uses so far; IPv4-mapped, IPv4-compatible and NAT64 addresses lie outside it.
_IPV6_INTERNET = IPv6Network("2000::/3")
# Teredo and 6to4 addresses contain an IPv4 address, which may be private.
_IPV6_TUNNELS = (IPv6Network("2001::/32"), IPv6Network("2002::/16"))
_MOST_REDIRECTS = 5
_SECONDS = 60.0
_HEADERS = (("User-Agent", "wattwise"), ("Accept", "*/*"), ("Accept-Encoding", "gzip, deflate"))
_SECRET = re.compile(r"sig|secret|token|key|passw|credential|auth|session|^x-(amz|goog|ms)-", re.IGNORECASE)
# httpx raises ValueError for a port out of range, for a host that IDNA does not know and for a lone surrogate.
_INVALID = (httpx.InvalidURL, ValueError)
_SUFFIX_OF_TYPE = {kind: suffix for suffix, kind in reversed(FORMATS.items())} | {
    "application/xhtml+xml": ".html",
    "text/x-markdown": ".md",
    "application/x-ndjson": ".jsonl",
    "application/jsonlines": ".jsonl",
}


@dataclass(frozen=True, slots=True)
class Page:
    """A server's answer; `address` is its final address after redirects, without fragment or secrets."""

    address: str
    content_type: str
    data: bytes


def find_page(address: str) -> Iterator[Item | Failure]:
    """Yield the page as an item. It is fetched at once, since only then are its final address and its format known."""
    try:
        page = fetch_page(address)
        name = _file_name(page)
    except CorpusError as error:
        yield Failure(_shown(address), str(error))
        return
    yield Item(without_secrets(address), name, None, lambda: page.data, page.content_type, page.address)


def is_public(address: Address) -> bool:
    """Whether an address is a unicast address on the public internet."""
    if isinstance(address, IPv6Address):
        tunnelled = any(address in tunnel for tunnel in _IPV6_TUNNELS)
        return address.is_global and address in _IPV6_INTERNET and not tunnelled
    return address.is_global and not address.is_multicast


def resolve(host: str, port: int) -> list[Address]:
    """Return every address of a host, in the system's order of preference."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as error:
        raise CorpusError(f"the host {host} cannot be found: check the address and the network") from error
    return list(dict.fromkeys(ip_address(str(entry[4][0])) for entry in found))


def fetch_page(
    address: str,
    *,
    is_allowed: Callable[[Address], bool] = is_public,
    look_up: Callable[[str, int], list[Address]] = resolve,
    ssl_context: SSLContext | None = None,
    max_bytes: int = MAX_BYTES,
    seconds: float = _SECONDS,
) -> Page:
    """Fetch a page; raises CorpusError with the reason if that fails. Every redirect is checked like the first address."""
    backend = _CheckedBackend(_Deadline(seconds), is_allowed, look_up)
    url = _checked(address)
    try:
        # httpx has no public way to set the network backend.
        with httpcore.ConnectionPool(ssl_context or httpx.create_ssl_context(trust_env=False), network_backend=backend) as pool:
            for _ in range(_MOST_REDIRECTS + 1):
                with pool.stream("GET", str(url), headers=_HEADERS) as answer:
                    response = httpx.Response(answer.status, headers=answer.headers, content=answer.iter_stream())
                    if not response.has_redirect_location:
                        return Page(without_secrets(str(url)), _content_type(response), _body(response, max_bytes))
                    url = _checked(str(url.join(response.headers["Location"])))
    except httpcore.TimeoutException as error:
        raise CorpusError(f"the server did not answer in full within {seconds:g} s: try again later") from error
    except (httpx.DecodingError, *_INVALID, httpcore.NetworkError, httpcore.ProtocolError) as error:
        raise CorpusError(f"the connection to {url.host} failed: check the address and the network") from error
    raise CorpusError(f"it redirects more than {_MOST_REDIRECTS} times: give the final address")


class _Deadline:
    """A moment at which every wait ends, even if the other side keeps sending single bytes."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self, timeout: float | None) -> float:
        """Return how long a wait may take; raises httpcore.ReadTimeout if no time is left."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise httpcore.ReadTimeout("deadline")
        return left if timeout is None else min(left, timeout)


class _CheckedBackend(httpcore.NetworkBackend):
    """Resolves a host once, checks its addresses and connects to those, so that a second look-up cannot lead elsewhere
    (DNS rebinding).
    """

    def __init__(
        self, deadline: _Deadline, is_allowed: Callable[[Address], bool], look_up: Callable[[str, int], list[Address]]
    ) -> None:
        self._deadline = deadline
        self._is_allowed = is_allowed
        self._look_up = look_up
        self._sockets = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        addresses = self._look_up(host, port)
        if not addresses or not all(map(self._is_allowed, addresses)):
            raise CorpusError(
                f"the host {host} is not on the public internet and is refused: save the page and give its file instead"
            )
        failure: Exception = httpcore.ConnectError("no address")
        for address in addresses:
            try:
                wait = self._deadline.left(timeout)
                stream = self._sockets.connect_tcp(str(address), port, wait, local_address, socket_options)
                return _TimedStream(stream, self._deadline)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure


class _TimedStream(httpcore.NetworkStream):
    """A stream whose waits all end at one deadline."""

    def __init__(self, stream: httpcore.NetworkStream, deadline: _Deadline) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._deadline.left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._deadline.left(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        stream = self._stream.start_tls(ssl_context, server_hostname, self._deadline.left(timeout))
        return _TimedStream(stream, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _checked(address: str) -> httpx.URL:
    """Return the address without its fragment; raises CorpusError if it must not be fetched."""
    try:
        url = httpx.URL(address).copy_with(fragment=None)
        host = url.host
    except _INVALID as error:
        raise CorpusError("it is not a valid address: check it") from error
    if url.scheme == "http":
        raise CorpusError(
            "http:// is refused, here or after a redirect: anyone on the way could change the page; use https://"
        )
    if url.scheme != "https" or not host:
        raise CorpusError("only https:// addresses are fetched: save the page and give its file instead")
    if url.userinfo:
        raise CorpusError("an address with a user name or password is refused: save the page and give its file instead")
    return url


def _content_type(response: httpx.Response) -> str:
    """Return the stated type; raises CorpusError if the answer is not a page or its type has no loader."""
    status = response.status_code
    if status in (401, 402, 403):
        raise CorpusError(f"the server refuses access ({status}): save the page and give its file instead")
    if status in (404, 410):
        raise CorpusError(f"the server has no such page ({status}): check the address")
    if status != 200:
        raise CorpusError(f"the server answered {status} instead of a page: try again later")
    stated = str(response.headers.get("Content-Type", ""))
    kind = _kind(stated)
    if not kind.startswith("text/") and kind not in _SUFFIX_OF_TYPE:
        raise CorpusError(f"it is {kind or 'of no stated type'}: {UNSUPPORTED}")
    return stated


def _body(response: httpx.Response, max_bytes: int) -> bytes:
    data = bytearray()
    for piece in response.iter_bytes():
        data += piece
        if len(data) > max_bytes:
            raise CorpusError(TOO_LARGE)
    return bytes(data)


def _file_name(page: Page) -> str:
    """Return a name whose suffix gives the format: by the stated type, or the address's own for unspecific text."""
    path = PurePosixPath(unquote(httpx.URL(page.address).path))
    kind = _kind(page.content_type)
    suffix = path.suffix.lower()
    if kind == "text/plain" and FORMATS.get(suffix, "").startswith("text/"):
        return path.name
    return f"{path.stem or 'index'}{_SUFFIX_OF_TYPE.get(kind, '.txt')}"


def _kind(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def without_secrets(address: str) -> str:
    """Return the address without its fragment and without the signatures and keys in its query: it is stored and shown."""
    url = httpx.URL(address).copy_with(fragment=None)
    kept = [(name, value) for name, value in url.params.multi_items() if not _SECRET.search(name)]
    return str(url if len(kept) == len(url.params.multi_items()) else url.copy_with(params=kept or None))


def _shown(address: str) -> str:
    """Return the id of the page; for an address that is refused as it is, leave out user name, query and fragment."""
    try:
        url = httpx.URL(address)
        if url.host and not url.userinfo:
            return without_secrets(address)
    except _INVALID:
        pass
    return re.sub(r"//[^/]*@", "//", re.split(r"[?#]", address, maxsplit=1)[0])
