"""Where a model is asked: whether an address can be one, and whether what answers there can be a model."""

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
    """Raise Known for what is no address of a web server; "" is none and passes. Ollama takes a plain host and port."""
    if not address:
        return
    given = address if with_scheme or "://" in address else f"http://{address.removeprefix(':')}"
    try:
        parts = urlsplit(given)
        fits = parts.scheme in ("http", "https") and _HOST.fullmatch(parts.hostname or "") and parts.port != 0
    except ValueError as error:  # a port that is no number, half an IPv6 address
        raise Known(Kind.NO_ADDRESS) from error
    if not fits:
        raise Known(Kind.NO_ADDRESS)


def shown_address(address: str) -> str:
    """An address as it may be shown: without the name and password that some carry."""
    return re.sub(r"^(\w+://)?.*@", r"\1", address)


def likely_address(address: str) -> str:
    """Where a server at about this address mostly has OpenAI's API."""
    _, _, rest = address.rpartition("://")
    host = rest.partition("/")[0]
    scheme = "https" if address.startswith("https://") else "http"
    return f"{scheme}://{host if _HOST.fullmatch(host) else 'localhost:8080'}/v1"


def refuse_page(response: httpx.Response) -> None:
    """Raise Known for a page that comes in place of an answer; for the event hooks of httpx."""
    if response.status_code < 300 and _is_page(response.headers.get("content-type", "")):
        raise Known(Kind.WEB_PAGE)


def openai_client(timeout: Any) -> Any:
    """OpenAI's own HTTP client, which refuses pages, and JSON where events were asked for."""
    from openai import DefaultHttpxClient

    def refuse(response: Any) -> None:
        refuse_page(response)
        is_json = response.headers.get("content-type", "").startswith("application/json")
        if response.status_code < 300 and is_json and _ASKED_TO_STREAM.search(response.request.content):
            raise Known(Kind.NO_CHAT_API)  # most say so that they do not know the path

    return DefaultHttpxClient(timeout=timeout, event_hooks={"response": [refuse]})


def refuse_pages_of_boto(model: BaseChatModel) -> None:
    """Have boto3's client of a model refuse pages too."""

    def refuse(response_dict: dict[str, Any], **_: Any) -> None:
        if response_dict["status_code"] < 300 and _is_page(response_dict["headers"].get("content-type", "")):
            raise Known(Kind.WEB_PAGE)

    client: Any = model.client  # type: ignore[attr-defined]
    client.meta.events.register("before-parse.bedrock-runtime", refuse)


def _is_page(kind: str) -> bool:
    return kind.strip().lower().startswith(("text/html", "application/xhtml"))
