"""Recognise the prompts by which chat clients ask a model for a title, tags or follow-up questions, and answer them."""

import json
import re
from collections.abc import Sequence
from textwrap import shorten

from chatbot.answer import OFFLINE, Answer

# Open WebUI gives the conversation in a tag, and an example of the JSON object that it wants.
_TASK = re.compile(r"\s*### Task:(?P<task>.*)<chat_history>", re.DOTALL)
_WANTED = re.compile(r"\{\s*\"(?P<key>\w+)\"\s*:\s*(?P<kind>[\"\[])")
# LibreChat asks for the title alone.
_TITLE = re.compile(
    r"\s*(?:please\s+)?(?:provide|generate|create|analyze this conversation)\b.{0,120}?\bconcise\b.{0,40}?\b(?:title|phrase)\b",
    re.IGNORECASE | re.DOTALL,
)
_ASKED = re.compile(r"^\s*(?:user|human):\s*(?P<question>\S.*)", re.IGNORECASE | re.MULTILINE)
_LONGEST_TITLE = 60


def task_answer(messages: Sequence[tuple[str, str]]) -> Answer | None:
    """Return the answer to a client's task, given the role and text of each message; None for a question.

    The title is the first question of the conversation; whatever else is wanted stays empty. Nothing is searched for.
    """
    prompts = [text for role, text in (*(m for m in messages if m[0] in ("system", "developer")), *messages[-1:])]
    prompt = next((text for text in prompts if _TASK.match(text) or _TITLE.match(text)), None)
    if prompt is None:
        return None
    asked = _ASKED.search("\n".join(text for _, text in messages))
    question = asked["question"] if asked else next((text for role, text in messages if role == "user" and text != prompt), "")
    # Brackets would be escaped where they look like links, which would break the JSON.
    title = shorten(re.sub(r"[<>\[\]]", "", question), _LONGEST_TITLE, placeholder="…") or "Question"
    text, task = title, _TASK.match(prompt)
    if task and (wanted := _WANTED.search(task["task"])):
        empty: str | list[str] = [] if wanted["kind"] == "[" else ""
        text = json.dumps({wanted["key"]: title if wanted["key"] == "title" else empty}, ensure_ascii=False)
    return Answer(question, text, (), (), False, (), OFFLINE, 0.0, small_talk=True)
