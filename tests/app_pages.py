"""What the tests of the app share: a page that has started, and what it shows."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from streamlit import config
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parents[1]


def started(page: str = "", **query: str) -> AppTest:
    """The app as a visitor finds it, at one of its pages."""
    app = AppTest.from_file(str(ROOT / "app" / "pages" / "frame.py"), default_timeout=30)
    if page:
        app.run()
        app.switch_page(f"{page}.py")
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def html(app: AppTest) -> str:
    """All that the app itself writes as HTML, without the style sheet."""
    return "\n".join(element.proto.body for element in app.get("html") if not element.proto.body.startswith("<style>"))


def press(app: AppTest, label: str) -> AppTest:
    """Press the button of this label."""
    return next(button for button in app.button if button.label == label).click().run()


@contextmanager
def listening(address: str) -> Iterator[None]:
    """The app as it is where it listens on this address."""
    before = config.get_option("server.address")
    config.set_option("server.address", address)
    yield
    config.set_option("server.address", before)
