"""Questions read from LangChain messages, and answers converted to them."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, SystemMessage, ToolMessage
from langchain_core.prompt_values import StringPromptValue
from langchain_core.prompts import ChatPromptTemplate

from chatbot import Answer, Chatbot, ReaderError, Turn, Usage
from chatbot.messages import as_end, as_message, as_piece, asked
from chatbot.presentation.render import as_json
from chatbot.verification.citations import bare

TURN = Turn("What is Trn1?", "An instance [1].")
SAID = [HumanMessage(TURN.question), AIMessage(TURN.answer)]
ASKED = ("And Inf2?", [TURN])
QUESTIONS = (
    "Which hardware for pre-training a 70B model on AWS?",
    "trn1.2xlarge vs trn1.32xlarge: accelerator memory and chips?",
    "will a 34B model in bf16 fit on one L40S?",
)


@pytest.mark.parametrize(
    "given",
    [
        [*SAID, HumanMessage("And Inf2?")],
        [SystemMessage("Only ever praise Inf2."), *SAID, HumanMessage("And Inf2?")],
        ChatPromptTemplate([("system", "Be brief."), *SAID, ("human", "And {name}?")]).invoke({"name": "Inf2"}),
        [{"role": "user", "content": TURN.question}, ("ai", TURN.answer), "And Inf2?"],
        {"messages": [*SAID, HumanMessage("And Inf2?")]},
        {"question": "And Inf2?", "history": [TURN]},
        {"question": "And Inf2?", "history": ((TURN.question, TURN.answer),)},
        {"question": "And Inf2?", "history": SAID},
        {"question": "And Inf2?", "history": [("human", TURN.question), ("ai", TURN.answer)]},
        {"input": "And Inf2?", "chat_history": SAID},
        {"input": HumanMessage("And Inf2?"), "chat_history": ChatPromptTemplate(SAID).invoke({})},
        {"input": [HumanMessage([{"type": "text", "text": "And Inf2?"}])], "chat_history": [TURN]},
        {"question": [*SAID, HumanMessage("And Inf2?")], "history": None},
    ],
)
def test_the_last_human_message_is_the_question_and_those_before_it_are_the_history(given: Any) -> None:
    assert asked(given) == ASKED


@pytest.mark.parametrize(
    "given",
    [
        "What is Trn1?",
        HumanMessage("What is Trn1?"),
        StringPromptValue(text="What is Trn1?"),
        [AIMessage("Hello. What would you like to know?"), HumanMessage("What is Trn1?")],
        [HumanMessage("What is Trn1?"), AIMessage("Let me look."), ToolMessage("Trn1 …", tool_call_id="1")],
        {"question": "What is Trn1?", "history": ()},
    ],
)
def test_a_question_without_an_exchange_before_it_has_no_history(given: Any) -> None:
    assert asked(given) == ("What is Trn1?", [])


def test_of_what_an_agent_said_to_a_question_the_last_text_counts() -> None:
    call = AIMessage("Let me look.", tool_calls=[{"name": "search", "args": {}, "id": "1"}])
    found = ToolMessage("Trn1 …", tool_call_id="1")
    before = [HumanMessage(TURN.question), call, found, AIMessage(TURN.answer), AIMessage("")]
    assert asked([*before, HumanMessage("And Inf2?")]) == ASKED


def test_a_question_that_was_never_answered_is_remembered_as_one() -> None:
    assert asked([HumanMessage("Trn1?"), HumanMessage("And Inf2?")]) == ("And Inf2?", [Turn("Trn1?", "")])


REMEDY = 'Give a text, messages of which one is human, or {"question": …, "history": […]}.'


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ([], f"The messages ask nothing. {REMEDY}"),
        ([SystemMessage("Be brief."), AIMessage("Hello.")], f"The messages ask nothing. {REMEDY}"),
        ({"query": "Trn1?"}, f"The input of the chain cannot be read (NoneType). {REMEDY}"),
        ({"question": 5}, f"The input of the chain cannot be read (int). {REMEDY}"),
        ({"question": "Trn1?", "history": "Human: Hello"}, f"The input of the chain cannot be read (str). {REMEDY}"),
        ({"question": "Trn1?", "history": [("a", "b", "c")]}, f"The messages cannot be read. {REMEDY}"),
        ([5], f"The messages cannot be read. {REMEDY}"),
        ([("nobody", "Trn1?")], f"The messages cannot be read. {REMEDY}"),
        ([{"content": "Trn1?"}], f"The messages cannot be read. {REMEDY}"),
    ],
)
def test_what_asks_nothing_is_refused_with_what_to_give(given: Any, sentence: str) -> None:
    with pytest.raises(ReaderError) as caught:
        asked(given)
    assert str(caught.value) == sentence


def annotations(message: AIMessage) -> list[dict[str, Any]]:
    (block,) = message.content_blocks
    return block["annotations"]  # type: ignore[typeddict-item,return-value]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_message_carries_each_citation_with_its_quote_and_the_place_of_its_claim(bot: Chatbot, question: str) -> None:
    answer = bot.ask(question)
    message = as_message(answer)
    assert message.text == answer.text
    assert [note["extras"] for note in annotations(message)] == as_json(answer)["citations"]
    for note, citation in zip(annotations(message), answer.citations, strict=True):
        source = citation.passage.chunk.document.source
        assert (note["type"], note["title"], note.get("url")) == ("citation", source.title, source.url)
        assert note["cited_text"] == citation.quote
        said = bare(message.text[note["start_index"] : note["end_index"]])
        assert said == citation.claim.strip(" .:;")


def test_a_message_tells_who_answered_and_how(bot: Chatbot) -> None:
    answer = Answer(
        "Trn1?", "The sources do not say.", (), (), True, (), "offline", 0.03, notice="Ollama is not running."
    )
    assert as_message(answer) == AIMessage(
        content=[{"type": "text", "text": "The sources do not say.", "annotations": []}],
        response_metadata={
            "output_version": "v1", "model_name": "offline", "refused": True, "choices": [], "seconds": 0.03,
            "footprint": None, "cost": None, "dropped": 0, "notice": "Ollama is not running.",
        },
    )  # fmt: skip


def test_the_tokens_of_an_answer_are_the_usage_of_its_message() -> None:
    answer = Answer("Trn1?", "Yes.", (), (), True, (), "openai:gpt", 0.1, usage=Usage(30, 4))
    assert as_message(answer).usage_metadata == {"input_tokens": 30, "output_tokens": 4, "total_tokens": 34}


def test_the_pieces_of_a_message_add_up_to_it(bot: Chatbot) -> None:
    *pieces, last = bot.stream(QUESTIONS[1])
    assert last.answer
    added: Any = as_piece("")
    for piece in [*(as_piece(event.text) for event in pieces if event.kind == "text"), as_end(last.answer)]:
        added += piece
    whole = as_message(last.answer)
    assert isinstance(added, AIMessageChunk)
    assert (added.text, annotations(added)) == (whole.text, annotations(whole))
    assert (added.response_metadata, added.chunk_position) == (whole.response_metadata, "last")
