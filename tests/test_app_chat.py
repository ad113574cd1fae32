"""The chat page in each of its states, without a browser."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app.conversation import Exchange
from app.resources import conversation_store, feedback_store
from chatbot import Answer, Chatbot, FeedbackStore, Turn
from chatbot.history.conversations import ConversationStore
from ingest import sync
from tests.app_pages import ROOT, html, listening, press, started

QUESTION = "Is Trainium for inference?"
EXAM = "Which chip is built for serving predictions?\nA. Trainium\nB. Inferentia"
SCRIPT = (ROOT / "app" / "page.js").read_text()
NOTE = b"# Quokka chips\n\nThe Quokka-9 chip has 77 GB of memory.\n"


@pytest.fixture
def index(corpus_index: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WATTWISE_INDEX", str(corpus_index))
    return corpus_index


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of one document, which is quick to copy and to sync."""
    folder = tmp_path_factory.mktemp("small")
    sync([ROOT / "corpus" / "trainium-exam-notes.md"], folder, encoder="none")
    return folder


@pytest.fixture
def own_index(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An index that a test may change."""
    shutil.copytree(small, tmp_path / "index")
    monkeypatch.setenv("WATTWISE_INDEX", str(tmp_path / "index"))
    return tmp_path / "index"


@pytest.fixture
def page(index: Path, loopback: None) -> AppTest:
    return started()


@pytest.fixture
def loopback() -> Iterator[None]:
    with listening("127.0.0.1"):
        yield


def ask(page: AppTest, question: str) -> AppTest:
    return page.chat_input[0].set_value(question).run()


def exchanges(page: AppTest) -> list[Exchange]:
    found: Any = page.session_state["exchanges"]
    return list(found)


def answer_of(page: AppTest, turn: int = 0) -> Answer:
    answer = exchanges(page)[turn].answer
    assert answer is not None
    return answer


def test_the_landing_has_the_question_box_and_questions_to_start_with(page: AppTest) -> None:
    assert "Which instance should train or serve your model?" in html(page)
    assert len(page.chat_input) == 1
    assert len(page.pills[0].options) == 4
    assert not page.exception
    assert not page.error


def test_an_answer_shows_its_text_its_cards_and_what_it_took(page: AppTest, bot: Chatbot) -> None:
    ask(page, QUESTION)
    shown = html(page)
    assert 'dir="auto">Is Trainium for inference?</div>' in shown
    assert '<p class="ww-lead">' in shown
    cited = {citation.passage.chunk.document.id for citation in bot.ask(QUESTION).citations}
    assert shown.count('<details class="ww-card">') == len(cited)
    assert re.search(r"acked by the quoted words · offline · ", shown)
    assert answer_of(page).text == bot.ask(QUESTION).text


def test_below_prose_about_two_machines_stand_their_figures(page: AppTest) -> None:
    ask(page, "Compare trn1.32xlarge and p4d.24xlarge")
    assert "8 × NVIDIA A100 GPU" in html(page)
    assert "Not part of the answer: figures from" in html(page)


def test_a_starter_asks_its_question(page: AppTest) -> None:
    starter = page.pills[0].options[0].replace("\\", "")
    page.pills[0].set_value(page.pills[0].options[0]).run()
    assert [e.question for e in exchanges(page)] == [starter]


def test_a_follow_up_leans_on_the_turn_before(page: AppTest, bot: Chatbot) -> None:
    first, second = "How many vCPUs has trn1.2xlarge?", "and the bigger one?"
    ask(page, first)
    ask(page, second)
    expected = bot.ask(second, [Turn(first, bot.ask(first).text)])
    assert answer_of(page, 1).text == expected.text != bot.ask(second).text


def test_suggested_questions_can_be_asked(page: AppTest) -> None:
    ask(page, QUESTION)
    suggested = exchanges(page)[0].next_questions
    page.pills[0].set_value(next(o for o in page.pills[0].options if o in suggested)).run()  # its label needs no escapes
    assert exchanges(page)[1].question in suggested


def test_an_exam_question_gets_letters_and_verdicts(page: AppTest, bot: Chatbot) -> None:
    ask(page, EXAM)
    (letter,) = bot.ask(EXAM).choices
    shown = html(page)
    assert f'<div class="ww-choice"><span class="ww-letter">{letter}</span>' in shown
    assert f'aria-label="Option {letter}, chosen"' in shown


def test_a_refusal_shows_the_nearest_sources(page: AppTest) -> None:
    ask(page, "How much does a Gaudi3 card cost?")
    shown = html(page)
    assert "The sources do not say." in shown
    assert '<p class="ww-facts">Nearest in the sources</p>' in shown
    nearest = {passage.chunk.document.id for passage in answer_of(page).passages[:3]}
    assert shown.count('<details class="ww-card">') == len(nearest)


def test_a_vote_and_a_comment_are_stored_once(own_index: Path, loopback: None) -> None:
    page = ask(started(), QUESTION)
    page.feedback[0].set_value(0).run()
    assert page.feedback[0].disabled
    page.text_input[0].set_value("It is $5.").run()
    assert "Thank you." in [caption.value for caption in page.caption]
    (vote,) = FeedbackStore(own_index).all()
    assert (vote.surface, vote.helpful, vote.comment, vote.question) == ("app", False, "It is $5.", QUESTION)


def test_the_address_becomes_the_link_to_the_question_until_a_new_chat_forgets_it(page: AppTest) -> None:
    ask(page, QUESTION)
    assert page.query_params["q"] == QUESTION
    press(page, "New chat")
    assert exchanges(page) == []
    assert "Which instance should train or serve your model?" in html(page)
    assert "q" not in page.query_params


def test_a_link_with_a_question_asks_it_once_and_debug_shows_what_was_retrieved(index: Path, loopback: None) -> None:
    page = started(q=QUESTION, debug="true")
    page.run()
    assert [e.question for e in exchanges(page)] == [QUESTION]
    answer = answer_of(page)
    assert list(page.dataframe[0].value["section"]) == [" > ".join(p.chunk.headings) for p in answer.passages]


def test_a_conversation_survives_a_restart_for_its_visitor_alone(own_index: Path, loopback: None) -> None:
    page = ask(started(), QUESTION)
    before = exchanges(page)
    (kept,) = ConversationStore(own_index).all(page.session_state["visitor"])
    assert kept.title == QUESTION
    assert exchanges(started(chat=page.session_state["conversation"])) == []
    again = AppTest.from_file(str(ROOT / "app" / "pages" / "frame.py"), default_timeout=30)
    again.session_state["visitor"] = page.session_state["visitor"]
    again.query_params["chat"] = page.query_params["chat"]
    again.query_params["q"] = QUESTION
    again.run()
    assert [e.answer and e.answer.text for e in exchanges(again)] == [e.answer and e.answer.text for e in before]
    assert html(again).count('<details class="ww-card">') == html(page).count('<details class="ww-card">')


def test_a_conversation_is_opened_renamed_and_deleted_from_the_list(own_index: Path, loopback: None) -> None:
    page = ask(started(), QUESTION)
    first = page.session_state["conversation"]
    press(page, "New chat")
    ask(page, "Trainium or Inferentia?")
    page.button(key=f"open-{first}").click().run()
    assert [e.question for e in exchanges(page)] == [QUESTION]
    store, visitor = ConversationStore(own_index), page.session_state["visitor"]
    store.rename(visitor, first, "Mine")
    page.run()
    assert page.button(key=f"open-{first}").label == "Mine"
    store.delete(visitor, first)
    page.run()
    assert [b.key for b in page.sidebar.button if str(b.key).startswith("open-")] == [
        f"open-{c.id}" for c in store.all(visitor)
    ]


def test_small_talk_has_a_short_answer_and_no_cards(page: AppTest) -> None:
    ask(page, "hello")
    assert "Hello! I answer from documents" in html(page)
    assert "ww-card" not in html(page).replace(SCRIPT, "")
    assert "ww-meta" not in html(page)


def test_a_question_is_edited_in_the_box_and_replaces_what_came_after_it(page: AppTest) -> None:
    ask(page, QUESTION)
    ask(page, "Trainium or Inferentia?")
    page.button(key=f"edit-{exchanges(page)[0].id}").click().run()
    assert page.chat_input[0].proto.value == QUESTION
    assert "Sending replaces the question" in html(page)
    ask(page, "What is EFA?")
    assert [e.question for e in exchanges(page)] == ["What is EFA?"]


def test_a_question_that_is_too_long_is_said_and_stays_in_the_box(page: AppTest) -> None:
    ask(page, "a" * 9_000)
    assert "That is 9,000 characters; a question has at most 8,000." in html(page)
    assert exchanges(page) == []


def test_a_file_in_the_box_can_be_asked_about_at_once_or_be_added_alone(own_index: Path, loopback: None) -> None:
    page = started()
    page.chat_input[0].upload("quokka.md", NOTE).set_value("How much memory does the Quokka-9 chip have?").run()
    assert (own_index / "uploads" / "quokka.md").read_bytes() == NOTE
    assert "was read and can be asked about." in html(page)
    assert "77 GB" in answer_of(page).text
    page.chat_input[0].upload("other.md", NOTE + b"It is new.").run()
    assert [(e.question, e.answer, len(e.added)) for e in exchanges(page)[1:]] == [("", None, 1)]


def test_the_box_takes_no_files_beyond_loopback(index: Path) -> None:
    with listening("0.0.0.0"):
        assert started().chat_input[0].proto.accept_file == 0


def test_a_model_that_cannot_be_opened_is_said_and_the_offline_reader_goes_on(
    index: Path, loopback: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATTWISE_APP_MODELS", "nosuchprovider:model")
    page = started()
    assert len(page.segmented_control) == 0
    page.selectbox[0].set_value("nosuchprovider:model").run()
    assert page.segmented_control[0].options == ["Quick", "Normal", "Thorough"]  # for a language model only
    assert len(page.error) == 1
    assert "Until then the offline reader answers" in page.error[0].value
    ask(page, QUESTION)
    assert answer_of(page).model == "offline"


def test_a_missing_index_is_said_with_its_remedy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WATTWISE_INDEX", str(tmp_path / "none"))
    with listening("0.0.0.0"):
        page = started()
    assert not page.exception
    assert len(page.error) == 1
    assert "There is no index" in page.error[0].value
    assert "wattwise ingest" in page.error[0].value.replace("\\", "")


def test_without_an_index_this_machine_s_user_is_offered_to_build_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, loopback: None
) -> None:
    monkeypatch.setenv("WATTWISE_INDEX", str(tmp_path / "none"))
    page = started()
    assert "Welcome to wattwise" in html(page)
    assert [button.label for button in page.button] == ["Build the index"]
    assert not page.error


@pytest.mark.evaluation
def test_the_index_is_built_from_the_first_page(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, loopback: None
) -> None:
    monkeypatch.setenv("WATTWISE_INDEX", str(tmp_path / "new"))
    page = started()
    page.button[0].click().run(timeout=240)
    assert "Which instance should train or serve your model?" in html(page)


def test_a_setting_that_cannot_be_read_is_said(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WATTWISE_APP_UPLOADS", "perhaps")
    page = started()
    assert not page.exception
    assert "it takes auto, on, off or session" in page.error[0].value


def test_what_was_stopped_keeps_its_text_and_can_be_asked_again(page: AppTest) -> None:
    page.session_state["exchanges"] = [Exchange("a1", QUESTION, partial="No. AWS Trainium is")]
    page.run()
    assert "No. AWS Trainium is" in html(page)
    assert "Stopped." in html(page)
    press(page, "Ask again")
    assert [e.question for e in exchanges(page) if e.answer] == [QUESTION]


def test_a_long_session_shows_its_latest_turns_first(page: AppTest, bot: Chatbot) -> None:
    answer = bot.ask(QUESTION)
    turns = [Exchange(f"e{n}", f"question {n}", answer, updated=bot.index.updated) for n in range(200)]
    page.session_state["exchanges"] = turns
    page.run()
    assert html(page).count('class="ww-question"') == 12
    press(page, "Show 12 earlier of 188")
    assert html(page).count('class="ww-question"') == 24


@pytest.mark.parametrize("question", ["<script>alert(1)</script>?", "$x^2$ and **bold** :red[x]?", "מה זה Trainium?"])
def test_hostile_questions_are_text(page: AppTest, question: str) -> None:
    ask(page, question)
    assert "<script>alert" not in html(page)
    assert not page.exception
    assert exchanges(page)[0].question == question


def test_where_sign_in_is_set_up_nothing_is_shown_before_it_and_votes_have_names(own_index: Path, loopback: None) -> None:
    page = AppTest.from_file(str(ROOT / "app" / "pages" / "frame.py"), default_timeout=30)
    page.secrets["auth"] = {"client_id": "wattwise"}
    page.run()
    assert ([button.label for button in page.button], len(page.chat_input)) == (["Sign in"], 0)
    assert not page.exception
    page.user = {"is_logged_in": True, "email": "ada@example.org"}
    ask(page.run(), QUESTION)
    page.feedback[0].set_value(1).run()
    assert [vote.voter for vote in FeedbackStore(own_index).all()] == ["ada@example.org"]


def test_a_damaged_file_of_votes_is_set_aside_and_said(own_index: Path, loopback: None) -> None:
    (own_index / "feedback.sqlite").write_bytes(b"no database" * 99)
    page = ask(started(), QUESTION)
    assert [c.value.replace("\\", "") for c in page.sidebar.caption][1:] == [
        "Votes were damaged and are kept as feedback.sqlite.damaged-1; new ones go to a new file. "
        "Remove or mend the kept file to end this note."
    ]
    assert (own_index / "feedback.sqlite.damaged-1").read_bytes() == b"no database" * 99
    assert not page.exception


def test_conversations_and_votes_are_kept_once_their_folder_can_be_written(tmp_path: Path) -> None:
    index = tmp_path / "index"
    assert conversation_store(index) is None
    index.write_text("in the way")
    assert feedback_store(index) is None
    index.unlink()
    index.mkdir()
    assert conversation_store(index) is conversation_store(index) is not None
    assert feedback_store(index) is feedback_store(index) is not None


def test_a_machine_too_busy_for_examples_shows_none_and_no_error(own_index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WATTWISE_DEADLINE", "0.0001")
    page = started()
    assert [error.value for error in page.error] == []
    assert "Which instance should train or serve your model?" in html(page)
