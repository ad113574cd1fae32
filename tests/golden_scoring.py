"""How tests report golden questions that failed."""

from collections.abc import Iterable

from chatbot.exam.golden_scoring import Asked, failure


def failures(asked: Iterable[Asked]) -> str:
    """List each failed question with the reason and the full answer."""
    failed = [(one, reason) for one in asked if (reason := failure(one.question, one.answer))]
    return "\n\n".join(
        f"{one.question.id}: {reason}\n  Q: {' // '.join(one.question.turns)}\n  A: {one.answer['text']}"
        for one, reason in failed
    )
