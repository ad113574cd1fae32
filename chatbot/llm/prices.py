"""What an answer cost, from a price table of the user's own."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chatbot.answer import ReaderError, Usage

_FORM = 'it has a table a model, ["provider:model"], with input and output in US dollars for a million tokens'


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens."""

    input: float
    output: float


def load_prices(path: Path) -> dict[str, Price]:
    """The prices in a TOML file, by model string."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
        return {model: _price(table) for model, table in tables.items()}
    except OSError as error:
        raise ReaderError(
            f"WATTWISE_PRICES: {path} cannot be read ({error.strerror}). Name a TOML file: {_FORM}."
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise ReaderError(f"WATTWISE_PRICES: {path} is no price table: {_FORM}.") from error


def _price(table: Mapping[str, Any]) -> Price:
    price = Price(float(table["input"]), float(table["output"]))
    if not (0 <= price.input < float("inf") and 0 <= price.output < float("inf")):
        raise ValueError(price)
    return price


def cost(usage: Usage | None, price: Price | None) -> float | None:
    """US dollars, None where the tokens or the price are not known."""
    if usage is None or price is None:
        return None
    return (usage.input_tokens * price.input + usage.output_tokens * price.output) / 1_000_000
