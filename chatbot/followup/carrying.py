"""A part of an earlier question changed for what a follow-up says instead: another task, size, name, place or purpose."""

import re
from collections.abc import Mapping

from chatbot.names import Name, names
from chatbot.quantities import quantities
from chatbot.words import vocabulary

_METHOD = re.compile(r"\b(?:q?lora|peft|adapters?)\b", re.IGNORECASE)
_PLACED = re.compile(r"^(?P<preposition>for|on|in|at|with|under|during|over|from|per)\s+", re.IGNORECASE)


def bare(question: str) -> str:
    """A question without its closing mark."""
    return question.rstrip(" ?.!")


def with_size(question: str, fragment: str) -> str | None:
    """The question for a model of another size, where both give one."""
    before, new = ([q for q in quantities(text) if q.dimension == "parameters"] for text in (question, fragment))
    if not before or not new:
        return None
    size = new[-1].text if re.search(r"param", before[-1].text) else re.sub(r"[\s-]*param\w*$", "", new[-1].text)
    return question[: before[-1].start] + size + question[before[-1].end :]


def with_name(question: str, replacement: str, name: Name | None = None) -> str | None:
    """The question about other hardware: the last name of the same kind gives way; None where it has no name."""
    before = names(question)
    if not before:
        return None
    old = ([n for n in before if name and n.kind == name.kind] or list(before))[-1]
    replacement = re.sub(r"^(?:the|an?|for|with|on|of|in)\s+", "", replacement, flags=re.IGNORECASE)
    owns = "'s" if re.search(r"['’]s$", old.text) and not re.search(r"['’]s$", replacement) else ""
    after = owns + re.sub(
        r"^\s+(?:chips?|cards?|gpus?)\b", "", question[old.start + len(old.text) :], flags=re.IGNORECASE
    )
    return question[: old.start] + replacement + after


def with_task(question: str, fragment: str) -> str | None:
    """The question for another task; None where the fragment names no task."""
    tasks: Mapping[str, list[str]] = vocabulary()["tasks"]
    task = next((t for t in tasks if _written(t, fragment)), None)
    if task is None or _written(task, question):
        return None
    method, swapped = _METHOD.search(fragment), _swapped(question, task)
    if swapped is None:
        purpose = fragment if fragment.startswith("for ") else f"for {fragment}"
        return with_place(question, purpose) or question
    return f"{bare(swapped)} with {method.group()}?" if method else swapped


def _swapped(question: str, task: str) -> str | None:
    others = [w for t, written in vocabulary()["tasks"].items() if t != task for w in written if _written(t, question)]
    if not others:
        return None
    pattern = "|".join(re.escape(w) for w in sorted(others, key=len, reverse=True))
    return re.sub(rf"\b(?:{pattern})\b", task, question, flags=re.IGNORECASE)


def _written(task: str, text: str) -> bool:
    return any(re.search(rf"\b{re.escape(w)}\b", text, re.IGNORECASE) for w in vocabulary()["tasks"][task])


def with_place(question: str, fragment: str) -> str | None:
    """The question elsewhere: "on the other cluster" takes the place of "on Trainium", or is added; None for no place."""
    placed = _PLACED.match(fragment)
    if placed is None:
        return None
    old = list(re.finditer(rf"\b{placed['preposition']}\s+(?:[\w.-]+\s*){{1,3}}$", bare(question), re.IGNORECASE))
    start = old[-1].start() if old else len(bare(question))
    return f"{bare(question)[:start].rstrip()} {fragment}?"


def with_topic(question: str, topic: str, fragment: str) -> str | None:
    """The question about another thing than its topic: "What do savings plans save?"."""
    place = question.lower().find(topic.lower()) if topic else -1
    if place < 0:
        return None
    before = question[:place]
    if before.endswith(("the ", "a ", "an ")) and re.match(r"(?:the|an?)\s", fragment, re.IGNORECASE):
        before = re.sub(r"\b(?:the|an?)\s$", "", before, flags=re.IGNORECASE)
    return f"{before}{fragment}{question[place + len(topic) :]}"


def is_plural(subject: str) -> bool:
    """Whether a verb after this subject stands in the plural."""
    return bool(re.search(r"\band\b|[a-z]{2}(?<!s|u|i)s$", subject.strip())) and not subject.endswith(" series")
