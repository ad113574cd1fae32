"""Every reference document and each of its sections has a source with a well-formed address and date."""

import re
from datetime import date
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from chatbot import Chatbot

REFERENCE = Path(__file__).resolve().parents[1] / "corpus" / "reference"
FILES = sorted(REFERENCE.glob("*.md"))
LINK = re.compile(r"\[(?P<title>[^\[\]]+)\]\((?P<address>[^()]*)\)")
AS_OF = re.compile(r"\bas of (?P<year>20\d\d)-(?P<month>0[1-9]|1[0-2])\b")


def sections(text: str) -> list[tuple[str, str]]:
    """(heading, last line) of each section."""
    parts = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    return [(part.splitlines()[0], part.strip().splitlines()[-1]) for part in parts]


def faults(line: str) -> list[str]:
    """The faults of a section's source line."""
    found = list(LINK.finditer(line))
    wrong = [] if line.startswith("Source: ") and found else ["no source"]
    wrong += [f"address {match['address']}" for match in found if not is_address(match["address"])]
    dates = [date(int(match["year"]), int(match["month"]), 1) for match in AS_OF.finditer(line)]
    return wrong + ([] if dates and max(dates) <= date.today() else ["no date, or one to come"])


def is_address(text: str) -> bool:
    parts = urlsplit(text)
    return parts.scheme == "https" and "." in parts.netloc and not re.search(r"[\s<>\"]", text)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_each_section_ends_with_its_sources_and_their_date(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert sections(text)
    assert {heading: wrong for heading, line in sections(text) if (wrong := faults(line))} == {}


def test_each_document_says_where_it_comes_from_and_when(bot: Chatbot) -> None:
    sources = {d.source.original: d.source for d in bot.index.documents() if "/reference/" in d.id}
    assert set(sources) == {file.name for file in FILES}
    for source in sources.values():
        assert source.title
        assert is_address(source.url or "")
        assert date.fromisoformat(source.published or "") <= date.today()


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("Source: [Guide](https://docs.example.org/a), as of 2025-04.", []),
        ("T instances earn credits.", ["no source", "no date, or one to come"]),
        ("Source: [Guide](http://docs.example.org/a), as of 2025-04.", ["address http://docs.example.org/a"]),
        ("Source: [Guide](https://docs.example.org/a), as of 2999-01.", ["no date, or one to come"]),
    ],
)
def test_what_is_wrong_with_a_source_is_seen(line: str, wrong: list[str]) -> None:
    assert faults(line) == wrong
