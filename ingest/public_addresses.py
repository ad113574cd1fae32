"""Connections to public addresses only: a host is resolved once, checked, and connected to at that address."""

import socket
import time
from collections.abc import Callable, Iterable
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from ssl import SSLContext
from typing import Any

import httpcore

from ingest.document import CorpusError

Address = IPv4Address | IPv6Address
# All that the IPv6 internet uses so far. IPv4-mapped, IPv4-compatible and NAT64 addresses lie outside it.
_IPV6_INTERNET = IPv6Network("2000::/3")
# Teredo and 6to4 carry an IPv4 address inside, which may be any, a private one too.
_IPV6_TUNNELS = (IPv6Network("2001::/32"), IPv6Network("2002::/16"))


def is_public(address: Address) -> bool:
    """Whether an address belongs to the public internet and to one machine there."""
    if isinstance(address, IPv6Address):
        tunnelled = any(address in tunnel for tunnel in _IPV6_TUNNELS)
        return address.is_global and address in _IPV6_INTERNET and not tunnelled
    return address.is_global and not address.is_multicast


def resolve(host: str, port: int) -> list[Address]:
    """Every address of a host, in the order of the system's preference."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as error:
        raise CorpusError(f"the host {host} cannot be found: check the address and the network") from error
    return list(dict.fromkeys(ip_address(str(entry[4][0])) for entry in found))


class Deadline:
    """A moment after which every wait ends, however often the other side sends a byte."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self, timeout: float | None) -> float:
        """The time that a wait may take; httpcore.ReadTimeout when there is none left."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise httpcore.ReadTimeout("deadline")
        return left if timeout is None else min(left, timeout)


class CheckedBackend(httpcore.NetworkBackend):
    """Connects to the very addresses that were checked, so that a second look-up cannot lead elsewhere."""

    def __init__(
        self, deadline: Deadline, is_allowed: Callable[[Address], bool], look_up: Callable[[str, int], list[Address]]
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

    def __init__(self, stream: httpcore.NetworkStream, deadline: Deadline) -> None:
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
