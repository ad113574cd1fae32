"""A model is one string, `provider:model`; LangChain's `init_chat_model` opens it, at the first question and not before."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from chatbot.answer import ReaderError

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

OFFLINE = "offline"


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """How language models are called, each from a variable of its name behind `WATTWISE_`.

    `base_url` is the address of a server of one's own; `region` and `guardrail` ("id:version") are Bedrock's, and so is `provider`,
    the maker of a model whose ARN does not name it. `timeout` bounds the wait for a server's next words, `deadline` all
    attempts at one answer together, both in seconds; `WATTWISE_DEADLINE` also bounds the offline reader, whose default is less (`Limits`). `max_tokens` bounds the answer, `context_tokens` what Ollama and a
    model in this process may read. A `temperature` under 0 leaves it to the service (0 on servers of one's own).
    `passages` bounds the passages in a first prompt; a second attempt gets twice as many. `prices` names a TOML file. `judge` is "" or
    who decides what the local judge is unsure of: "model", the model itself, or another one by name. `tools` is how often a model may call tools before it answers; 0 offers none.
    """

    base_url: str = ""
    region: str = ""
    provider: str = ""
    guardrail: str = ""
    timeout: float = 30.0
    deadline: float = 90.0
    max_tokens: int = 1024
    context_tokens: int = 16_384
    temperature: float = -1.0
    passages: int = 24
    prices: str = ""
    judge: str = ""
    tools: int = 3


@dataclass(frozen=True, slots=True)
class _Provider:
    package: str
    extra: str
    arguments: Callable[[str, ModelSettings], dict[str, Any]]
    # Whether each whole answer of it says why it ended; one that does not was cut off.
    tells_its_end: bool = True


def provider_of(model: str) -> str:
    """The provider of a model string: what stands before the first colon."""
    return model.partition(":")[0]


def check_model(model: str) -> None:
    """Raise ReaderError for a model string that cannot be opened here; contacts and imports nothing."""
    provider, colon, rest = model.partition(":")
    known = ", ".join(f"{name}:MODEL" for name in _PROVIDERS)
    if provider not in _PROVIDERS or not colon:
        raise ReaderError(f"No reader for the model {model!r}. Use {OFFLINE} or one of {known}.")
    if not rest.strip():
        raise ReaderError(f"{model!r} names no model. Write {provider}:MODEL, with the name its provider gives it.")
    needed = ("langchain", *_PROVIDERS[provider].package.split())
    if any(find_spec(package) is None for package in needed):
        extra = _PROVIDERS[provider].extra
        raise ReaderError(f"{model!r} needs more packages. Install them with: pip install 'wattwise[{extra}]'")


def is_hosted(model: str, settings: ModelSettings) -> bool:
    """Whether a model answers at its provider, at list prices, and not on a server of one's own."""
    provider = provider_of(model)
    return provider == "bedrock_converse" or (provider == "openai" and not _own_server(settings))


def open_model(model: str, settings: ModelSettings) -> BaseChatModel:
    """The chat model behind a string that `check_model` has passed; raises what its provider raises."""
    from langchain.chat_models import init_chat_model

    provider, _, name = model.partition(":")
    arguments = _PROVIDERS[provider].arguments(name, settings)
    opened: BaseChatModel = init_chat_model(name, model_provider=provider, **arguments)
    return opened


def tells_its_end(model: str) -> bool:
    """Whether a model's answer that ends without saying why was cut off."""
    provider = _PROVIDERS.get(provider_of(model))
    return provider is not None and provider.tells_its_end


def _bedrock(name: str, settings: ModelSettings) -> dict[str, Any]:
    guardrail, _, version = settings.guardrail.partition(":")
    given = {
        "region_name": settings.region,
        "base_url": settings.base_url,
        "provider": settings.provider or _maker_in_arn(name),
        "guardrails": {"guardrailIdentifier": guardrail, "guardrailVersion": version or "DRAFT"} if guardrail else None,
        # botocore waits in whole seconds; its own retries would add to ours.
        "timeout": max(1, round(settings.timeout)),
        "max_tokens": settings.max_tokens,
    }
    return {k: v for k, v in given.items() if v} | {"max_retries": 0} | _temperature(settings)


def _maker_in_arn(name: str) -> str:
    match = re.search(r"[:/.](amazon|anthropic|ai21|cohere|deepseek|meta|mistral|openai|qwen|writer)\.", name)
    return match[1] if match and name.startswith("arn:") else ""


def _openai(name: str, settings: ModelSettings) -> dict[str, Any]:
    given: dict[str, Any] = {"timeout": settings.timeout, "max_retries": 0, "stream_usage": True}
    own_server = _own_server(settings)
    if not own_server:
        return given | {"max_tokens": settings.max_tokens} | _temperature(settings)
    # Servers of one's own ask for no key but the client does; they know the chat API, and the limit by its first name.
    key = {} if os.environ.get("OPENAI_API_KEY") else {"api_key": "none"}
    limit = {"extra_body": {"max_tokens": settings.max_tokens}}
    return given | key | limit | {"base_url": own_server, "use_responses_api": False} | _temperature(settings, 0.0)


def _own_server(settings: ModelSettings) -> str:
    return settings.base_url or os.environ.get("OPENAI_BASE_URL") or os.environ.get("OPENAI_API_BASE") or ""


def _ollama(name: str, settings: ModelSettings) -> dict[str, Any]:
    given: dict[str, Any] = {
        "num_predict": settings.max_tokens,
        # Ollama cuts a prompt that is longer than its window without a word, and its window is small unless told.
        "num_ctx": settings.context_tokens,
        "client_kwargs": {"timeout": settings.timeout},
    }
    return given | ({"base_url": settings.base_url} if settings.base_url else {}) | _temperature(settings, 0.0)


def _huggingface(name: str, settings: ModelSettings) -> dict[str, Any]:
    import torch

    warm = settings.temperature > 0
    sampling = {"do_sample": True, "temperature": settings.temperature} if warm else {"do_sample": False}
    limits = {"max_new_tokens": settings.max_tokens, "return_full_text": False}
    return {"pipeline_kwargs": limits | sampling} | ({"device": 0} if torch.cuda.is_available() else {})


def _temperature(settings: ModelSettings, otherwise: float | None = None) -> dict[str, Any]:
    value = settings.temperature if settings.temperature >= 0 else otherwise
    return {} if value is None else {"temperature": value}


_PROVIDERS = {
    "bedrock_converse": _Provider("langchain_aws boto3", "aws", _bedrock),
    "ollama": _Provider("langchain_ollama", "ollama", _ollama),
    "openai": _Provider("langchain_openai", "openai", _openai),
    "huggingface": _Provider("langchain_huggingface transformers", "huggingface", _huggingface, tells_its_end=False),
}
