"""What the answer of a hosted model costs by its list price and takes by estimate: the extra `footprint`, where installed.

Both libraries carry their figures with them and ask no server. They are imported at the first answer of a hosted model.
"""

import logging
import re
from collections.abc import Mapping
from typing import Any

from chatbot.answer import Usage

# The provider of a model string, by its name in genai-prices.
_PRICED = {"bedrock_converse": "aws", "openai": "openai"}
_ON_BEDROCK = re.compile(r"(?:^|[/.:])(anthropic|mistral|cohere)\.([\w.-]+?)(?:-v\d+)?(?::\d+)?$")
# The makers of models on Bedrock, by their names in EcoLogits.
_ESTIMATED = {"anthropic": "anthropic", "mistral": "mistralai", "cohere": "cohere"}


def list_price(model: str, usage: Usage) -> float | None:
    """US dollars by genai-prices; None for a model that it does not know, or without it."""
    provider, _, name = model.partition(":")
    if provider not in _PRICED:
        return None
    try:
        import genai_prices
    except ImportError:
        return None
    tokens = genai_prices.Usage(input_tokens=usage.input_tokens, output_tokens=usage.output_tokens)
    try:
        return float(genai_prices.calc_price(tokens, name, provider_id=_PRICED[provider]).total_price)
    except LookupError:
        return None


def estimate(model: str, usage: Usage, seconds: float) -> Mapping[str, float]:
    """The fields of a `Footprint` that a model's output tokens give by EcoLogits; {} for one that it does not know, or
    without it.

    The energy is that of the data centre, the carbon has the share of making the servers: https://ecologits.ai/latest/methodology/.
    """
    maker = _maker(model)
    if maker is None:
        return {}
    try:
        from ecologits.tracers.utils import llm_impacts
    except ImportError:
        return {}
    logging.getLogger("ecologits").setLevel(logging.ERROR)  # it warns of each model whose size is not published
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
    """The names by which EcoLogits knows a model."""
    provider, _, name = model.partition(":")
    if provider == "openai":
        return provider, name
    found = _ON_BEDROCK.search(name) if provider == "bedrock_converse" else None
    return (_ESTIMATED[found[1]], found[2]) if found else None


def _ends(value: Any) -> tuple[float, float]:
    """A number of EcoLogits is one number, or a range where the size of the model is a guess."""
    return float(getattr(value, "min", value)), float(getattr(value, "max", value))
