"""A language model with tools: its calls are run, limited in number, and their results verified like passages."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from servers.model_api import (
    Reply,
    converse_calls,
    converse_stream,
    ollama_calls,
    ollama_chat,
    ollama_error,
    openai_calls,
    openai_chat,
    openai_error,
    serving,
)

from chatbot import Answer, Chatbot
from chatbot.llm.models import ModelSettings
from chatbot.llm.scripted import ScriptedChatModel
from chatbot.tools import TOOLS

QUESTION = "Our simulation needs a lot of cores. What do you have?"
CALL = {"name": "find_instances", "args": {"names": ["m6i.8xlarge"]}}
TEXT = "An m6i.8xlarge has 32 vCPUs."


def asked(bot: Chatbot, *replies: Any, question: str = QUESTION, **settings: Any) -> tuple[Answer, ScriptedChatModel]:
    model = ScriptedChatModel(replies=replies, takes_tools=True)
    return Chatbot(bot.index, model, ModelSettings(**settings)).ask(question), model


def results(messages: Sequence[BaseMessage]) -> list[ToolMessage]:
    return [message for message in messages if isinstance(message, ToolMessage)]


def test_what_a_tool_gives_back_can_be_said_and_is_cited(bot: Chatbot) -> None:
    answer, model = asked(bot, ["I will look that up. ", CALL], TEXT)
    assert (answer.text, answer.dropped, answer.model) == ("An m6i.8xlarge has 32 vCPUs [1].", 0, "scripted")
    assert "m6i.8xlarge" in answer.citations[0].quote
    (told,) = results(model.calls[1])
    assert (told.name, told.status, json.loads(told.text)["total"]) == ("find_instances", "success", 1)


def test_what_no_tool_gave_back_is_not_said(bot: Chatbot) -> None:
    answer, _ = asked(bot, [CALL], "An m6i.8xlarge has 32 vCPUs. An m6i.8xlarge has 64 vCPUs.")
    assert (answer.text, answer.dropped) == ("An m6i.8xlarge has 32 vCPUs [1].", 1)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ({"name": "delete_everything", "args": {}}, "There is no tool 'delete_everything': there are search_sources, "),
        ({"name": "find_instances", "args": {"names": ["m6i.9xlarge"]}}, "There is no instance type 'm6i.9xlarge' in the data"),
        ({"name": "search_sources", "args": {}}, "search_sources needs query: "),
    ],
)
def test_a_wrong_call_is_answered_with_the_remedy_and_the_model_goes_on(bot: Chatbot, call: dict[str, Any], told: str) -> None:
    answer, model = asked(bot, [call], [CALL], TEXT)
    (first,) = results(model.calls[1])
    assert (first.status, first.text[: len(told)]) == ("error", told)
    assert answer.text == "An m6i.8xlarge has 32 vCPUs [1]."


def test_calls_are_bounded_in_number_and_the_last_results_ask_for_the_answer(bot: Chatbot) -> None:
    model = ScriptedChatModel(script=lambda messages: TEXT if "answer now" in messages[-1].text else [CALL], takes_tools=True)
    answer = Chatbot(bot.index, model, ModelSettings(tools=2)).ask(QUESTION)
    assert (answer.text, len(model.calls)) == ("An m6i.8xlarge has 32 vCPUs [1].", 3)
    assert ["answer now" in told.text for told in results(model.calls[2])] == [False, True]
    _, model = asked(bot, [CALL] * 6, TEXT)
    assert [message.status for message in results(model.calls[1])] == ["success"] * 4 + ["error"] * 2


def test_a_model_that_only_calls_is_asked_once_more_with_what_its_calls_found(bot: Chatbot) -> None:
    answer, model = asked(bot, [CALL], tools=2)
    assert answer.notice.startswith("The sources bear out nothing that scripted wrote")
    assert len(model.calls) == 3 + 1
    assert "m6i.8xlarge" in model.calls[3][-1].text.partition("<rows>")[2].partition("</rows>")[0]


@pytest.mark.parametrize("failed", ["It is a fine machine.", TimeoutError(), "The sources do not say."])
def test_what_tools_found_can_be_cited_in_a_second_attempt(bot: Chatbot, failed: Any) -> None:
    answer, model = asked(bot, [CALL], failed, TEXT)
    assert (answer.text, answer.model, len(model.calls)) == ("An m6i.8xlarge has 32 vCPUs [1].", "scripted", 3)
    assert "m6i.8xlarge" in answer.citations[0].quote


def test_a_scripted_model_calls_its_tools_in_one_piece_too() -> None:
    call = {"name": "search", "args": {"query": "Trn1"}}
    message = ScriptedChatModel(replies=[["Let me see. ", call]], takes_tools=True).invoke("Which?")
    assert isinstance(message, AIMessage)
    assert message.text == "Let me see. "
    assert [(made["name"], made["args"]) for made in message.tool_calls] == [("search", {"query": "Trn1"})]


def test_without_tools_the_rows_that_are_asked_for_are_in_the_prompt(bot: Chatbot) -> None:
    model = ScriptedChatModel(replies=[TEXT])
    answer = Chatbot(bot.index, model, ModelSettings(tools=0)).ask("How many vCPUs does an m6i.8xlarge have, and is that a lot?")
    assert "m6i.8xlarge" in model.calls[0][-1].text.partition("<rows>")[2].partition("</rows>")[0]
    assert (answer.text.startswith("An m6i.8xlarge has 32 vCPUs [1]"), answer.model) == (True, "scripted")


def test_exam_questions_are_answered_without_tools(bot: Chatbot) -> None:
    _, model = asked(bot, "The sources do not say.", question="Which chip trains models?\nA. Trainium\nB. Inferentia")
    assert all(not results(call) for call in model.calls)


@pytest.mark.parametrize(
    ("model", "path", "calls", "says"),
    [
        ("openai:m", "/v1", openai_calls, openai_chat),
        ("ollama:m", "", ollama_calls, ollama_chat),
        ("bedrock_converse:anthropic.claude-3-5-sonnet-20241022-v2:0", "", converse_calls, converse_stream),
    ],
)
def test_tools_are_called_over_the_real_wire(
    bot: Chatbot, model: str, path: str, calls: Callable[[str, Any], Reply], says: Callable[[str], Reply], clean_environment: None
) -> None:
    with serving(calls(CALL["name"], CALL["args"]), says(TEXT)) as server:
        answer = Chatbot(bot.index, model, ModelSettings(base_url=f"{server.url}{path}", region="us-east-1")).ask(QUESTION)
        first, second = (json.dumps(request.body) for request in server.requests)
    assert (answer.text, answer.notice) == ("An m6i.8xlarge has 32 vCPUs [1].", "")
    assert all(tool.name in first for tool in TOOLS)
    assert "m6i.8xlarge" in second.partition("find_instances")[2]


@pytest.mark.parametrize(
    ("model", "path", "refusal", "says"),
    [
        ("openai:m", "/v1", openai_error(400, "BadRequestError", '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'), openai_chat),
        ("ollama:m", "", ollama_error("registry.ollama.ai/library/gemma:2b does not support tools", 400), ollama_chat),
    ],
)
def test_a_model_that_knows_no_tools_is_asked_without_them_from_then_on(
    bot: Chatbot, model: str, path: str, refusal: Reply, says: Callable[[str], Reply]
) -> None:
    words = "A trn1.32xlarge has 16 Trainium chips."
    with serving(refusal, says(words), says(words)) as server:
        chat = Chatbot(bot.index, model, ModelSettings(base_url=f"{server.url}{path}"))
        answers = [chat.ask("How many Trainium chips are in a trn1.32xlarge?") for _ in range(2)]
        offered = [bool(request.body.get("tools")) for request in server.requests]
    assert [(a.text, a.notice) for a in answers] == [("A trn1.32xlarge has 16 Trainium chips [1].", "")] * 2
    assert offered == [True, False, False]
