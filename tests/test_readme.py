import re
import shlex
from pathlib import Path

import pytest

from chatbot.__main__ import main

README = Path(__file__).resolve().parents[1] / "README.md"


def test_the_answer_on_the_first_screen_is_the_answer_given(
    corpus_index: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATTWISE_INDEX", str(corpus_index))
    shown = re.search(r"```\n\$ wattwise (.+?)\n(.+?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert shown is not None
    assert main(shlex.split(shown[1])) == 0
    assert capsys.readouterr().out == shown[2]
