"""Check the address of a model's server, and whether what answers there can be a model."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from chatbot.llm.failures import Kind, Known

if TYPE_CHECKING:
    import httpx
    from langchain_core.language_models import BaseChatModel

_HOST = re.compile(r"[\w.:%-]+")
_ASKED_TO_STREAM = re.compile(rb'"stream"\s*:\s*true')


def check_address(address: str, *, with_scheme: bool = True) -> None:
    """Raise Known for an invalid address of a web server; "" means none and passes.

    Without `with_scheme`, as for Ollama, a plain host and port is valid.
    """
    if not address:
        return
    given = address if with_scheme or "://" in address else f"http://{address.removeprefix(':')}"
    try:
        parts = urlsplit(given)
        fits = parts.scheme in ("http", "https") and _HOST.fullmatch(parts.hostname or "") and parts.port != 0
    except ValueError as error:  # a port that is not a number, an incomplete IPv6 address
        raise Known(Kind.NO_ADDRESS) from error
    if not fits:
        raise Known(Kind.NO_ADDRESS)


def shown_address(address: str) -> str:
    """Return an address as it may be shown: without user name and password."""
    return re.sub(r"^(\w+://)?.*@", r"\1", address)


def likely_address(address: str) -> str:
    """Return the address where a server at about this address most likely has OpenAI's API."""
    _, _, rest = address.rpartition("://")
    host = rest.partition("/")[0]
    scheme = "https" if address.startswith("https://") else "http"
    return f"{scheme}://{host if _HOST.fullmatch(host) else 'localhost:8080'}/v1"


def refuse_page(response: httpx.Response) -> None:
    """Raise Known for a web page that comes in place of an answer; an event hook for httpx."""
    if response.status_code < 300 and _is_page(response.headers.get("content-type", "")):
        raise Known(Kind.WEB_PAGE)


def openai_client(timeout: Any) -> Any:
    """Return OpenAI's own HTTP client, made to refuse web pages, and JSON if a stream of events was asked for."""
    from openai import DefaultHttpxClient

    def refuse(response: Any) -> None:
        refuse_page(response)
        is_json = response.headers.get("content-type", "").startswith("application/json")
        if response.status_code < 300 and is_json and _ASKED_TO_STREAM.search(response.request.content):
            # Most servers report an unknown path like this.
            raise Known(Kind.MALFORMED if response.request.url.path.endswith("/v1/chat/completions") else Kind.NO_CHAT_API)

    return DefaultHttpxClient(timeout=timeout, event_hooks={"response": [refuse]})


def refuse_pages_of_boto(model: BaseChatModel) -> None:
    """Make the boto3 client of a model refuse web pages, too."""

    def refuse(response_dict: dict[str, Any], **_: Any) -> None:
        if response_dict["status_code"] < 300 and _is_page(response_dict["headers"].get("content-type", "")):
            raise Known(Kind.WEB_PAGE)

    client: Any = model.client  # type: ignore[attr-defined]
    client.meta.events.register("before-parse.bedrock-runtime", refuse)


def _is_page(kind: str) -> bool:
    return kind.strip().lower().startswith(("text/html", "application/xhtml"))
