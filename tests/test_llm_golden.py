"""The golden questions through the chain, with a scripted model that answers from its passages (see golden_chain.py)."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from golden_chain import score

from chatbot import Chatbot
from chatbot.answer import OFFLINE
from chatbot.exam.golden import load_questions
from chatbot.exam.golden_scoring import Asked, exactness, failure, false_answers

pytestmark = pytest.mark.evaluation
GOLDEN = Path(__file__).resolve().parent / "golden" / "tuned.jsonl"


@pytest.fixture(scope="module")
def asked(bot: Chatbot) -> dict[str, list[Asked]]:
    """Scores for every 16th answerable question and every 4th unanswerable one."""
    questions = load_questions(GOLDEN)
    slice_of_all = [q for q in questions if not q.refused][::16] + [q for q in questions if q.refused][::4]
    return score(bot.index, slice_of_all)


def passes(asked: Sequence[Asked]) -> dict[str, bool]:
    return {one.question.id: failure(one.question, one.answer) is None for one in asked}


def test_the_chain_passes_what_direct_verification_passes(asked: dict[str, list[Asked]]) -> None:
    # Unanswerable questions are left out, since table rows, which the chain has, may answer them; and what is computed
    # or looked up without the model.
    written = {one.question.id for one in asked["chain"] if one.answer["model"] != OFFLINE and not one.question.refused}
    assert len(written) > 20
    chain, direct = (passes([one for one in asked[name] if one.question.id in written]) for name in ("chain", "direct"))
    assert chain == direct
    assert sum(passes(asked["chain"]).values()) >= 0.65 * len(asked["chain"])


def test_a_second_attempt_does_not_raise_the_false_answers(asked: dict[str, list[Asked]]) -> None:
    assert false_answers(asked["chain"]).total >= 10
    assert false_answers(asked["chain"]).hits <= false_answers(asked["no second attempt"]).hits


def test_quotes_through_the_chain_are_exact(asked: dict[str, list[Asked]]) -> None:
    rate = exactness(one.answer for one in asked["chain"])
    assert rate.total > 50
    assert rate.hits == rate.total
