"""Options that are the rows of one table are decided by its yes-or-no column."""

from pathlib import Path

import pytest

from chatbot import Chatbot, retrieve
from chatbot.examination.by_rows import choose_rows
from chatbot.query import understand
from ingest import sync

STATES = """# When is a machine billed?

The kettle cloud bills its machines by their state.

| State | Meaning | Usage billed |
| --- | --- | --- |
| warming | Being started | No |
| boiling | Ready for use | Yes |
| cold | Shut down, can be started again | No |
| drained | Deleted for good | No |

| Change of a lease | Allowed | Condition |
| --- | --- | --- |
| Kettle family, country | No | None |
| Size within the family | Yes | Same footprint |
| Split or merge | Yes | Same end |
"""


@pytest.fixture(scope="module")
def kettles(tmp_path_factory: pytest.TempPathFactory) -> Chatbot:
    folder: Path = tmp_path_factory.mktemp("kettles")
    (folder / "states.md").write_text(STATES)
    sync([folder / "states.md"], folder / "index", encoder="none")
    return Chatbot.open(folder / "index")


@pytest.mark.parametrize(
    ("stem", "options", "letters"),
    [
        ("In which state is the usage of a machine billed?", ("cold", "boiling", "warming"), ("B",)),
        ("Which state does NOT pause the billed usage?", ("cold", "drained", "boiling"), ("C",)),
        ("Which TWO states are NOT billed for usage? (Choose TWO.)", ("boiling", "cold", "drained"), ("B", "C")),
        ("Which change of a lease is NOT allowed?", ("Splitting it", "Size", "Kettle family"), ("C",)),
    ],
)
def test_the_column_that_is_asked_for_decides(
    kettles: Chatbot, stem: str, options: tuple[str, ...], letters: tuple[str, ...]
) -> None:
    asked = "\n".join([stem, *(f"{letter}. {option}" for letter, option in zip("ABC", options, strict=True))])
    answer = kettles.ask(asked)
    assert answer.choices == letters
    assert [line[:5] for line in answer.text.splitlines()[1:]] == ["- A. ", "- B. ", "- C. "]
    assert all(c.quote in STATES for c in answer.citations)


def test_a_row_is_quoted_for_each_option(kettles: Chatbot) -> None:
    answer = kettles.ask("In which state is the usage of a machine billed?\nA. cold\nB. boiling")
    assert answer.text.splitlines() == [
        "B: boiling: Usage billed: Yes [1].",
        "- A. cold: cold: Usage billed: No [2].",
        "- B. boiling: boiling: Usage billed: Yes [1].",
    ]


@pytest.mark.parametrize(
    "stem",
    ["Which state gives the maximum saving on billed usage?", "Which state is best for billed usage?", "Which is red?"],
)
def test_where_more_is_weighed_or_no_column_is_asked_for_no_row_decides(kettles: Chatbot, stem: str) -> None:
    index = kettles.index
    query = understand(f"{stem}\nA. cold\nB. boiling\nC. drained", (), index)
    assert choose_rows(query, retrieve(index, query.standalone)) is None
