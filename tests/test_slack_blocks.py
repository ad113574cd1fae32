import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatbot import Answer, Citation, Passage, shown
from chatbot.answer import Statement
from chatbot.slack.blocks import (
    MOST_CHARACTERS,
    answer_messages,
    evidence_view,
    excerpts_of,
    shown_text,
    size_of,
    text_messages,
)
from chatbot.slack.escaping import defanged, plain, web_address
from chatbot.slack.parts import cell_elements, linked, parts_of, split_text
from chatbot.slack.state import KeptAnswer, Message
from ingest import Chunk, Document, Source
from tests.servers.slack_blocks import fault_of

URL = "https://docs.example/trn1?a=1&b=(2)"
TEXT = "A trn1.32xlarge has 128 vCPUs. It costs <nothing> & *less*."
DOCUMENT = Document("trn1", Source("trn1", "Trn1 guide", "Maker", URL, "2025-01", None, None), "Trn1 guide", TEXT)
PASSAGE = Passage(1, Chunk("c", DOCUMENT, ("Trn1 guide", "Sizes"), 0, len(TEXT), TEXT, 3), 1.0)


def cited(number: int, quote: str = "A trn1.32xlarge has 128 vCPUs.") -> Citation:
    return Citation(number, "claim", quote, 0, len(quote), 0.9, PASSAGE)


def answered(text: str, *citations: Citation, **more: object) -> Answer:
    plain_answer = Answer("q", text, citations, (PASSAGE,), not citations, (), "offline", 0.1)
    return replace(plain_answer, **more)  # type: ignore[arg-type]


def within_limits(messages: tuple[Message, ...]) -> bool:
    assert [fault_of(message) for message in messages] == [""] * len(messages)
    return all(size_of(message) <= MOST_CHARACTERS for message in messages)


def words_of(messages: tuple[Message, ...]) -> str:
    return " ".join(" ".join(shown_text(message) for message in messages).split())


def test_citation_numbers_lead_to_their_sources() -> None:
    (message,) = answer_messages(answered("It has 128 vCPUs [1]. Code: `a[1]`, none [2].", cited(1)), "id", 3)
    assert message[0] == {
        "type": "markdown",
        "text": "It has 128 vCPUs [[1]](https://docs.example/trn1?a=1&b=%282%29). Code: `a[1]`, none [2].",
    }


def test_a_source_is_shown_literally_with_title_section_page_publisher_date_and_link() -> None:
    quote = "It costs <nothing> & *less*."
    (message,) = answer_messages(answered("It is cheap [1].", cited(1, quote)), "id", 3)
    address = "https://docs.example/trn1?a=1&b=%282%29"
    head = [
        {"type": "text", "text": "[1] ", "style": {"bold": True}},
        {"type": "link", "url": address, "text": "Trn1 guide"},
        {"type": "text", "text": " · Sizes · page 3 · Maker · 2025-01"},
    ]
    assert message[1] == {
        "type": "rich_text",
        "elements": [
            {"type": "rich_text_section", "elements": head},
            {"type": "rich_text_quote", "elements": [{"type": "text", "text": quote}]},
        ],
    }


def test_a_source_that_is_quoted_twice_is_named_once() -> None:
    one, other = cited(1, "A trn1.32xlarge has 128 vCPUs."), cited(1, "It costs <nothing>")
    (message,) = answer_messages(answered("It is large [1] and cheap [1].", one, other, one), "id", 3)
    assert shown_text(message).splitlines()[2:6] == [
        "Sources:",
        "[1] Trn1 guide · Sizes · page 3 · Maker · 2025-01",
        "    A trn1.32xlarge has 128 vCPUs.",
        "    It costs <nothing>",
    ]


def test_the_note_says_what_made_the_answer_and_what_happened_on_the_way() -> None:
    (message,) = answer_messages(answered("It has 128 vCPUs [1].", cited(1), notice="The model was busy."), "id", 3)
    note = next(block for block in message if block["type"] == "context")
    assert [e["text"] for e in note["elements"]] == [
        "AI-made answer: every sentence checked against the words it cites, weakest support 90%. Reader: offline."
        " Index version: 3.",
        "The model was busy.",
    ]


def test_a_note_claims_no_check_where_nothing_is_cited() -> None:
    (message,) = answer_messages(answered("Hello! Ask me about hardware.", refused=False), "id", 3)
    note = next(block for block in message if block["type"] == "context")
    assert note["elements"][0]["text"] == "AI-made answer. Reader: offline. Index version: 3."


def test_a_comparison_is_a_table_with_linked_numbers() -> None:
    said = (Statement("It has 8 vCPUs.", (1,), "side", "trn1.2xlarge"), Statement("It has 128 vCPUs.", (2,), "side", "trn1.32xlarge"))
    answer = replace(answered("", cited(1), cited(2)), statements=said)
    tables = [part for part in parts_of(answer) if not isinstance(part, str)]
    assert [row[0] for row in tables[0]] == ["", "trn1.2xlarge", "trn1.32xlarge"]
    first = answer_messages(answer, "id", 1)[0]
    assert first[0]["type"] == "table"
    link = {"type": "link", "url": web_address(URL), "text": "[2]"}
    assert first[0]["rows"][2][1]["elements"][0]["elements"][1] == link
    assert shown_text(first).splitlines()[1] == "trn1.2xlarge | It has 8 vCPUs [1]."


def test_rows_become_a_table_of_properties_by_option() -> None:
    table = "| Type | vCPUs | Memory |\n|---|---|---|\n| trn1.2xlarge | 8 | 32 GiB |\n| trn1.32xlarge | 128 | 512 GiB |\n"
    rows = [cited(number, line) for number, line in enumerate(table.splitlines()[2:], start=1)]
    document = replace(rows[0].passage.chunk.document, text=table)
    chunk = replace(rows[0].passage.chunk, document=document, start=0, end=len(table), text=table)
    rows = [replace(r, passage=replace(r.passage, chunk=chunk), start=(at := table.index(r.quote)), end=at + len(r.quote)) for r in rows]
    said = (Statement("trn1.2xlarge has 32 GiB of memory.", (1,), "row"), Statement("trn1.32xlarge has 512 GiB of memory.", (2,), "row"))
    assert parts_of(replace(answered("- a", *rows), statements=said)) == [
        (("", "trn1.2xlarge", "trn1.32xlarge"), ("Memory (GiB)", "32 [1]", "512 [2]"))
    ]


def test_what_a_language_model_wrote_without_support_is_said_to_be_left_out() -> None:
    answer = replace(answered("It has 128 vCPUs [1].", cited(1)), model="ollama:m", dropped=2)
    assert "2 sentences without support were left out." in words_of(answer_messages(answer, "id", 3))


def test_markdown_tables_become_tables_and_the_second_one_another_message() -> None:
    table = "| Chip | Watts |\n|---|---|\n| **L4** | 72 [1] |\n"
    messages = answer_messages(answered(f"Before.\n\n{table}\nBetween.\n\n{table}\nAfter.", cited(1)), "id", 1)
    assert [[b["type"] for b in m][:4] for m in messages] == [
        ["markdown", "table", "markdown"],
        ["table", "markdown", "rich_text", "actions"],
    ]
    cell = messages[0][1]["rows"][1][1]["elements"][0]["elements"]
    assert cell == [{"type": "text", "text": "72 "}, {"type": "link", "url": web_address(URL), "text": "[1]"}]
    assert messages[0][1]["rows"][1][0]["elements"][0]["elements"] == [
        {"type": "text", "text": "L4", "style": {"bold": True}}
    ]


@pytest.mark.parametrize(("rows", "columns", "width"), [(120, 2, 5), (3, 21, 5), (90, 10, 40)])
def test_a_table_over_slack_s_limits_is_told_in_lines_with_every_cell(rows: int, columns: int, width: int) -> None:
    cells = [[f"r{r}c{c}".ljust(width, "x") for c in range(columns)] for r in range(rows)]
    lines = ["| " + " | ".join(row) + " |" for row in ([f"h{c}" for c in range(columns)], ["---"] * columns, *cells)]
    messages = answer_messages(answered("\n".join(lines), cited(1)), "id", 1)
    assert within_limits(messages)
    shown = words_of(messages)
    assert all(cell in shown for row in cells for cell in row)
    assert "table" not in {block["type"] for message in messages for block in message}


def test_an_answer_of_30_000_characters_is_split_and_nothing_is_cut() -> None:
    sentences = [f"Sentence {number} says that the trn1.32xlarge has 128 vCPUs [1]." for number in range(520)]
    text = "\n\n".join(" ".join(sentences[n : n + 8]) for n in range(0, 520, 8))
    assert len(text) > 30_000
    messages = answer_messages(answered(text, cited(1)), "id", 1)
    assert within_limits(messages)
    shown = words_of(messages)
    assert shown.startswith(" ".join(text.split()))
    assert [block["type"] for block in messages[-1]][-3:] == ["actions", "context", "context_actions"]


def test_a_code_block_that_is_cut_stays_code_in_every_piece() -> None:
    code = "```python\n" + "\n".join(f"line_{n} = {n}" for n in range(400)) + "\n```"
    pieces = split_text(code, 1000)
    assert all(piece.startswith("```python\n") and piece.endswith("```") and len(piece) <= 1000 for piece in pieces)
    inner = [line for piece in pieces for line in piece.splitlines() if not line.startswith("```")]
    assert inner == [f"line_{n} = {n}" for n in range(400)]


@given(st.text(st.sampled_from("ab`|-*[]()1<>@!#&\n .\\"), max_size=700), st.integers(60, 300))
def test_whatever_the_text_it_is_split_within_the_limit_and_complete(text: str, limit: int) -> None:
    pieces = split_text(text, limit)
    assert all(0 < len(piece) <= limit for piece in pieces)
    # Fences are closed and opened again where a block is cut.
    kept = "".join("".join(pieces).split())
    assert "".join(text.split()).replace("```", "") in kept.replace("```", "") or "```" in text


@settings(max_examples=50)
@given(st.text(max_size=3000), st.text(max_size=300), st.text(max_size=500))
def test_whatever_is_answered_fits_slack(text: str, quote: str, notice: str) -> None:
    answer = answered(shown(text), cited(1, quote), notice=notice)
    assert within_limits(answer_messages(answer, "id", 1))
    assert all(within_limits(text_messages(message)) for message in answer_messages(answer, "id", 1))


@pytest.mark.parametrize(
    "text",
    ["<!channel>", "<!here|here>", "<@U123>", "<#C1|general>", "<!subteam^S1>", "&lt;!everyone&gt;", "@channel", "@Here now", "< !channel>"],
)  # fmt: skip
def test_mentions_are_harmless_and_look_the_same(text: str) -> None:
    assert defanged(text) != text
    assert defanged(text).replace("\u2060", "") == text
    assert linked(text, {}) == defanged(text)
    elements = cell_elements(text, {})
    assert {element["type"] for element in elements} == {"text"}


def test_other_text_is_not_touched() -> None:
    text = "a < b, 3 > 2, me@example.com, #1, a@channels, <https://x.io>"
    assert defanged(text) == text


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("is &lt;b&gt; &amp; c?", "is <b> & c?"),
        ("see <https://x.io/a|this page>", "see this page"),
        ("see <https://x.io/a>", "see https://x.io/a"),
        ("in <#C1|general> ask <@U2>", "in #general ask "),
        ("<!here> hi", " hi"),
    ],
)
def test_a_message_is_read_as_it_was_meant(written: str, read: str) -> None:
    assert plain(written) == read


@pytest.mark.parametrize(
    "url",
    [None, "", "javascript:alert(1)", "s3://bucket/a", "file:///etc/passwd", "slack://open", "https://[your-domain]/a"],
)
def test_only_web_addresses_are_linked(url: str | None) -> None:
    assert web_address(url) == ""


def test_what_a_modal_cannot_hold_is_said_in_it() -> None:
    answer = answered("It has 128 vCPUs.", *[cited(number) for number in range(1, 60)])
    view = evidence_view(KeptAnswer("id", "q", "a", "offline", 1, excerpts_of(answer)))
    assert len(view["blocks"]) <= 100
    assert view["blocks"][-1]["text"]["text"].endswith(
        " more passages do not fit here; the answer's sources name them."
    )
    assert len(json.dumps(view)) < 250_000


def test_a_refusal_shows_the_nearest_passages() -> None:
    view = evidence_view(KeptAnswer("id", "q", "a", "offline", 1, excerpts_of(answered("The sources do not say."))))
    assert [block["type"] for block in view["blocks"]] == ["rich_text", "section", "divider"]
    assert view["blocks"][1]["text"]["text"] == TEXT
