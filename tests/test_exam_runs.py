import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from xml.etree import ElementTree

import pytest

from chatbot import Chatbot
from chatbot.answer import Answer, ReaderError, Turn
from chatbot.exam import (
    Comparison,
    ExamQuestion,
    GoldenQuestion,
    Identity,
    QuestionSet,
    Report,
    Result,
    Score,
    Skipped,
    build_report,
    compare,
    identify,
    report_junit,
    report_lines,
    report_page,
    report_summary,
    run,
    runs,
    write_report,
)
from chatbot.exam.baselines import BaselineScore
from chatbot.exam.results import as_row, from_row, read_rows
from chatbot.language.characters import shown as visible

CHIPS = ExamQuestion(
    "chips", "How many Trainium chips are in a trn1.32xlarge?", ("Two", "16", "64"), (1,), topic="sizes", file="own.jsonl",
)  # fmt: skip
SERVING = ExamQuestion(
    "serving",
    "Which AWS chip is for inference?",
    ("AWS Trainium", "AWS Inferentia"),
    (1,),
    topic="chips",
    file="own.jsonl",
    position=2,
)
LYRICS = ExamQuestion(
    "lyrics", "Who sang it in Oslo?", ("Zaza Blom", "Ude Krogh"), (0,), topic="chips", file="own.jsonl", position=3
)
SET = QuestionSet((CHIPS, SERVING, LYRICS), (Skipped("own.jsonl", 9, "no answer is given", "Which?"),))
IDENTITY = Identity("i", "c", "q", "offline", "none", 5, 90)


class Counting:
    """A chatbot that records its questions and fails on those containing `failing`."""

    def __init__(self, bot: Chatbot, failing: str = "") -> None:
        self.bot, self.failing = bot, failing
        self.index, self.model = bot.index, bot.model
        self.asked: list[str] = []

    def ask(self, question: str, history: Sequence[Turn] = ()) -> Answer:
        self.asked.append(question.split("\n")[0])
        if self.failing and self.failing in question:
            raise ReaderError("The model is away.")
        return self.bot.ask(question, history)


# --- resuming after a kill


def test_a_run_that_was_cut_off_goes_on_and_asks_nothing_twice(bot: Chatbot, tmp_path: Path) -> None:
    identity = identify(bot, SET)
    counting = Counting(bot)
    assert len(list(islice(run(counting, SET.questions, tmp_path, identity=identity), 2))) == 2
    with (tmp_path / "results.jsonl").open("a") as file:
        file.write('{"id": "lyrics", "ha')
    results = list(run(counting, SET.questions, tmp_path, identity=identity))
    assert counting.asked == [CHIPS.text, SERVING.text, LYRICS.text]
    assert [r.question.id for r in results] == ["chips", "serving", "lyrics"]
    assert [json.loads(line)["id"] for line in (tmp_path / "results.jsonl").read_text().splitlines()] == [
        "chips",
        "serving",
        "lyrics",
    ]


def test_errors_are_asked_again_and_the_rest_is_not(bot: Chatbot, tmp_path: Path) -> None:
    identity = identify(bot, SET)
    first = list(run(Counting(bot, failing="inference"), SET.questions, tmp_path, identity=identity))
    assert [r.verdict == "error" for r in first] == [False, True, False]
    again = Counting(bot)
    assert [r.verdict for r in run(again, SET.questions, tmp_path, identity=identity)][1] == "right"
    assert again.asked == [SERVING.text]


@pytest.mark.parametrize("change", ["config", "index", "question", "fresh"])
def test_another_index_configuration_or_question_is_asked_anew(bot: Chatbot, tmp_path: Path, change: str) -> None:
    identity = identify(bot, SET)
    list(run(bot, [SERVING], tmp_path, identity=identity))
    asked = replace(SERVING, options=("AWS Inferentia", "AWS Trainium")) if change == "question" else SERVING
    changed = replace(identity, **{change: "other"}) if change in ("config", "index") else identity
    counting = Counting(bot)
    list(run(counting, [asked], tmp_path, identity=changed, fresh=change == "fresh"))
    assert counting.asked == [SERVING.text]


def test_the_identity_hangs_on_index_model_seed_settings_and_questions(bot: Chatbot) -> None:
    plain = identify(bot, SET)
    assert plain == identify(bot, SET)
    assert plain.config != identify(bot, SET, shuffle=1).config
    assert plain.config != identify(bot, SET, settings={"WATTWISE_TEMPERATURE": "1"}).config
    other = QuestionSet((replace(CHIPS, answer=(0,)),))
    assert (plain.index, plain.config) == (identify(bot, other).index, identify(bot, other).config)
    assert plain.questions != identify(bot, other).questions


@pytest.mark.parametrize("name", ["glossary.tsv", "weights.safetensors", "facts.toml", "weights.json", "names.py"])
def test_a_run_does_not_go_on_with_other_data_of_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    for package in (runs.chatbot, runs.ingest):
        monkeypatch.setattr(package, "__file__", str(tmp_path / "__init__.py"))
    digests = []
    for content in "ab":
        (tmp_path / name).write_text(content)
        digests.append(runs._program.__wrapped__())
    assert digests[0] != digests[1]


def test_a_folder_that_cannot_be_written_is_said_so(bot: Chatbot, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ReaderError, match="give --report another folder"):
        list(run(bot, [SERVING], tmp_path / "file" / "below", identity=identify(bot, SET)))


def test_a_result_that_cannot_be_written_is_said_so(bot: Chatbot, tmp_path: Path) -> None:
    results = run(bot, [CHIPS, SERVING], tmp_path, identity=IDENTITY)
    next(results)
    (tmp_path / "results.jsonl").unlink()
    (tmp_path / "results.jsonl").mkdir()
    with pytest.raises(ReaderError, match="cannot be written"):
        next(results)


def test_a_run_keeps_results_with_lone_surrogates(bot: Chatbot, tmp_path: Path) -> None:
    question = replace(CHIPS, topic="caf\udce9")
    list(run(bot, [question], tmp_path, identity=IDENTITY))
    (row,) = read_rows(tmp_path)
    assert (row["verdict"], row["topic"]) == ("right", "caf?")


def test_a_result_is_the_same_after_it_was_written_and_read(bot: Chatbot) -> None:
    for result in run(bot, SET.questions):
        row = json.loads(json.dumps(as_row(result)))
        assert as_row(from_row(row, result.question)) == as_row(result)


# --- what changed


def result(question: ExamQuestion, verdict: str, **changes: object) -> Result:
    return Result(question, verdict, **changes)  # type: ignore[arg-type]


def test_flips_are_named_and_errors_and_changed_questions_left_out() -> None:
    names = "abcdefgh"
    asked = [replace(LYRICS, id=name) for name in names]
    before = ["right", "right", "wrong", "no answer", "wrong", "right", "error", "right"]
    now = ["right", "wrong", "right", "right", "no answer", "error", "right", "right"]
    earlier = [result(q, v) for q, v in zip(asked, before, strict=True)] + [result(replace(LYRICS, id="gone"), "right")]
    asked[7] = replace(asked[7], text="Who wrote it?")
    later = [result(q, v) for q, v in zip(asked, now, strict=True)]
    lines = report_lines(Report(tuple(earlier), IDENTITY)).encode()
    assert compare(later, lines) == Comparison(("c", "d"), ("b",), 1, 1, ("f", "g", "gone", "h"))
    assert compare(later, lines).p_value == 1.0


@pytest.mark.parametrize("data", [b"", b"no json\n", b"[1]\n", b'{"id": "a"}\n'])
def test_a_baseline_that_is_no_list_of_results_is_said_so(data: bytes) -> None:
    with pytest.raises(ReaderError, match=r"Give the results\.jsonl that --report wrote"):
        compare([], data)


# --- the report


@pytest.fixture(scope="module")
def report(bot: Chatbot) -> Report:
    return build_report(bot, SET, list(run(bot, SET.questions)))


def test_a_report_counts_in_all_and_by_topic(report: Report) -> None:
    assert [r.verdict for r in report.results] == ["right", "right", "no answer"]
    assert report.total == Score(2, 0, 1)
    assert report.by("topic") == {"chips": Score(1, 0, 1), "sizes": Score(1, 0, 0)}
    assert report.by("file") == {}
    assert [r.question.id for r in report.wrong] == ["lyrics"]
    assert [b.name for b in report.baselines] == [
        "chance",
        "always B",
        "longest option",
        "closed book",
        "retrieval only",
    ]
    assert report.p_value(report.baselines[3]) == 2 * 0.25
    assert report.p_value(report.baselines[0]) is None


def test_a_report_is_written_in_every_form(report: Report, tmp_path: Path) -> None:
    comparison = compare(report.results, report_lines(report).encode())
    files = write_report(report, tmp_path / "new" / "folder", comparison=comparison)
    assert [file.name for file in files] == ["results.jsonl", "summary.json", "junit.xml", "report.html"]
    assert sorted(p.name for p in (tmp_path / "new" / "folder").iterdir()) == sorted(f.name for f in files)
    summary = json.loads(files[1].read_text())
    assert summary == json.loads(json.dumps(report_summary(report, comparison=comparison)))
    assert summary["total"]["accuracy"] == {
        "share": 2 / 3,
        "interval": pytest.approx([0.2077, 0.9385], abs=1e-4),
        "hits": 2,
        "n": 3,
    }
    assert summary["comparison"]["both_right"] == 2
    assert summary["skipped"] == [{"file": "own.jsonl", "line": 9, "reason": "no answer is given", "text": "Which?"}]
    row = json.loads(files[0].read_text().splitlines()[0])
    assert (row["id"], row["topic"], row["key"], row["chosen"], row["verdict"]) == (
        "chips",
        "sizes",
        "B",
        ["B"],
        "right",
    )
    assert row["passages"][0]["score"] > 0
    assert row["answer"]["citations"][0]["quote"] == "A trn1.32xlarge has 16 Trainium chips."


def test_junit_tells_failures_errors_and_skipped_apart() -> None:
    results = (
        result(CHIPS, "right"),
        result(SERVING, "wrong", reason="chose A instead of B"),
        result(LYRICS, "error", reason="The model is\x00 away."),
    )
    suite = ElementTree.fromstring(report_junit(Report(results, IDENTITY, SET.skipped)))
    assert {k: suite.get(k) for k in ("tests", "failures", "errors", "skipped")} == {"tests": "4", "failures": "1", "errors": "1", "skipped": "1"}  # fmt: skip
    cases = [(c.get("name"), *[(e.tag, e.get("message")) for e in c]) for c in suite]
    assert cases == [
        ("chips",),
        ("serving", ("failure", "chose A instead of B")),
        ("lyrics", ("error", "The model is\ufffd away.")),
        ("line 9", ("skipped", "no answer is given")),
    ]


def test_the_page_loads_nothing_and_shows_texts_as_text(report: Report) -> None:
    hostile = replace(
        LYRICS, text="<script>alert(1)</script> Who?", options=("<img src=x onerror=alert(2)>", "{{ 7 * 7 }}")
    )
    baseline = BaselineScore("closed book", note="not asked")
    shown = replace(
        report,
        results=(
            *report.results,
            result(hostile, "wrong", chosen=("B",), reason="<b>"),
        ),
        baselines=(baseline,),
    )
    page = report_page(shown)
    assert "<script" not in page
    assert "<img" not in page
    assert "&lt;img src=x onerror=alert(2)&gt;" in page
    assert "{{ 7 * 7 }}" in page
    assert not any(word in page for word in ('src="', "href=", "@import", "url(", "<link", "<iframe"))
    assert page.count("<svg") == 3


def test_the_page_shows_no_hidden_characters(report: Report) -> None:
    hidden = replace(LYRICS, text="Does it draw \u202e84\u202c W?", topic="gr\u200bids", options=("4\x008", "84\udcff"))
    page = report_page(
        replace(report, results=(*report.results, result(hidden, "wrong", chosen=("B",), reason="\u2066")))
    )
    assert "Does it draw 84 W?" in page
    assert page == visible(page)
    page.encode()


def test_a_report_of_errors_alone_has_no_rate_and_still_a_page() -> None:
    report = Report((result(CHIPS, "error", reason="away"),), IDENTITY)
    assert report.total.accuracy.share == 0
    assert "counted apart" in report_page(report)
    assert report_summary(report)["usage"]["seconds_mean"] is None


def test_a_kept_golden_half_is_counted_and_not_shown() -> None:
    kept = GoldenQuestion("k1", "fact", ("What is the secret figure?",), ("42",), file="golden/kept.jsonl")
    tuned = GoldenQuestion("t1", "fact", ("What is open?",), ("7",), file="golden/tuned.jsonl")
    results = tuple(Result(q, "wrong", f"lacks {q.required[0]}") for q in (kept, tuned))
    sealed = Report(results, IDENTITY)
    assert ([r.question.id for r in sealed.wrong], sealed.sealed, sealed.total.wrong) == (["t1"], 1, 2)
    for text in (report_page(sealed), report_junit(sealed)):
        assert "secret figure" not in text
        assert "lacks 42" not in text
        assert "What is open?" in text
    assert "secret figure" in report_page(replace(sealed, shows_kept=True))
