import re
import shlex
from pathlib import Path

import pytest

from chatbot.__main__ import main

README = Path(__file__).resolve().parents[1] / "README.md"


def test_the_answers_shown_are_the_answers_given(corpus_index: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WATTWISE_INDEX", str(corpus_index))
    shown = re.findall(r"^\$ wattwise (ask .+)\n((?:(?!```|…\n).*\n)+)(…\n)?", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(shown) == 2
    for command, answer, goes_on in shown:
        assert main(shlex.split(command)) == 0
        given = capsys.readouterr().out
        assert given.startswith(answer) if goes_on else given == answer
