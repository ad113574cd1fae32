"""Open the model that a string `provider:model` names, with LangChain's `init_chat_model`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from math import inf
from typing import TYPE_CHECKING, Any

from chatbot.answer import OFFLINE, ReaderError
from chatbot.llm.addresses import check_address, openai_client, refuse_page, refuse_pages_of_boto

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

_MAKER = re.compile(r"(?:^|/)(?:(?:us|us-gov|eu|apac|sa|amer|global|jp|au|ca)\.)?([a-z]\w+)\.[^/]+$")


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """How language models are called; each setting comes from the variable `WATTWISE_` plus its name.

    `base_url` is the address of the user's own server. Bedrock has `region`; `guardrail` ("id:version"); `base_model`, the
    id of the model behind an ARN that does not name it; and `provider`, the maker of that model.

    Times are in seconds. `first_token` bounds the wait for the first word of an answer, during which a model loads or thinks
    (Ollama itself allows as long for loading). `timeout` bounds the wait for each next word, and `deadline` all attempts at
    one answer together, without the waits for first words. `WATTWISE_DEADLINE` also bounds the offline reader, with a lower
    default (`Limits`).

    `max_tokens` bounds the answer without thoughts. `thinking_tokens` is how many a model is asked to think, 0 for none; a
    value under 0 leaves that to the model. `context_tokens` is the context window that Ollama is asked for, a fifth of it for the conversation. A `temperature`
    under 0 leaves it to the service (0 on the user's own server).

    `passages` bounds the passages in a first prompt; a second attempt gets twice as many. `prices` is a TOML file. `judge`
    decides what the local judge is unsure of: "" for none, "model" for the model itself, or another model string. `tools` is
    how often a model may call tools before it answers; 0 offers none. Raises ReaderError for a value that is out of range.
    """

    base_url: str = ""
    region: str = ""
    provider: str = ""
    base_model: str = ""
    guardrail: str = ""
    first_token: float = 300.0
    timeout: float = 30.0
    deadline: float = 90.0
    max_tokens: int = 1024
    thinking_tokens: int = -1
    context_tokens: int = 16_384
    temperature: float = -1.0
    passages: int = 24
    prices: str = ""
    judge: str = ""
    tools: int = 3

    def __post_init__(self) -> None:
        for name, (is_meant, takes) in _TAKES.items():
            if not is_meant(value := getattr(self, name)):
                raise ReaderError(f"WATTWISE_{name.upper()} is {str(value)!r}: it takes {takes}.")


# Every check is a comparison that must hold, so NaN fails it.
_SECONDS = (lambda value: 0 < value < inf, "a number of seconds above 0")
_COUNT = (lambda value: value >= 1, "a whole number from 1 on")
_TAKES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "first_token": _SECONDS,
    "timeout": _SECONDS,
    "deadline": _SECONDS,
    "max_tokens": _COUNT,
    "context_tokens": _COUNT,
    "passages": _COUNT,
    "tools": (lambda value: value >= 0, "a whole number from 0 on"),
    "temperature": (lambda value: -inf < value <= 2, "a number from 0 to 2, or one under 0 to leave it to the service"),
    "guardrail": (lambda value: not value.startswith(":"), "id:version, or the id alone for its draft"),
}


@dataclass(frozen=True, slots=True)
class _Provider:
    package: str
    extra: str
    arguments: Callable[[str, ModelSettings], dict[str, Any]]
    # Whether every complete answer says why it ended, so that one without a reason was cut off.
    tells_its_end: bool = True


def provider_of(model: str) -> str:
    """Return the provider of a model string: the text before the first colon."""
    return model.partition(":")[0]


def check_model(model: str) -> None:
    """Raise ReaderError for a model string that cannot be opened here; contacts no server and imports nothing."""
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
    """Whether a model is hosted by its provider, at list prices, and not on the user's own server."""
    provider = provider_of(model)
    return provider == "bedrock_converse" or (provider == "openai" and not _own_server(settings))


def open_model(model: str, settings: ModelSettings, *, thinks: bool = False) -> BaseChatModel:
    """Open the chat model of a string that `check_model` has passed; raises what its provider raises.

    It gets additional tokens for thoughts if it `thinks`, is asked to by the settings, or is known to think unasked.
    """
    from langchain.chat_models import init_chat_model

    provider, _, name = model.partition(":")
    check_address(server_of(model, settings), with_scheme=provider != "ollama")
    thinks = thinks or settings.thinking_tokens > 0
    given = _with_room(settings) if thinks else settings
    opened: BaseChatModel = init_chat_model(name, model_provider=provider, **_PROVIDERS[provider].arguments(name, given))
    if not thinks and _thinks_unasked(opened, model):
        return open_model(model, settings, thinks=True)
    if provider == "bedrock_converse":
        refuse_pages_of_boto(opened)
    return opened


# How many tokens a model may think that was given no number.
_ROOM = 8_192


def _with_room(settings: ModelSettings) -> ModelSettings:
    """Add tokens for thoughts: services count them as part of the answer, and Ollama as part of the context window."""
    room = settings.thinking_tokens if settings.thinking_tokens > 0 else _ROOM
    return replace(settings, max_tokens=settings.max_tokens + room, context_tokens=settings.context_tokens + room)


def _thinks_unasked(opened: BaseChatModel, model: str) -> bool:
    """Whether LangChain's profile of a model says that it thinks; Claude does so only when asked to."""
    profile: Mapping[str, Any] = getattr(opened, "profile", None) or {}
    return bool(profile.get("reasoning_output")) and "claude" not in model


def server_of(model: str, settings: ModelSettings) -> str:
    """Return the address of the user's own server for a model, "" for its provider's."""
    return _own_server(settings) if provider_of(model) == "openai" else settings.base_url


def tells_its_end(model: str) -> bool:
    """Whether an answer of the model that ends without a reason was cut off."""
    provider = _PROVIDERS.get(provider_of(model))
    return provider is not None and provider.tells_its_end


# Earlier models do not cite: https://platform.claude.com/docs/en/build-with-claude/citations
_CITING = re.compile(r"anthropic\.claude-(?:3-5-sonnet-20241022|3-7-|(?:opus|sonnet|haiku)-[4-9])")


def cites_documents(model: str, base_model: str = "") -> bool:
    """Whether a model string, or its base model, names a model of the Converse API that can cite a document's blocks."""
    return provider_of(model) == "bedrock_converse" and bool(_CITING.search(base_model or model))


# All models that cite also cache, and so does Nova: https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
_CACHING = re.compile(rf"{_CITING.pattern}|anthropic\.claude-3-5-haiku|amazon\.nova-")


def caches_prompts(model: str, base_model: str = "") -> bool:
    """Whether a model string, or its base model, names a model of the Converse API that takes cache points."""
    return provider_of(model) == "bedrock_converse" and bool(_CACHING.search(base_model or model))


def _bedrock(name: str, settings: ModelSettings) -> dict[str, Any]:
    from botocore.config import Config

    guardrail, _, version = settings.guardrail.partition(":")
    given = {
        "region_name": settings.region,
        "base_url": settings.base_url,
        "provider": settings.provider or _maker_in(settings.base_model or (name if name.startswith("arn:") else "")),
        "base_model_id": settings.base_model,
        "guardrails": {"guardrailIdentifier": guardrail, "guardrailVersion": version or "DRAFT"} if guardrail else None,
        # botocore's own retries would add to ours.
        "config": Config(connect_timeout=settings.timeout, read_timeout=max(settings.first_token, settings.timeout), retries={"total_max_attempts": 1}),
        "max_tokens": settings.max_tokens,
        "additional_model_request_fields": _thinking(settings.base_model or name, settings),
    }
    # Claude accepts no temperature while it thinks.
    return {k: v for k, v in given.items() if v} | ({} if given["additional_model_request_fields"] else _temperature(settings))


# The Claude models that take a budget for their thoughts; later ones decide for themselves how much to think:
# https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-adaptive-thinking.html
_BUDGETED = re.compile(r"claude-(?:3-7|(?:opus|sonnet|haiku)-4-(?:[15]-)?20\d{6})")
_LEAST_BUDGET = 1024


def _thinking(name: str, settings: ModelSettings) -> dict[str, Any] | None:
    """Return the request fields that ask Claude to think; other models of Bedrock think unasked or not at all."""
    if settings.thinking_tokens <= 0 or "claude" not in name:
        return None
    budget = {"type": "enabled", "budget_tokens": max(_LEAST_BUDGET, settings.thinking_tokens)}
    return {"thinking": budget if _BUDGETED.search(name) else {"type": "adaptive"}}


def _maker_in(name: str) -> str:
    """Return the maker in a model's id or ARN: "anthropic" for "us.anthropic.claude…"; "" if it names none."""
    match = _MAKER.search(name)
    return match[1] if match else ""


def _openai(name: str, settings: ModelSettings) -> dict[str, Any]:
    from openai import Timeout

    timeout = Timeout(max(settings.first_token, settings.timeout), connect=settings.timeout)
    given: dict[str, Any] = {"timeout": timeout, "max_retries": 0, "stream_usage": True}
    own_server = _own_server(settings)
    if not own_server:
        return given | {"max_tokens": settings.max_tokens} | _temperature(settings)
    given["http_client"] = openai_client(timeout)
    # The user's own server needs no key, but the client does. It knows the chat API only, and the limit as `max_tokens`.
    key = {} if os.environ.get("OPENAI_API_KEY") else {"api_key": "none"}
    limit = {"extra_body": {"max_tokens": settings.max_tokens}}
    return given | key | limit | {"base_url": own_server, "use_responses_api": False} | _temperature(settings, 0.0)


def _own_server(settings: ModelSettings) -> str:
    return settings.base_url or os.environ.get("OPENAI_BASE_URL") or os.environ.get("OPENAI_API_BASE") or ""


def _ollama(name: str, settings: ModelSettings) -> dict[str, Any]:
    from httpx import Timeout

    given: dict[str, Any] = {
        "num_predict": settings.max_tokens,
        # Ollama silently cuts a prompt that is longer than its context window, which is small by default.
        "num_ctx": settings.context_tokens,
        "client_kwargs": {"timeout": Timeout(max(settings.first_token, settings.timeout), connect=settings.timeout)},
        # None leaves it to the model: one that can think does so, and its thoughts come apart from its answer.
        "reasoning": None if settings.thinking_tokens < 0 else settings.thinking_tokens > 0,
        "sync_client_kwargs": {"event_hooks": {"response": [refuse_page]}},
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
