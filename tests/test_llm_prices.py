from pathlib import Path

import pytest

from chatbot.answer import ReaderError, Usage
from chatbot.llm.costs import Price, load_prices


def test_a_price_table_gives_the_cost(tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    file.write_text('["bedrock_converse:a.b-v1:0"]\ninput = 3\noutput = 15.0\n')
    prices = load_prices(file)
    assert prices == {"bedrock_converse:a.b-v1:0": Price(3.0, 15.0)}
    assert prices["bedrock_converse:a.b-v1:0"].of(Usage(1_000, 200)) == pytest.approx(0.003 + 0.003)


@pytest.mark.parametrize(
    "text", ["[a]\ninput = 1", "a = 1", "[a]\ninput = 'x'\noutput = 1", "[a]\ninput=-1\noutput=1", "["]
)
def test_what_is_no_price_table_is_said_with_its_form(tmp_path: Path, text: str) -> None:
    file = tmp_path / "prices.toml"
    file.write_text(text)
    with pytest.raises(ReaderError, match=r"is no price table: it has a table a model"):
        load_prices(file)


def test_a_price_table_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ReaderError, match="cannot be read"):
        load_prices(tmp_path / "none.toml")
