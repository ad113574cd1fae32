"""The app as a visitor meets it."""

import time
from pathlib import Path
from urllib.parse import quote

import pytest
from selenium import webdriver
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from chatbot import Chatbot, FeedbackStore
from tests.browser.conftest import SLOW_MODEL, Page

QUESTION = "Is Trainium for inference?"
EXAM = "Which chip is built for serving predictions?\nA. Trainium\nB. Inferentia"
NOTE = "# Bilby notes\n\nThe Bilby-2 chip has 99 GB of memory.\n"


@pytest.mark.evaluation
def test_the_first_page_is_painted_within_two_seconds(page: Page) -> None:
    page.driver.get("about:blank")
    began = time.perf_counter()
    page.driver.get(page.app.address)
    page.wait_for(".ww-title")
    page.wait_for('[data-testid="stChatInputTextArea"]')
    assert time.perf_counter() - began < 2


def test_a_mark_opens_its_card_with_the_quote_marked(page: Page, own_bot: Chatbot) -> None:
    page.ask(QUESTION)
    assert not any(card.is_displayed() for card in page.all(".ww-card mark"))
    mark = page.wait_for("a.ww-mark")
    mark.click()
    marked = page.wait_for(".ww-card[open] mark")
    quoted = next(c.quote for c in own_bot.ask(QUESTION).citations if c.number == int(mark.text))
    assert marked.text.split() == quoted.split()
    assert len(page.wait_for(".ww-card[open] blockquote").text) > len(marked.text)
    answer, copy = page.wait_for(".ww-main").rect, page.wait_for(".ww-copy").rect
    assert copy["y"] - answer["y"] - answer["height"] < 40  # however tall the open card beside it is


@pytest.mark.evaluation
def test_a_mark_opens_a_card_that_waits_behind_the_others(page: Page, own_bot: Chatbot) -> None:
    candidates = ("Serve Llama 3.1 70B with 32k context", "Trainium or Inferentia?", "P4d, Trn1 or G5?")
    page.ask(next(q for q in candidates if len({c.passage.chunk.document.id for c in own_bot.ask(q).citations}) > 4))
    page.click(page.all("a.ww-mark")[-1])
    assert page.wait_for(".ww-more[open] .ww-card[open] mark").is_displayed()


@pytest.mark.evaluation
def test_a_pasted_exam_question_gets_its_letter_and_verdicts(page: Page, own_bot: Chatbot) -> None:
    page.ask(EXAM)
    (letter,) = own_bot.ask(EXAM).choices
    assert page.wait_for(".ww-choice .ww-letter").text == letter
    assert page.texts(".ww-options strong") == ["Trainium", "Inferentia"]
    assert page.texts(".ww-chosen .ww-letter") == [letter]


@pytest.mark.evaluation
def test_a_follow_up_and_then_a_new_chat(page: Page) -> None:
    page.ask("How many vCPUs has trn1.2xlarge?")
    page.ask("and the bigger one?")
    assert "vCPU" in page.texts(".ww-answer")[-1]
    page.press("New chat")
    assert page.wait_for(".ww-title").is_displayed()
    assert page.all(".ww-question") == []
    assert "q=" not in page.driver.current_url


@pytest.mark.evaluation
def test_a_card_stays_open_while_the_visitor_votes(page: Page) -> None:
    page.ask(QUESTION)
    page.open_card()
    before = len(FeedbackStore(page.app.index).all())
    page.click(page.all('[data-testid="stFeedback"] button')[1])
    page.waiting().until(lambda _: len(FeedbackStore(page.app.index).all()) > before)
    page.wait_until_idle()
    vote = FeedbackStore(page.app.index).all()[-1]
    assert (vote.surface, vote.question, vote.helpful) == ("app", QUESTION, False)
    assert page.wait_for(".ww-card[open] mark").is_displayed()


def test_an_answer_can_be_stopped_and_asked_again(page: Page) -> None:
    choose_model(page, SLOW_MODEL)
    page.box().send_keys("How many chips?")
    page.send()
    page.wait_for(".ww-stage")
    page.wait_for(
        '[data-testid="stChatInput"] button[aria-label*="top"], [data-testid="stChatInputStopButton"]'
    ).click()
    assert page.wait_for(".ww-halted", 5).text == "Stopped."
    page.wait_until_idle()
    assert page.button("Ask again") is not None
    choose_model(page, "offline")
    assert "Stopped." in page.texts(".ww-answer")[-1]
    page.press("Ask again")
    assert page.wait_for(".ww-meta").is_displayed()


def choose_model(page: Page, model: str) -> None:
    choice = page.wait_for('[data-testid="stSidebar"] [data-testid="stSelectbox"] input')
    choice.send_keys(Keys.CONTROL, "a")
    choice.send_keys(model)
    option = page.waiting().until(
        lambda driver: [o for o in driver.find_elements(By.CSS_SELECTOR, '[role="option"]') if o.text.endswith(model)]
    )
    option[0].click()
    page.wait_until_idle()


def test_a_double_click_on_send_sends_once_and_stops_nothing(page: Page) -> None:
    page.box().send_keys(QUESTION)
    ActionChains(page.driver).double_click(page.wait_for('[data-testid="stChatInputSubmitButton"]')).perform()
    assert page.wait_for(".ww-meta").is_displayed()
    page.wait_until_idle()
    assert page.texts(".ww-question") == [QUESTION]


@pytest.mark.evaluation
def test_a_conversation_survives_a_reload_and_is_another_browser_s_secret(page: Page, driver: webdriver.Chrome) -> None:
    page.ask("How many vCPUs has trn1.2xlarge?")
    answer, address = page.texts(".ww-answer"), driver.current_url
    driver.refresh()
    page.wait_for(".ww-meta")
    page.wait_until_idle()
    assert page.texts(".ww-answer") == answer
    assert "How many vCPUs has trn1.2xlarge?" in page.texts(".st-key-conversations button")
    cookie = driver.get_cookie("wattwise-visitor")
    assert cookie is not None
    assert (cookie["httpOnly"], cookie["sameSite"], len(cookie["value"])) == (True, "Lax", 32)
    driver.delete_all_cookies()
    driver.get(address.split("?")[0] + "?" + next(p for p in address.split("?")[1].split("&") if p.startswith("chat=")))
    assert page.wait_for(".ww-title").is_displayed()
    assert page.all(".ww-question") == []


def test_a_question_that_is_too_long_stays_in_the_box(page: Page) -> None:
    page.driver.execute_script("arguments[0].focus()", page.box())
    page.driver.execute_cdp_cmd("Input.insertText", {"text": "word " * 1_800})
    page.send()
    assert "a question has at most 8,000" in page.wait_for(".ww-note").text
    assert len(page.box().get_attribute("value") or "") >= 8_999


@pytest.mark.evaluation
def test_a_file_of_another_kind_is_rejected_beside_the_box(page: Page, tmp_path: Path) -> None:
    (tmp_path / "wombat.exe").write_bytes(b"x")
    box = '[data-testid="stChatInput"]'
    page.driver.find_element(By.CSS_SELECTOR, f'{box} input[type="file"]').send_keys(str(tmp_path / "wombat.exe"))
    page.wait_for(f'{box} .stFileChip[aria-invalid="true"]')
    told = "return getComputedStyle(document.querySelector('.stChatInput'), '::after').content"
    assert "can be read." in page.driver.execute_script(told)


@pytest.mark.evaluation
def test_a_file_dropped_into_the_box_is_asked_about_and_removed_again(page: Page, tmp_path: Path) -> None:
    (tmp_path / "bilby.md").write_text(NOTE)
    page.driver.find_element(By.CSS_SELECTOR, '[data-testid="stChatInput"] input[type="file"]').send_keys(
        str(tmp_path / "bilby.md")
    )
    page.wait_for('[data-testid="stChatInput"] [data-testid*="File"]')
    page.ask("How much memory does the Bilby-2 chip have?")
    assert "99 GB" in page.texts(".ww-answer")[-1]
    assert (page.app.index / "uploads" / "bilby.md").is_file()
    page.open("sources")
    page.press("Remove")
    page.press("Remove it")
    page.waiting().until(lambda _: list((page.app.index / "uploads").iterdir()) == [])


@pytest.mark.evaluation
def test_a_file_with_a_hostile_name_is_added_and_removed_on_the_sources_page(page: Page, tmp_path: Path) -> None:
    name = "..\\<img src=x onerror=alert(1)> $x$.md"
    (tmp_path / name).write_text("# Numbat notes\n\nThe Numbat-1 chip has 3 GB.\n")
    page.open("sources")
    page.driver.find_element(By.CSS_SELECTOR, 'input[type="file"]').send_keys(str(tmp_path / name))
    assert "was read and can be asked about." in page.wait_for(".ww-added").text
    page.wait_until_idle()
    (stored,) = (page.app.index / "uploads").iterdir()
    assert "<" not in stored.name
    assert "Numbat notes" in page.texts("button")
    page.press("Remove")
    page.press("Remove it")
    page.waiting().until(lambda _: list((page.app.index / "uploads").iterdir()) == [])


@pytest.mark.evaluation
def test_hostile_documents_are_shown_as_text(page: Page) -> None:
    page.ask("What does the Wombat-7 chip cost?")
    assert "$5" in page.texts(".ww-answer")[-1]
    page.open_card()
    assert '<img src=x onerror="window.harmed = true"> and stars :red[red]' in page.wait_for(".ww-card[open]").text
    page.open(f"sources?doc={quote('hostile/wombat.md', safe='')}")
    assert "<script>window.harmed = true</script>" in page.wait_for(".ww-text").text
    assert page.driver.execute_script("return window.harmed") is None
    assert page.all(".ww-text img, .ww-title img, .ww-text .katex") == []
    assert fits(page)


@pytest.mark.evaluation
def test_right_to_left_text_keeps_its_direction(page: Page) -> None:
    page.open(f"sources?doc={quote('hostile/quokka.md', safe='')}")
    title = page.wait_for(".ww-title")
    assert title.text == "שבב הוומבט"
    assert page.driver.execute_script("return getComputedStyle(arguments[0]).direction", title) == "rtl"


def test_the_keyboard_is_enough(page: Page) -> None:
    page.box().send_keys(QUESTION, Keys.ENTER)
    page.wait_for(".ww-meta")
    page.wait_until_idle()
    for _ in range(40):
        page.driver.switch_to.active_element.send_keys(Keys.SHIFT, Keys.TAB)
        if page.driver.switch_to.active_element.get_attribute("class") == "ww-mark":
            break
    page.driver.switch_to.active_element.send_keys(Keys.ENTER)
    assert page.wait_for(".ww-card[open] mark").is_displayed()


@pytest.mark.evaluation
def test_a_phone_needs_no_sideways_scrolling(page: Page) -> None:
    metrics = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        for path in (f"?q={quote(EXAM)}", f"?q={quote('Trainium or Inferentia?')}", "sources", "exam"):
            page.open(path)
            assert fits(page), path
    finally:
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def fits(page: Page) -> bool:
    """Return whether nothing is wider than the window."""
    script = """
        const main = document.querySelector('[data-testid="stMainBlockContainer"]');
        return main.scrollWidth <= main.clientWidth && document.documentElement.scrollWidth <= window.innerWidth;
    """
    return bool(page.driver.execute_script(script))


@pytest.mark.evaluation
def test_the_theme_follows_the_visitor(page: Page) -> None:
    found = {}
    for theme in ("light", "dark"):
        media = {"features": [{"name": "prefers-color-scheme", "value": theme}]}
        page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        page.open()
        body = page.wait_for('[data-testid="stApp"]')
        found[theme] = body.value_of_css_property("background-color")
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert found == {"light": "rgba(255, 255, 255, 1)", "dark": "rgba(18, 22, 20, 1)"}


@pytest.mark.evaluation
def test_an_answer_is_read_from_its_beginning(page: Page) -> None:
    for question in (QUESTION, "Trainium or Inferentia?", "Compare L4, L40S, A100 and H100"):
        page.ask(question)
    time.sleep(0.6)
    top = page.driver.execute_script("return arguments[0].getBoundingClientRect().top", page.all(".ww-question")[-1])
    assert 0 <= top < 200


@pytest.mark.evaluation
def test_no_page_asks_another_machine_for_anything(page: Page) -> None:
    script = "return performance.getEntriesByType('resource').map(entry => entry.name)"
    for path in (f"?q={quote(QUESTION)}", "sources", "exam"):
        page.open(path)
        names = [n for n in page.driver.execute_script(script) if not n.startswith("data:")]
        assert names
        assert [n for n in names if not n.startswith(page.app.address)] == []


@pytest.mark.evaluation
def test_every_page_opens_without_an_error(page: Page) -> None:
    for path in ("", "sources", "exam"):
        page.open(path)
        assert page.all('[data-testid="stAlert"], [data-testid="stException"]') == []


@pytest.mark.evaluation
def test_an_input_of_the_size_page_changes_the_verdict_and_the_address_gives_it_back(page: Page) -> None:
    page.open("size?model=meta-llama/Meta-Llama-3.1-70B&accelerator=L40S")
    assert page.wait_for(".ww-answer .ww-lead").text.startswith("No: Meta-Llama-3.1-70B in bf16 needs ")
    page.choose("How many of them", "8")
    page.waiting().until(lambda _: page.texts(".ww-answer .ww-lead")[0].startswith("Yes: "), "no other verdict")
    page.wait_until_idle()
    verdict, address = page.texts(".ww-answer .ww-lead"), page.driver.current_url
    assert page.wait_for(".ww-stack .ww-usable").is_displayed()
    assert "count=8" in address
    page.driver.switch_to.new_window("tab")
    try:
        page.driver.get(address)
        page.wait_for(".ww-answer .ww-lead")
        page.wait_until_idle()
        assert page.texts(".ww-answer .ww-lead") == verdict
        assert page.input("How many of them").get_attribute("value") == "8"
        assert page.input("Accelerator").get_attribute("value") == "L40S"
    finally:
        page.driver.close()
        page.driver.switch_to.window(page.driver.window_handles[0])
