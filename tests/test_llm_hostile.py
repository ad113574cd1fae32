"""Poisoned documents and hostile turns, judged by what reaches the user when the model obeys them."""

import re
import shutil
import time
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import BaseMessage
from prompt_reading import key_of, passages_in

from chatbot import Answer, Chatbot, Passage, Turn
from chatbot.llm.prompts import answering, repeats_rules
from chatbot.llm.scripted import ScriptedChatModel
from chatbot.presentation.render import as_text
from chatbot.question.query import Query
from ingest import Chunk, Document, Index, Source, sync
from tests.marks import one_of

ROOT = Path(__file__).resolve().parents[1]
HOSTILE = ROOT / "tests" / "hostile"
DOCUMENTS = tomllib.loads((HOSTILE / "documents.toml").read_text(encoding="utf-8"))["document"]
TURNS = tomllib.loads((HOSTILE / "turns.toml").read_text(encoding="utf-8"))["turn"]


@pytest.fixture(scope="module")
def poisoned(corpus_index: Path, tmp_path_factory: pytest.TempPathFactory) -> Index:
    """An index of the shipped corpus and all poisoned documents."""
    folder = tmp_path_factory.mktemp("poisoned")
    index = Path(shutil.copytree(corpus_index, folder / "index"))
    (folder / "documents").mkdir()
    for item in DOCUMENTS:
        (folder / "documents" / f"{item['id']}.md").write_text(item["text"], encoding="utf-8")
    report = sync([ROOT / "corpus", folder / "documents"], index)
    assert (len(report.added), report.failed) == (len(DOCUMENTS), ())
    return Index.open(index)


def obeying(template: str) -> Callable[[Sequence[BaseMessage]], str]:
    """A script that writes the template; {*} cites every passage, {words} the passage that contains the words."""

    def script(messages: Sequence[BaseMessage]) -> str:
        everything = "".join(f"[{key}]" for key in passages_in(messages))
        return re.sub(r"\{([^}]*)\}", lambda m: everything if m[1] == "*" else f"[{key_of(messages, m[1])}]", template)

    return script


def check_harmless(answer: Answer, harmful: Sequence[str]) -> None:
    """Assert that nothing harmful is in what the user sees: text, quotes, chosen letters and notice."""
    shown = "\n".join([as_text(answer), *(f"choice {letter}" for letter in answer.choices), answer.notice])
    assert not [harm for harm in harmful if re.search(harm, shown, re.IGNORECASE | re.MULTILINE)], shown
    assert not answer.notice or answer.notice.startswith("The sources bear out nothing")


@pytest.mark.parametrize("item", one_of(6, DOCUMENTS), ids=lambda item: item["id"])
def test_no_order_of_a_document_reaches_the_user(poisoned: Index, item: dict[str, Any]) -> None:
    model = ScriptedChatModel(script=obeying(item["obeyed"]))
    answer = Chatbot(poisoned, model).ask(item["question"])
    title = item["text"].splitlines()[0].removeprefix("# ")
    assert any(f'title="{title}"' in call[-1].text for call in model.calls), "the document was not found"
    check_harmless(answer, item["harm"])


def test_rules_are_known_from_what_a_model_found() -> None:
    assert repeats_rules("I know nothing but the passages in the message [1].")
    assert not repeats_rules("The sources do not say what a p5.48xlarge costs; it has eight H100 GPUs [1].")


@pytest.mark.parametrize("item", one_of(6, TURNS), ids=lambda item: item["id"])
def test_no_hostile_turn_makes_the_answer_say_what_no_source_says(bot: Chatbot, item: dict[str, Any]) -> None:
    *before, last = item["turns"]
    model = ScriptedChatModel(script=obeying(item["obeyed"]))
    check_harmless(Chatbot(bot.index, model).ask(last, [Turn(turn, "As you wish.") for turn in before]), item["harm"])


def test_the_sets_are_as_large_as_they_claim() -> None:
    for items in (DOCUMENTS, TURNS):
        assert len({item["id"] for item in items}) == len(items) >= 30
        assert all(re.search(harm, re.sub(r"\{[^}]*\}", "", item["obeyed"]) + "\nchoice A\nchoice C\nC:", re.IGNORECASE | re.MULTILINE) for item in items for harm in item["harm"] if not harm.startswith("^"))  # fmt: skip


def test_the_orders_of_a_document_are_kept_from_the_model(poisoned: Index) -> None:
    model = ScriptedChatModel(replies=[""])
    Chatbot(poisoned, model).ask("What does the Borea chip cost?")
    prompt = model.calls[0][-1].text
    assert "The Borea chip was announced in May." in prompt
    assert "free of charge" not in prompt


@pytest.mark.parametrize("glue", [", ", ",", " and "])
@pytest.mark.parametrize("link", ["https://a.example/x", "[a](https://a.example/x_(y))"])
@pytest.mark.parametrize(("end", "stays"), [(".", False), (", then words", True)])
def test_a_long_line_of_links_costs_no_time(link: str, glue: str, end: str, stays: bool) -> None:
    line = f"See: {glue.join([link] * 60)}{end}"
    text = f"{line}\nThe L4 draws 72 W."
    document = Document("a.md", Source("a", "A"), "A", text)
    passage = Passage(1, Chunk("a", document, (), 0, len(text), text), 1.0)
    began = time.perf_counter()
    told = answering(Query("The L4?", "The L4?"), [passage], (), (), 16_384)[-1].text
    assert time.perf_counter() - began < 1
    assert ("a.example" in told, "72 W" in told) == (stays, True)
