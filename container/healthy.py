"""The image's health check: exit code 0 if any of the given addresses answers with status 200, else 1."""

import sys
from collections.abc import Sequence
from http.client import HTTPException
from urllib.request import ProxyHandler, build_opener

_TIMEOUT = 2.0  # seconds


def main(addresses: Sequence[str]) -> int:
    return 0 if any(map(_answers, addresses)) else 1


def _answers(address: str) -> bool:
    # Bypass any proxy configured for model calls: it must not receive requests for the container's loopback.
    opener = build_opener(ProxyHandler({}))
    try:
        with opener.open(address, timeout=_TIMEOUT) as response:
            return bool(response.status == 200)
    except (OSError, HTTPException):
        return False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
