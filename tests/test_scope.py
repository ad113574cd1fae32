"""Small talk, which needs no sources, and questions outside the scope of all sources."""

import pytest

from chatbot import Chatbot, Turn
from chatbot.answer import REFUSAL
from chatbot.reader.scope import SCOPE, has_nothing_near, is_for_sources, small_talk


@pytest.mark.parametrize("said", ["test", "ping", "hello", "Hi there!", "hey 👋", "👋", "Good morning, team", "what's up?", "hola"])
def test_a_greeting_is_returned_with_what_can_be_asked(bot: Chatbot, said: str) -> None:
    assert small_talk(said, bot.index).startswith(f"Hello! {SCOPE}")


@pytest.mark.parametrize(
    "said", ["thanks!", "ok, thank you so much", "Thanks for your help", "cool, thx", "👍", "that was helpful", "merci"]
)
def test_thanks_are_taken(bot: Chatbot, said: str) -> None:
    assert small_talk(said, bot.index) == "You are welcome. Ask on whenever you like."


@pytest.mark.parametrize(
    "said",
    [
        "what can you do?",
        "Who are you?",
        "help",
        "How does this work?",
        "what is wattwise",
        "What can I ask you about?",
        "hi, can you help me?",
    ],
)
def test_whoever_asks_what_it_can_do_is_told(bot: Chatbot, said: str) -> None:
    assert small_talk(said, bot.index).startswith(SCOPE)


@pytest.mark.parametrize("said", ["who made you?", "are you a bot?", "Are you ChatGPT?", "are you an AI or a human?", "is this a bot?", "am I talking to a real person?"])
def test_whoever_asks_what_it_is_is_told(bot: Chatbot, said: str) -> None:
    assert small_talk(said, bot.index) == f"I am wattwise, a program and no person, written by the wattwise authors under the MIT licence. {SCOPE}"


@pytest.mark.parametrize("said", ["can you size a model for me?", "Can you help me size a model?", "could you recommend an instance?"])
def test_whoever_asks_for_help_is_told_how_to_get_it(bot: Chatbot, said: str) -> None:
    assert small_talk(said, bot.index).startswith("Yes. Ask in plain words, give a model to size")


@pytest.mark.parametrize("said", ["which documents do you use?", "what are your sources?", "where do your figures come from?", "what is your knowledge based on?"])
def test_whoever_asks_for_the_sources_is_told_those_of_the_index(five: Chatbot, said: str) -> None:
    titles = "".join(f"\n- {source.title}" for source in five.index.sources())
    assert small_talk(said, five.index) == f"I answer from 5 documents, and name those that prove an answer below it:{titles}"


@pytest.mark.parametrize(("said", "reply"), [("what is 2+2?", "2+2 = 4."), ("what's 12 * 8", "12 * 8 = 96."), ("how much is 40,000 × 0.5?", "40,000 × 0.5 = 20,000."), ("calculate (12+4)/2", "(12+4)/2 = 8.")])  # fmt: skip
def test_a_bare_sum_is_computed(bot: Chatbot, said: str, reply: str) -> None:
    assert small_talk(said, bot.index) == reply


@pytest.mark.parametrize(
    "said",
    [
        "Hello, how much memory does a p5.48xlarge have?",
        "thanks, and inf2?",
        "What is it for?",
        "what does it do",
        "how does it work?",
        "yes",
        "which one?",
        "Helpful instances?",
        "??",
        "start training", "test a model", "who built Trainium?", "who made this chip?", "are you sure?", "are you able to train on Inf2?", "is this a GPU?", "what is 1.5?",
        "can you compare the H100 with the A100?", "can you find the cheapest instance?", "what sources does AWS use?", "what is 5 / 0?",
    ],
)
def test_a_question_is_no_small_talk(bot: Chatbot, said: str) -> None:
    assert small_talk(said, bot.index) == ""


def test_small_talk_has_no_sources_and_is_no_refusal(bot: Chatbot) -> None:
    events = list(bot.stream("Hello!", [Turn("Trainium or Inferentia?", "…")]))
    answer = events[-1].answer
    assert answer is not None
    assert (answer.small_talk, answer.refused, answer.citations, answer.passages) == (True, False, (), ())
    assert "".join(event.text for event in events if event.kind == "text") == answer.text


@pytest.mark.parametrize("history", [[], [Turn("Trainium or Inferentia?", "Trainium trains, Inferentia serves.")]])
@pytest.mark.parametrize("question", ["What is the capital of France?", "Who won the World Cup?", "what is for lunch?"])
def test_what_has_nothing_to_do_with_the_sources_is_told_what_they_are_about(
    bot: Chatbot, question: str, history: list[Turn]
) -> None:
    answer = bot.ask(question, history)
    assert (answer.text, answer.refused, answer.citations, answer.passages) == (f"{REFUSAL} {SCOPE}", True, (), ())


def test_a_question_of_the_field_without_an_answer_keeps_its_nearest_sources(bot: Chatbot) -> None:
    answer = bot.ask("How much does a Gaudi3 chip cost?")
    assert answer.refused
    assert "Nearest in the sources" in answer.text
    assert answer.passages


@pytest.mark.parametrize(
    ("text", "nothing"), [("asdfghjkl", True), ("qwertz uiop", True), ("trn1 memory", False), ("GPU", False)]
)
def test_a_search_for_nonsense_finds_nothing(bot: Chatbot, text: str, nothing: bool) -> None:
    assert has_nothing_near(text, bot.index) is nothing


@pytest.mark.parametrize(
    ("text", "is_for"),
    [
        ("how was your weekend?", False), ("Will do, thanks", False), ("who owns this service?", False), ("what is 2+2?", False), ("is that right?", False),
        ("and for 405B?", True), ("how much is that a month?", True), ("and the bigger one?", True), ("what network does it have?", True), ("and the L40S?", True),
    ],
)  # fmt: skip
def test_an_overheard_remark_is_told_from_a_question_to_the_sources(bot: Chatbot, text: str, is_for: bool) -> None:
    assert is_for_sources(text, bot.index) is is_for
