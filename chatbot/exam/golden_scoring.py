"""Ask, score and report golden questions; answers are scored in the JSON form of `wattwise ask --json`."""

import re
from collections.abc import Iterable, Sequence
from math import isclose
from pathlib import Path
from typing import Any, NamedTuple

from chatbot.answer import REFUSAL, Answer, Turn
from chatbot.bot import Chatbot
from chatbot.exam.golden import KINDS, GoldenQuestion, answerable, load_questions
from chatbot.exam.rates import Rate, count
from chatbot.language.quantities import UNITS, Quantity, quantities
from chatbot.presentation.render import as_json
from chatbot.verification.marks import marked_numbers

JsonAnswer = dict[str, Any]
JsonCitation = dict[str, Any]

VALUE_WEIGHT, SOURCES_WEIGHT, REFUSAL_WEIGHT = 0.75, 0.15, 0.10
SUPPORTED = 0.5
TOLERANCE = 0.001
MARK = re.compile(r"\[(\d{1,3}(?:\s*[,\u2013-]\s*\d{1,3})*)\]")
TABLE_HEAD_OR_HEADING = re.compile(r"(?m)^\|.*\|\s*\n(?=\|[\s:|-]+\|\s*$)|^\|[\s:|-]+\|\s*$|^#+ .*$")
SENTENCE_END = re.compile(r"(?<!\bvs\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<=[.!?])\s+(?=[^a-z\s])")


class Asked(NamedTuple):
    """A golden question and its answer in the form of `checked_json`."""

    question: GoldenQuestion
    answer: JsonAnswer


def ask_file(bot: Chatbot, file: Path) -> list[Asked]:
    """Ask the questions of a golden file."""
    return ask_all(bot, load_questions(file))


def ask_all(bot: Chatbot, questions: Iterable[GoldenQuestion]) -> list[Asked]:
    """Ask the questions, except those that expect a refusal although a document of the index answers them."""
    return [ask(bot, question) for question in answerable(questions, bot.index)]


def ask(bot: Chatbot, question: GoldenQuestion) -> Asked:
    """Ask each turn in order; the answer to the last turn counts."""
    return Asked(question, checked_json(last_answer(bot, question)))


def last_answer(bot: Chatbot, question: GoldenQuestion) -> Answer:
    """Ask each turn in order, with the earlier turns as history, and return the answer to the last."""
    history: list[Turn] = []
    for turn in question.turns:
        answer = bot.ask(turn, history=history)
        history.append(Turn(turn, answer.text))
    return answer


def checked_json(answer: Answer) -> JsonAnswer:
    """Return the answer as JSON; each citation gets `exact`: whether its quote stands at its offsets in the document."""
    row = as_json(answer)
    texts = [citation.passage.chunk.document.text for citation in answer.citations]
    cited = [{**c, "exact": is_exact(c, text)} for c, text in zip(row["citations"], texts, strict=True)]
    return {**row, "citations": cited}


def failure(question: GoldenQuestion, answer: JsonAnswer) -> str | None:
    """Why the answer fails, or None when it passes."""
    if question.refused:
        return _failed_refusal(answer)
    if question.kind == "sizing":  # a size that cannot be computed is answered with a remedy, which cites nothing
        return _failed_patterns(question, answer)
    if answer["refused"]:
        return "refused, but the sources have the answer"
    checks = (_failed_choices, _failed_patterns, _failed_sources)
    return next((reason for check in checks if (reason := check(question, answer))), None)


def _failed_refusal(answer: JsonAnswer) -> str | None:
    if not answer["refused"]:
        return "answered, but no source has the answer"
    return None if REFUSAL in answer["text"] else f"refused in other words than {REFUSAL!r}"


def _failed_choices(question: GoldenQuestion, answer: JsonAnswer) -> str | None:
    if not question.choices or question.choices == set(answer["choices"]):
        return None
    return f"chose {', '.join(answer['choices']) or 'nothing'} instead of {', '.join(sorted(question.choices))}"


def _failed_patterns(question: GoldenQuestion, answer: JsonAnswer) -> str | None:
    missing = [pattern for pattern in question.required if not re.search(pattern, answer["text"], re.IGNORECASE)]
    wrong = [pattern for pattern in question.forbidden if re.search(pattern, answer["text"], re.IGNORECASE)]
    reasons = [f"lacks {' and '.join(missing)}"] * bool(missing) + [f"says {' and '.join(wrong)}"] * bool(wrong)
    return "; ".join(reasons) or None


def _failed_sources(question: GoldenQuestion, answer: JsonAnswer) -> str | None:
    cited = cited_originals(answer)
    if not_cited := question.sources - cited:
        return f"does not cite {', '.join(sorted(not_cited))}"
    if question.sources_any and not question.sources_any & cited:
        return f"cites none of {', '.join(sorted(question.sources_any))}"
    if nowhere := marks(answer["text"]) - citation_numbers(answer):
        return f"has marks that lead nowhere: {sorted(nowhere)}"
    return "cites nothing" if uncited(answer) else None


def cited_originals(answer: JsonAnswer) -> set[str]:
    return {citation["original"] for citation in answer["citations"] if citation["original"]}


def uncited(answer: JsonAnswer) -> bool:
    """Whether this is an answer, not a refusal, in which no mark leads to a citation."""
    return not answer["refused"] and not citation_numbers(answer) & marks(answer["text"])


def citation_numbers(answer: JsonAnswer) -> set[int]:
    return {citation["number"] for citation in answer["citations"]}


def citation_recall(answers: Iterable[JsonAnswer]) -> Rate:
    """Return the citation recall after ALCE (Gao et al. 2023): the share of claims with a mark that leads to a citation."""
    answered = [answer for answer in answers if not answer["refused"]]
    return count(
        bool(marks(claim) & citation_numbers(answer)) for answer in answered for claim in claims(answer["text"])
    )


def citation_precision(answers: Iterable[JsonAnswer]) -> Rate:
    """Return the citation precision after ALCE: the share of citations whose words support their claim."""
    return count(citation["support"] >= SUPPORTED for answer in answers for citation in answer["citations"])


def exactness(answers: Iterable[JsonAnswer]) -> Rate:
    """Return the share of citations whose quote stands word for word at their offsets in the document."""
    return count(bool(citation["exact"]) for answer in answers for citation in answer["citations"])


def is_exact(citation: JsonCitation, text: str) -> bool:
    """Whether a quote is exactly the document text at its offsets."""
    start, end = citation["start"], citation["end"]
    return bool(0 <= start < end and text[start:end] == citation["quote"])


def false_answers(asked: Iterable[Asked]) -> Rate:
    """Return the share of unanswerable questions that were answered anyway."""
    return count(not one.answer["refused"] for one in asked if one.question.refused)


def false_refusals(asked: Iterable[Asked]) -> Rate:
    return count(one.answer["refused"] for one in asked if not one.question.refused)


def passed(asked: Iterable[Asked]) -> Rate:
    return count(failure(one.question, one.answer) is None for one in asked)


def passed_by_kind(asked: Sequence[Asked]) -> dict[str, Rate]:
    rates = {kind: passed(one for one in asked if one.question.kind == kind) for kind in KINDS}
    return {kind: rate for kind, rate in rates.items() if rate.total}


def wattbot_score(asked: Sequence[Asked]) -> float:
    """0.75 value + 0.15 Jaccard of cited against expected sources + 0.10 recall on unanswerables, as in WattBot 2025.

    An answer to an unanswerable question earns nothing in any part. If no unanswerable question was asked, the other two
    parts are scaled up to 1. Raises ValueError if no question was asked at all.
    """
    if not asked:
        raise ValueError("no question was asked")
    value = sum(value_credit(one.question, one.answer) for one in asked) / len(asked)
    sources = sum(sources_credit(one.question, one.answer) for one in asked) / len(asked)
    false = false_answers(asked)
    score = VALUE_WEIGHT * value + SOURCES_WEIGHT * sources
    return score + REFUSAL_WEIGHT * (1 - false.share) if false.total else score / (VALUE_WEIGHT + SOURCES_WEIGHT)


def value_credit(question: GoldenQuestion, answer: JsonAnswer) -> float:
    """Return 1 for the right value or, if the question has none, the right letters and patterns; else 0.

    An unanswerable question earns 1 for a refusal.
    """
    if question.refused or answer["refused"]:
        return float(question.refused and answer["refused"])
    if question.value is not None:
        return float(states_value(answer["text"], *question.value))
    return float(not _failed_choices(question, answer) and not _failed_patterns(question, answer))


def sources_credit(question: GoldenQuestion, answer: JsonAnswer) -> float:
    """Return the Jaccard overlap of cited and expected sources.

    Of `sources_any`, those that are cited count as expected; if none is cited, one of them does. An unanswerable question
    earns 1 for a refusal.
    """
    if question.refused or answer["refused"]:
        return float(question.refused and answer["refused"])
    cited = cited_originals(answer)
    alternatives = (question.sources_any & cited) or frozenset(sorted(question.sources_any)[:1])
    expected = question.sources | alternatives
    return len(cited & expected) / len(cited | expected) if cited | expected else 0.0


def report(title: str, asked: Sequence[Asked]) -> str:
    """Return the totals as text; no single question is shown, so this is safe for held-out questions."""
    answers = [one.answer for one in asked]
    rows = [*passed_by_kind(asked).items(), ("all", passed(asked))]
    shares = {
        "false answers to unanswerables": false_answers(asked),
        "refusals of answerables": false_refusals(asked),
        "quotes exact": exactness(answers),
        "answers without citation": count(uncited(answer) for answer in answers if not answer["refused"]),
        "citation recall": citation_recall(answers),
        "citation precision": citation_precision(answers),
    }
    lines = [_row(f"passed, {name}", rate) for name, rate in rows] + [_row(*share) for share in shares.items()]
    return "\n".join([title, *lines, f"  {'score after WattBot':32}{wattbot_score(asked):.3f}"])


def _row(name: str, rate: Rate) -> str:
    low, high = rate.interval
    return f"  {name:32}{rate.share:.3f}  {rate.hits:4} of {rate.total:<4}  95 %: {low:.3f} to {high:.3f}"


# --- what an answer's text says


def marks(text: str) -> set[int]:
    """Return the numbers in all citation marks: `[1]`, `[1, 7]` and `[2-4]` alike; `[0]` gives 0, which leads nowhere."""
    return {number for inside in MARK.findall(text) for number in marked_numbers(inside)}


def sentences(text: str) -> list[str]:
    """Split a text into sentences, list items and table rows, without headings and table headers.

    A mark after the full stop belongs to the sentence before it.
    """
    text = TABLE_HEAD_OR_HEADING.sub("", text)
    text = re.sub(rf"([.!?])((?:\s*{MARK.pattern.replace('(', '(?:', 1)})+)", r"\2\1", text)
    pieces = [piece.strip() for line in text.splitlines() for piece in SENTENCE_END.split(line)]
    return [piece for piece in pieces if piece]


def claims(text: str) -> list[str]:
    """Return the sentences that need a citation.

    These are all except those of at most two words (a bare letter or name), lead-ins that end in a colon, and refusals.
    """
    said = [piece for piece in sentences(text) if len(re.findall(r"\w{2,}", piece)) > 2 and piece[-1] != ":"]
    return [piece for piece in said if not piece.rstrip(" *_").endswith(REFUSAL)]


def states_value(text: str, number: float, unit: str) -> bool:
    """Whether the first sentence with a quantity of this dimension states this value, within 0.1 %.

    Later sentences do not count: a text that recites every figure it has found has not answered.
    """
    (wanted,) = quantities(f"{number:.12g} {unit}")
    for sentence in _naming(sentences(MARK.sub(" ", text)), unit):
        if figures := [figure for figure in quantities(sentence) if _kind(figure) == _kind(wanted)]:
            return any(isclose(figure.low, wanted.low, rel_tol=TOLERANCE) for figure in figures)
    return False


def _kind(figure: Quantity) -> str:
    """Return the dimension of a quantity; bare numbers are counts, even if they may be years or parameters."""
    return "count" if figure.dimension in ("date", "parameters") else figure.dimension


def _naming(pieces: Sequence[str], unit: str) -> Sequence[str]:
    """Return the sentences that name a counted noun, or all if none does or if `unit` is a unit of measurement.

    The noun may stand apart from its figure, as in a table row.
    """
    if unit.lower() in UNITS:
        return pieces
    noun = unit.lower().rstrip("s")
    return [piece for piece in pieces if noun in piece.lower()] or pieces
