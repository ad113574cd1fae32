"""The whole chain as a LangChain runnable: streaming, async, cancellation, callbacks, and use with a memory."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackHandler
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import RunnableGenerator, RunnableLambda, RunnablePassthrough
from langchain_core.runnables.history import RunnableWithMessageHistory
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from prompt_reading import key_of, says

from chatbot import Answer, Cancelled, Chatbot, ReaderError, Turn
from chatbot.llm.scripted import ScriptedChatModel
from chatbot.messages import as_message

QUESTION = "How many Trainium chips are in a trn1.32xlarge?"
MEMORY = "How much memory does a trn1.32xlarge have?"
WORDS = "A trn1.32xlarge has 16 Trainium chips"
COMPARISON = "trn1.2xlarge vs trn1.32xlarge: accelerator memory and chips?"


class Writing:
    """A model's streamed reply: the sentence first, the rest only once `may_go_on` is set."""

    def __init__(self, sentence: str) -> None:
        self.sentence, self.may_go_on, self.ended = sentence, threading.Event(), threading.Event()

    def __iter__(self) -> Iterator[str]:
        try:
            yield f"{self.sentence} More "
            assert self.may_go_on.wait(20)
            yield "is not known."
        finally:
            self.ended.set()


class Endless(Writing):
    """A model's reply that practically never ends by itself."""

    def __iter__(self) -> Iterator[str]:
        try:
            yield f"{self.sentence} More "
            for _ in range(20_000):
                time.sleep(0.005)
                yield "…"
        finally:
            self.ended.set()


def writing(bot: Chatbot, kind: Callable[[str], Writing]) -> tuple[Chatbot, list[Writing]]:
    """A chatbot whose model writes a verifiable sentence and then continues as the given kind of reply."""
    replies: list[Writing] = []

    def reply(messages: Sequence[BaseMessage]) -> Writing:
        replies.append(kind(f"{WORDS} [{key_of(messages, WORDS)}]."))
        return replies[-1]

    return Chatbot(bot.index, ScriptedChatModel(script=reply)), replies


def texts(answer: Answer) -> list[str]:
    return answer.text.splitlines(keepends=True)


async def test_an_awaited_stream_gives_a_sentence_while_the_model_still_writes(bot: Chatbot) -> None:
    slow, replies = writing(bot, Writing)
    pieces: list[Any] = []
    async for piece in slow.as_runnable().astream(QUESTION):
        pieces.append(piece)
        replies[0].may_go_on.set()
    assert pieces[:-1] == [f"{WORDS} [1]."]
    assert (pieces[-1].text, pieces[-1].notice) == (f"{WORDS} [1].", "")


async def test_the_loop_goes_on_while_an_answer_is_awaited(bot: Chatbot) -> None:
    slow, replies = writing(bot, Writing)
    answer = asyncio.create_task(slow.as_runnable().ainvoke(QUESTION))
    while not replies:
        await asyncio.sleep(0.01)
    replies[0].may_go_on.set()
    assert (await answer).text == f"{WORDS} [1]."


async def test_awaited_and_plain_calls_give_the_same(bot: Chatbot) -> None:
    chain = bot.as_runnable()
    answer = chain.invoke(COMPARISON)
    awaited = await chain.ainvoke(COMPARISON)
    assert (awaited.text, awaited.citations) == (answer.text, answer.citations)
    *pieces, last = [piece async for piece in chain.astream(COMPARISON)]
    assert (pieces, last.text) == (texts(answer), answer.text)
    assert [str(piece) for piece in chain.stream(COMPARISON)][:-1] == texts(answer)


async def test_a_batch_is_answered_in_order_and_an_error_stays_where_it_belongs(bot: Chatbot) -> None:
    answers: list[Any] = await bot.as_runnable().abatch([QUESTION, "", {"input": MEMORY}], return_exceptions=True)
    assert [getattr(answer, "question", type(answer)) for answer in answers] == [QUESTION, ReaderError, MEMORY]


async def test_a_cancelled_stream_ends_its_answer(bot: Chatbot) -> None:
    endless, replies = writing(bot, Endless)

    async def read() -> None:
        async for _ in endless.as_runnable().astream(QUESTION):
            shown.set()

    shown = asyncio.Event()
    reading = asyncio.create_task(read())
    await asyncio.wait_for(shown.wait(), 20)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert await asyncio.to_thread(replies[0].ended.wait, 30)


async def test_a_cancelled_answer_ends(bot: Chatbot) -> None:
    endless, replies = writing(bot, Endless)
    answering = asyncio.create_task(endless.as_runnable().ainvoke(QUESTION))
    while not replies:
        await asyncio.sleep(0.01)
    answering.cancel()
    with pytest.raises(asyncio.CancelledError):
        await answering
    assert await asyncio.to_thread(replies[0].ended.wait, 30)


async def test_a_stream_that_is_left_ends_its_answer(bot: Chatbot) -> None:
    endless, replies = writing(bot, Endless)
    pieces = endless.as_runnable().astream(QUESTION)
    assert str(await anext(pieces)) == f"{WORDS} [1]."
    await pieces.aclose()  # type: ignore[attr-defined]
    assert await asyncio.to_thread(replies[0].ended.wait, 30)


async def test_an_awaited_answer_ends_where_its_asker_says_so(bot: Chatbot) -> None:
    with pytest.raises(Cancelled):
        await bot.as_runnable(cancelled=lambda: True).ainvoke(QUESTION)


async def test_the_events_of_an_answer_are_those_of_one_run(bot: Chatbot) -> None:
    answer = bot.ask(COMPARISON)
    events = [event async for event in bot.as_runnable().astream_events(COMPARISON, version="v2")]
    given = [(event["event"], event["name"], event["data"].get("chunk")) for event in events]
    assert given[0] == ("on_chain_start", "AnswerChain", None)
    assert given[1:-2] == [("on_chain_stream", "AnswerChain", line) for line in texts(answer)]
    assert given[-1] == ("on_chain_end", "AnswerChain", None)
    assert events[-1]["data"]["output"].text == answer.text


class Runs(BaseCallbackHandler):
    """Records the runs that begin, each with whether it has a parent, and the outputs of chains that end."""

    def __init__(self) -> None:
        self.started: list[tuple[str, bool]] = []
        self.ended: list[object] = []

    def on_chain_start(self, serialized: object, inputs: object, **kwargs: Any) -> None:
        self.started.append((kwargs["name"], kwargs["parent_run_id"] is not None))

    def on_chat_model_start(self, serialized: object, messages: object, **kwargs: Any) -> None:
        self.started.append(("model", kwargs["parent_run_id"] is not None))

    def on_chain_end(self, outputs: object, **kwargs: Any) -> None:
        self.ended.append(outputs)


class AsyncRuns(AsyncCallbackHandler):
    """Records the names of the runs that begin, for async programs."""

    def __init__(self) -> None:
        self.started: list[str] = []

    async def on_chain_start(self, serialized: object, inputs: object, **kwargs: Any) -> None:
        self.started.append(kwargs["name"])

    async def on_chat_model_start(self, serialized: object, messages: object, **kwargs: Any) -> None:
        self.started.append("model")


async def test_callbacks_of_awaited_calls_see_what_those_of_plain_calls_see(bot: Chatbot) -> None:
    chain = Chatbot(bot.index, ScriptedChatModel(script=says(f"{WORDS} {{{WORDS}}}."))).as_runnable()
    plain, awaited, streamed, awaiting = Runs(), Runs(), Runs(), AsyncRuns()
    answer = chain.invoke(QUESTION, {"callbacks": [plain]})
    await chain.ainvoke(QUESTION, {"callbacks": [awaited, awaiting]})
    _ = [piece async for piece in chain.astream(QUESTION, {"callbacks": [streamed]})]
    assert plain.started[0] == ("AnswerChain", False)
    assert plain.ended[-1] == answer
    assert awaited.started == streamed.started == plain.started
    assert awaiting.started == [name for name, _ in plain.started]


def test_a_question_that_comes_in_pieces_is_asked_whole(bot: Chatbot) -> None:
    def words(_: Iterator[str]) -> Iterator[str]:
        yield from ("How many Trainium chips ", "are in a trn1.32xlarge?")

    *_, last = (RunnableGenerator(words) | bot.as_runnable()).stream("")
    assert last.question == QUESTION
    *_, last = (RunnablePassthrough.assign(history=lambda _: [Turn("Trn1?", "")]) | bot.as_runnable()).stream(
        {"question": QUESTION}
    )
    assert last.question == QUESTION


def test_an_output_that_does_not_exist_is_refused_with_those_that_do(bot: Chatbot) -> None:
    with pytest.raises(ReaderError, match="The output 'text' does not exist: it is 'answer' or 'message'"):
        bot.as_runnable(output="text")  # type: ignore[call-overload]


def test_the_chain_can_be_drawn(bot: Chatbot) -> None:
    chain = ChatPromptTemplate([("human", "{question}")]) | bot.as_runnable(output="message") | StrOutputParser()
    names = [node.name for node in chain.get_graph().nodes.values()]
    assert names == ["PromptInput", "ChatPromptTemplate", "AnswerChain", "StrOutputParser", "StrOutputParserOutput"]


async def test_a_parser_of_model_output_can_follow_the_messages_of_the_chain(bot: Chatbot) -> None:
    answer = bot.ask(COMPARISON)
    chain = bot.as_runnable(output="message") | StrOutputParser()
    assert chain.invoke(COMPARISON) == answer.text
    assert await chain.ainvoke(COMPARISON) == answer.text
    assert [piece for piece in chain.stream(COMPARISON) if piece] == texts(answer)
    assert [piece async for piece in chain.astream(COMPARISON) if piece] == texts(answer)


async def test_the_messages_of_the_chain_are_those_of_the_answer(bot: Chatbot) -> None:
    chain = bot.as_runnable(output="message")
    expected = as_message(bot.ask(COMPARISON)).content
    assert chain.invoke(COMPARISON).content == expected
    assert (await chain.ainvoke(COMPARISON)).content == expected


def test_a_prompt_with_a_history_can_come_before_the_chain(bot: Chatbot) -> None:
    prompt = ChatPromptTemplate([("system", "Answer in French."), MessagesPlaceholder("history"), ("human", "{asked}")])
    history = [HumanMessage(MEMORY), as_message(bot.ask(MEMORY))]
    answer = (prompt | bot.as_runnable()).invoke({"history": history, "asked": "and the smaller one?"})
    assert answer.text == bot.ask("and the smaller one?", [Turn(MEMORY, bot.ask(MEMORY).text)]).text
    assert "trn1.2xlarge" in answer.text


# Deprecated in favour of LangGraph's persistence, but still used by many programs.
@pytest.mark.filterwarnings("ignore::langchain_core._api.deprecation.LangChainDeprecationWarning")
def test_a_message_history_carries_the_conversation(bot: Chatbot) -> None:
    sessions: dict[str, InMemoryChatMessageHistory] = {}

    def history(session_id: str) -> InMemoryChatMessageHistory:
        return sessions.setdefault(session_id, InMemoryChatMessageHistory())

    chat = RunnableWithMessageHistory(
        bot.as_runnable(output="message"), history, input_messages_key="question", history_messages_key="history"
    )
    here: Any = {"configurable": {"session_id": "1"}}
    chat.invoke({"question": MEMORY}, here)
    assert "trn1.2xlarge" in chat.invoke({"question": "and the smaller one?"}, here).text
    assert "".join(piece.text for piece in chat.stream({"question": "and the larger one?"}, here))
    said = sessions["1"].messages
    assert [isinstance(message, AIMessage) for message in said] == [False, True] * 3
    assert said[0].text == MEMORY


def conversation(chain: Any) -> Any:
    """A LangGraph graph with one node that answers with the chain and a checkpointer that remembers threads."""

    def answer(state: MessagesState) -> dict[str, object]:
        return {"messages": [chain.invoke(state)]}

    async def aanswer(state: MessagesState) -> dict[str, object]:
        return {"messages": [await chain.ainvoke(state)]}

    graph = StateGraph(MessagesState).add_node("answer", RunnableLambda(answer, aanswer)).add_edge(START, "answer")
    return graph.compile(checkpointer=InMemorySaver())


async def test_a_graph_that_remembers_its_thread_carries_the_conversation(bot: Chatbot) -> None:
    graph = conversation(bot.as_runnable(output="message"))
    thread = {"configurable": {"thread_id": "1"}}
    graph.invoke({"messages": [("human", MEMORY)]}, thread)
    state = await graph.ainvoke({"messages": [("human", "and the smaller one?")]}, thread)
    assert [message.type for message in state["messages"]] == ["human", "ai", "human", "ai"]
    assert "trn1.2xlarge" in state["messages"][-1].text
    assert state["messages"][-1].content_blocks[0]["annotations"]


async def test_a_graph_that_streams_messages_shows_nothing_that_is_not_verified(bot: Chatbot) -> None:
    model = ScriptedChatModel(script=says(f"{WORDS} {{{WORDS}}}. It is the best of all [1]."))
    graph = conversation(Chatbot(bot.index, model).as_runnable(output="message"))
    thread = {"configurable": {"thread_id": "1"}}
    asked = {"messages": [("human", QUESTION)]}
    streamed = [message.text async for message, _ in graph.astream(asked, thread, stream_mode="messages")]
    assert streamed == [f"{WORDS} [1]."]
