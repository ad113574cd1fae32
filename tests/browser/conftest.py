"""Fixtures for a real browser and the real app on a loopback port; tests are skipped where Chromium is missing."""

import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from chatbot import Chatbot
from ingest import sync
from tests.app_server import ROOT, serving

SLOW_MODEL = "openai:slow"
HOSTILE = f"""# The Wombat chip <script>window.harmed = true</script>

The Wombat-7 chip costs $5 and $6 with <img src=x onerror="window.harmed = true"> and **stars** :red[red].

## A wide table

| Wombat | {" | ".join(f"column {n}" for n in range(40))} |
|---|{"---|" * 40}
{chr(10).join(f"| wombat {row} | {' | '.join(str(row * n) for n in range(40))} |" for row in range(100))}
"""
RIGHT_TO_LEFT = "# שבב הוומבט\n\nThe Quokka-3 chip, in Hebrew שבב הקווקה, draws 42 W of power.\n"


@dataclass(frozen=True, slots=True)
class App:
    """A running app: its address and its index."""

    address: str
    index: Path


class Page:
    """A page, with methods named after what a visitor does."""

    def __init__(self, driver: webdriver.Chrome, app: App) -> None:
        self.driver = driver
        self.app = app

    def open(self, path: str = "") -> None:
        self.driver.get("about:blank")
        self.driver.get(f"{self.app.address}/{path}")
        self.wait_for(".ww-title, .ww-answer")
        self.wait_until_idle()

    def wait_for(self, selector: str, seconds: float = 60) -> WebElement:
        return self.waiting(seconds).until(
            lambda driver: next((e for e in driver.find_elements(By.CSS_SELECTOR, selector) if e.is_displayed()), None),
            f"nothing visible at {selector}",
        )

    def waiting(self, seconds: float = 60) -> WebDriverWait[webdriver.Chrome]:
        """A wait that ignores stale elements: Streamlit replaces elements while the page is being read."""
        return WebDriverWait(self.driver, seconds, 0.1, ignored_exceptions=[StaleElementReferenceException])

    def wait_until_idle(self) -> None:
        time.sleep(0.4)
        self.wait_for('[data-test-script-state="notRunning"]')

    def all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def texts(self, selector: str) -> list[str]:
        return [element.text for element in self.all(selector)]

    def box(self) -> WebElement:
        return self.wait_for('[data-testid="stChatInputTextArea"]')

    def send(self) -> None:
        self.wait_for('[data-testid="stChatInputSubmitButton"]').click()

    def ask(self, question: str) -> None:
        before = len(self.all(".ww-meta"))
        self.driver.execute_script("arguments[0].focus()", self.box())
        self.driver.execute_cdp_cmd("Input.insertText", {"text": question})
        self.send()
        self.waiting().until(lambda _: len(self.all(".ww-meta")) > before, f"no answer to {question}")
        self.wait_until_idle()

    def click(self, element: WebElement) -> None:
        """Scroll the element to the centre first, because the question box may cover it, then click it."""
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
        element.click()

    def open_card(self) -> None:
        """Click the first card until it opens: a click can miss while the page is still scrolling to its answer."""

        def is_open(_: webdriver.Chrome) -> bool:
            if not (found := self.all(".ww-card[open]")):
                self.click(self.all(".ww-card summary")[0])
            return bool(found)

        self.waiting().until(is_open)

    def press(self, label: str) -> None:
        self.click(self.waiting().until(lambda _: self.button(label), f"no button {label!r}"))
        self.wait_until_idle()

    def input(self, label: str) -> WebElement:
        """The input field with this label."""
        return self.wait_for(f'input[aria-label="{label}"]')

    def choose(self, label: str, value: str) -> None:
        """Type into a field and confirm with Enter."""
        field = self.input(label)
        self.click(field)
        field.send_keys(value, Keys.ENTER)

    def button(self, label: str) -> WebElement | None:
        shown = (b for b in self.all("button") if b.is_displayed())
        return next((b for b in shown if b.text.split("\n")[-1] == label), None)


@pytest.fixture(scope="session")
def app(corpus_index: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    folder = tmp_path_factory.mktemp("browser")
    index = folder / "index"
    (folder / "hostile").mkdir()
    (folder / "hostile" / "wombat.md").write_text(HOSTILE, encoding="utf-8")
    (folder / "hostile" / "quokka.md").write_text(RIGHT_TO_LEFT, encoding="utf-8")
    shutil.copytree(corpus_index, index)
    sync([ROOT / "corpus", folder / "hostile"], index)
    with ThreadingHTTPServer(("127.0.0.1", 0), SilentModel) as model:
        threading.Thread(target=model.serve_forever, args=(0.01,), daemon=True).start()
        server = f"http://127.0.0.1:{model.server_port}/v1"
        own = {"WATTWISE_APP_MODELS": SLOW_MODEL, "WATTWISE_BASE_URL": server, "OPENAI_API_KEY": "none"}
        with serving(index, own) as port:
            yield App(f"http://127.0.0.1:{port}", index)
        model.shutdown()


@pytest.fixture(scope="session")
def own_bot(app: App) -> Chatbot:
    """A bot over the page's index, to compute what the page must show."""
    return Chatbot.open(app.index)


class SilentModel(BaseHTTPRequestHandler):
    """A model server that accepts every request and stays silent for 15 seconds."""

    def do_POST(self) -> None:
        time.sleep(15)
        with suppress(OSError):  # the client may have hung up
            self.send_error(503)

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.fixture(scope="session")
def driver() -> Iterator[webdriver.Chrome]:
    browser, control = shutil.which("chromium"), shutil.which("chromedriver")
    if browser is None or control is None:
        pytest.skip("no chromium and chromedriver here: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1280,1000"):
        options.add_argument(argument)
    opened = webdriver.Chrome(service=Service(control), options=options)
    yield opened
    opened.quit()


@pytest.fixture
def page(driver: webdriver.Chrome, app: App) -> Page:
    opened = Page(driver, app)
    opened.open()
    return opened
