"""A language model may decide what the local judge is unsure of: one call per answer, and a failure changes nothing."""

import json
from dataclasses import dataclass, field

import pytest
from langchain_core.messages import BaseMessage
from prompt_reading import says

from chatbot import Answer, Chatbot, ReaderError
from chatbot.llm.models import ModelSettings
from chatbot.llm.reader import verdicts
from chatbot.llm.scripted import ScriptedChatModel
from chatbot.verification.citations import SecondOpinion

QUESTION = "How many Trainium chips are in a trn1.32xlarge?"
WORDS = "A trn1.32xlarge has 16 Trainium chips"
SURE = f"{WORDS} {{{WORDS}}}."
PAIRS = [("one", "evidence"), ("two", "evidence"), ("three", "evidence")]
# Claims between true and false; any judge is unsure of some of them.
DOUBTFUL = "".join(
    f" {claim} {{{WORDS}}}."
    for claim in (
        "The sixteen chips of a trn1.32xlarge are of the first generation",
        "All of a trn1.32xlarge is built around Trainium",
        "A trn1.32xlarge is the Trainium instance for large jobs",
        "Trainium chips come in sixteens on a trn1.32xlarge",
        "A trn1.32xlarge is made for training and has 16 chips for it",
        "A trn1.32xlarge may be the largest with Trainium",
    )
)


@dataclass
class Writer:
    """Writes the same answer each time and gives the same verdict on every claim."""

    verdict: object
    judged: list[str] = field(default_factory=list)

    def __call__(self, messages: list[BaseMessage]) -> str:
        if "You check claims" not in messages[0].text:
            return says(SURE + DOUBTFUL)(messages)
        self.judged.append(messages[-1].text)
        if isinstance(self.verdict, Exception):
            raise self.verdict
        return json.dumps({str(n): self.verdict for n in range(1, 30)})


def asked(bot: Chatbot, writer: Writer, judge: str = "model") -> Answer:
    return Chatbot(bot.index, ScriptedChatModel(script=writer), ModelSettings(judge=judge)).ask(QUESTION)


def test_the_model_decides_what_the_judge_is_unsure_of_in_one_call(bot: Chatbot) -> None:
    kind, strict = Writer(True), Writer(False)
    all_kept, none_kept = asked(bot, kind), asked(bot, strict)
    assert len(kind.judged) == len(strict.judged) == 1
    unsure = kind.judged[0].count("<pair>")
    assert 1 <= unsure <= 6
    assert none_kept.dropped - all_kept.dropped == unsure
    assert all_kept.text.startswith(f"{WORDS} [1].")
    assert none_kept.text.startswith(f"{WORDS} [1].")


@pytest.mark.parametrize("verdict", [ValueError("x"), "perhaps", None])
def test_where_it_says_nothing_useful_the_judge_has_the_last_word(bot: Chatbot, verdict: object) -> None:
    alone = asked(bot, Writer(True), judge="")
    assert asked(bot, Writer(verdict)).text == alone.text


def test_a_judge_of_its_own_is_opened_once_for_all_answers(bot: Chatbot, monkeypatch: pytest.MonkeyPatch) -> None:
    judge, opened = Writer(True), list[str]()

    def open_model(name: str, **_: object) -> ScriptedChatModel:
        opened.append(name)
        return ScriptedChatModel(script=judge)

    monkeypatch.setattr("langchain.chat_models.init_chat_model", open_model)
    reader = Chatbot(bot.index, ScriptedChatModel(script=Writer(False)), ModelSettings(judge="ollama:judge"))
    assert reader.ask(QUESTION).text == reader.ask(QUESTION).text
    assert (opened, len(judge.judged)) == (["judge"], 2)


def test_an_unknown_judge_is_named_before_anything_is_asked(bot: Chatbot) -> None:
    with pytest.raises(ReaderError, match="No reader for the model 'nobody'"):
        Chatbot(bot.index, ScriptedChatModel(replies=["x"]), ModelSettings(judge="nobody"))


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ('{"1": true, "2": false, "3": "maybe"}', {PAIRS[0]: True, PAIRS[1]: False}),
        ('Here you are:\n```json\n{"2": true}\n```', {PAIRS[1]: True}),
        ('{"9": true, "0": false}', {}),
        ("[true, false]", {}),
        ('{"1": true', {}),
        ("", {}),
    ],
)
def test_verdicts_are_read_out_of_whatever_a_model_writes(written: str, expected: dict[tuple[str, str], bool]) -> None:
    assert verdicts(written, PAIRS) == expected


def test_only_what_is_unsure_is_asked_about() -> None:
    opinion = SecondOpinion(given={("c", "e"): True})
    assert [opinion.of("c", "e", p) for p in (0.1, 0.5, 0.9)] == [0.1, 1.0, 0.9]
    assert opinion.of("d", "e", 0.5) == 0.5
    assert opinion.unsure == [("d", "e")]
