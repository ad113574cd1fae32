"""Helpers shared by the tests of the app: start a page and read what it shows."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from streamlit import config
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parents[1]


def started(page: str = "", **query: str) -> AppTest:
    """Run the app on the given page, with the given query parameters."""
    app = AppTest.from_file(str(ROOT / "app" / "pages" / "frame.py"), default_timeout=30)
    if page:
        app.run()
        app.switch_page(f"{page}.py")
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def html(app: AppTest) -> str:
    """The HTML that the app writes itself, without the style sheet."""
    return "\n".join(element.proto.body for element in app.get("html") if not element.proto.body.startswith("<style>"))


def press(app: AppTest, label: str) -> AppTest:
    """Press the button with this label."""
    return next(button for button in app.button if button.label == label).click().run()


@contextmanager
def listening(address: str) -> Iterator[None]:
    """Run the block as if the app listened on this address."""
    before = config.get_option("server.address")
    config.set_option("server.address", address)
    try:
        yield
    finally:
        config.set_option("server.address", before)
