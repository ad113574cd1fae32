"""What an answer costs, by the user's own price table or the list price, and the estimated footprint of a hosted model.

List prices and estimates need the extra `footprint`. Its two libraries carry their figures with them and contact no server.
They are imported at the first answer of a hosted model.
"""

import logging
import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter
from pydantic.dataclasses import dataclass

from chatbot.answer import ReaderError, Usage

_FORM = 'it has a table a model, ["provider:model"], with input and output in US dollars for a million tokens'
_Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]
# From the provider of a model string to its name in genai-prices.
_PRICED = {"bedrock_converse": "aws", "openai": "openai"}
_ON_BEDROCK = re.compile(r"(?:^|[/.:])(anthropic|mistral|cohere)\.([\w.-]+?)(?:-v\d+)?(?::\d+)?$")
# From the maker of a model on Bedrock to its name in EcoLogits.
_ESTIMATED = {"anthropic": "anthropic", "mistral": "mistralai", "cohere": "cohere"}


@dataclass(frozen=True)
class Price:
    """US dollars per million tokens."""

    input: _Dollars
    output: _Dollars

    def of(self, usage: Usage) -> float:
        return (usage.input_tokens * self.input + usage.output_tokens * self.output) / 1_000_000


def load_prices(path: Path) -> dict[str, Price]:
    """Read the prices in a TOML file, by model string."""
    try:
        return TypeAdapter(dict[str, Price]).validate_python(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise ReaderError(f"WATTWISE_PRICES: {path} cannot be read ({error.strerror}). Name a TOML file: {_FORM}.") from error
    except ValueError as error:
        raise ReaderError(f"WATTWISE_PRICES: {path} is no price table: {_FORM}.") from error


def list_price(model: str, usage: Usage) -> float | None:
    """Return US dollars by genai-prices; None for an unknown model or without the package."""
    provider, _, name = model.partition(":")
    if provider not in _PRICED:
        return None
    try:
        import genai_prices
    except ImportError:
        return None
    tokens = genai_prices.Usage(**asdict(usage))
    try:
        return float(genai_prices.calc_price(tokens, name, provider_id=_PRICED[provider]).total_price)
    except LookupError:
        return None


def estimate(model: str, usage: Usage, seconds: float) -> Mapping[str, float]:
    """Return the fields of a `Footprint` that EcoLogits estimates from a model's output tokens.

    It is {} for an unknown model or without the package. Energy is that of the data centre; carbon includes a share of
    making the servers: https://ecologits.ai/latest/methodology/.
    """
    maker = _maker(model)
    if maker is None:
        return {}
    try:
        from ecologits.tracers.utils import llm_impacts
    except ImportError:
        return {}
    logging.getLogger("ecologits").setLevel(logging.ERROR)  # it warns about each model whose size is not published
    found = llm_impacts(*maker, usage.output_tokens, seconds)
    if found.energy is None or found.gwp is None:
        return {}
    (least_kwh, most_kwh), (least_kg, most_kg) = _ends(found.energy.value), _ends(found.gwp.value)
    return {
        "model_wh_low": 1000 * least_kwh,
        "model_wh_high": 1000 * most_kwh,
        "model_g_co2_low": 1000 * least_kg,
        "model_g_co2_high": 1000 * most_kg,
    }


def _maker(model: str) -> tuple[str, str] | None:
    """Return provider and name of a model in EcoLogits; None for one that it does not estimate."""
    provider, _, name = model.partition(":")
    if provider == "openai":
        return provider, name
    found = _ON_BEDROCK.search(name) if provider == "bedrock_converse" else None
    return (_ESTIMATED[found[1]], found[2]) if found else None


def _ends(value: Any) -> tuple[float, float]:
    """Return the bounds of a value from EcoLogits: one number, or a range if the size of the model is a guess."""
    return float(getattr(value, "min", value)), float(getattr(value, "max", value))
