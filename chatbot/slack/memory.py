"""The thread serves as memory: its newest messages as the turns of a conversation."""

from itertools import islice
from typing import TYPE_CHECKING, Final

from chatbot.answer import Turn
from chatbot.slack.blocks import SOURCES
from chatbot.slack.escaping import plain
from chatbot.slack.events import Asked, Identity, Payload, question_in, says_stop, written_by_person
from chatbot.slack.state import SlackState

if TYPE_CHECKING:
    from slack_sdk import WebClient

# Metadata event types of our own messages: an answer, its continuation, and everything else.
ANSWER: Final = "wattwise_answer"
CONTINUED = "wattwise_continued"
NOTICE: Final = "wattwise_notice"
_PAGE = 200
_MOST_PAGES = 50
_MOST_TURNS = 20
# Slack pages a thread only from its oldest end. Of a long thread, read ever larger windows before the question, in seconds.
_WINDOWS = (600.0, 3600.0, 86_400.0, 30 * 86_400.0)


def history_of(asked: Asked, client: "WebClient", me: Identity, state: SlackState) -> tuple[Turn, ...]:
    """Return a thread's turns before a question, oldest first; an unanswered remark is a turn without an answer."""
    if asked.thread in ("", asked.ts):
        return ()
    turns: list[Turn] = []
    for message in _newest(asked, client):
        _add(message, turns, me, state)
    return tuple(turns[-_MOST_TURNS:])


def _newest(asked: Asked, client: "WebClient") -> list[Payload]:
    """Return the messages before the question, oldest first: all if they fit on one page, else enough of the newest."""
    found, is_whole = _messages(asked, client, pages=1, latest=asked.ts)
    for window in () if is_whole else _WINDOWS:
        found, _ = _messages(asked, client, latest=asked.ts, oldest=f"{float(asked.ts) - window:.6f}")
        if len(found) > 2 * _MOST_TURNS:
            break
    # Timestamps are seconds and microseconds with a fixed number of digits, so they compare correctly as strings.
    return [message for message in found if str(message.get("ts", "")) < asked.ts]


def messages_after(asked: Asked, client: "WebClient") -> list[Payload]:
    """Return the thread's messages after the question."""
    found, _ = _messages(asked, client, oldest=asked.ts)
    return [message for message in found if str(message.get("ts", "")) > asked.ts]


def _messages(asked: Asked, client: "WebClient", *, pages: int = _MOST_PAGES, **bounds: str) -> tuple[list[Payload], bool]:
    """Return a thread's messages within the bounds, and whether these are all of them."""
    response = client.conversations_replies(
        channel=asked.channel, ts=asked.thread, inclusive=True, limit=_PAGE, include_all_metadata=True, **bounds
    )
    # Iterating over the response makes the SDK fetch further pages.
    found = [message for page in islice(response, pages) for message in page.get("messages") or []]
    return found, not (response.get("response_metadata") or {}).get("next_cursor")


def _add(message: Payload, turns: list[Turn], me: Identity, state: SlackState) -> None:
    kind, answer_id, _ = mark_of(message, me)
    text = str(message.get("text") or "")
    if kind == ANSWER:
        kept = state.kept(answer_id)
        question = kept.question if kept else ""
        if turns and not turns[-1].answer and question in ("", turns[-1].question):
            question = turns.pop().question
        turns.append(Turn(question, kept.text if kept else plain(text.partition(SOURCES)[0])))
    elif kind == CONTINUED and turns and not state.kept(answer_id):
        turns[-1] = Turn(turns[-1].question, f"{turns[-1].answer}\n{plain(text.partition(SOURCES)[0])}")
    elif not kind and written_by_person({**message, "edited": None}, me):
        question = question_in(text, me)
        if question and not says_stop(question):
            turns.append(Turn(question, ""))


def mark_of(message: Payload, me: Identity) -> tuple[str, str, str]:
    """Return the kind of one of our messages, the id of its reply and the key of its question.

    All three are empty for anybody else's message, whatever metadata it has.
    """
    if not me.bot or message.get("bot_id") != me.bot:
        return "", "", ""
    metadata = message.get("metadata") or {}
    payload = metadata.get("event_payload") or {}
    kind = str(metadata.get("event_type") or NOTICE)
    return kind, str(payload.get("answer_id") or ""), str(payload.get("key") or "")
