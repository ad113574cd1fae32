"""From a question on the queue to its last message: memory, stages, answer or failure."""

from uuid import uuid4

from chatbot.answer import Answer, ReaderError
from chatbot.deadline import OutOfTime
from chatbot.slack.blocks import answer_messages, plain_messages
from chatbot.slack.delivery import CommandReply, Reply, ThreadReply
from chatbot.slack.desk import INTERRUPTED, Desk, retries
from chatbot.slack.events import Asked
from chatbot.slack.evidence import excerpts_of
from chatbot.slack.journal import described, failed, log, slack_code
from chatbot.slack.memory import history_of
from chatbot.slack.state import KeptAnswer

FAILED = "Something went wrong on my side, and your question was not answered. Please ask again; the reference for whoever runs me is {}."
TOO_LONG = "This question takes me too long. Please ask something shorter."
_STAGES = {
    "searching": "is searching the sources…",
    "reading": "is reading what it found…",
    "checking": "is checking every sentence against its source…",
}
_NO_MEMBER = ("not_in_channel", "channel_not_found")
_STARTED = "is reading the thread…"


def answer_question(desk: Desk, asked: Asked) -> None:
    """Answer, and where that fails say so in one fixed sentence: a question never goes without a last message."""
    reply = _reply(desk, asked)
    try:
        answer = _read(desk, asked, reply)
        if answer is not None:
            _send(desk, asked, reply, answer)
        elif _silenced(desk, asked):
            reply.abandon()
        else:
            reply.say(INTERRUPTED)
    except OutOfTime:
        reply.say(TOO_LONG)
    except Exception as error:
        _apologise(asked, reply, failed("a question was not answered", error))
    finally:
        desk.state.finish(asked.key)


def _reply(desk: Desk, asked: Asked) -> Reply:
    if asked.thread:
        return ThreadReply(asked, desk.client, desk.hasty)
    return CommandReply(asked, retries())


def _read(desk: Desk, asked: Asked, reply: Reply) -> Answer | None:
    """The answer to a question in its thread; None when nobody waits for it any more."""
    if _ended(desk, asked):
        return None
    reply.status(_STARTED if asked.thread != asked.ts else _STAGES["searching"])
    history = history_of(asked, desk.client, desk.me, desk.state)
    try:
        for event in desk.bot.stream(asked.text, history, cancelled=lambda: _ended(desk, asked)):
            if _ended(desk, asked):
                return None
            if event.answer is not None:
                return event.answer
            if event.kind == "stage":
                reply.status(_STAGES.get(event.text, _STAGES["searching"]))
            else:
                reply.write(event.text)
    except ReaderError:
        if _ended(desk, asked):
            return None
        raise
    raise ReaderError("The reader gave no answer. Ask again.")


def _ended(desk: Desk, asked: Asked) -> bool:
    """Whether nobody waits for an answer: the process stops, or the thread was told to be left alone."""
    return desk.stopping.is_set() or _silenced(desk, asked)


def _silenced(desk: Desk, asked: Asked) -> bool:
    return bool(asked.thread) and desk.state.thread_state(asked.channel, asked.thread) == "silenced"


def _send(desk: Desk, asked: Asked, reply: Reply, answer: Answer) -> None:
    generation = desk.bot.index.generation
    kept = KeptAnswer(uuid4().hex, asked.text, answer.text, answer.model, generation, excerpts_of(answer))
    # Kept first: a vote may come before the last call returns.
    desk.state.keep(kept)
    sent = _deliver(asked, reply, answer, kept)
    for ts in sent:
        desk.state.posted(asked.channel, ts, asked.thread)
    log.info("answered in %.2f s with %d citations, %d messages", answer.seconds, len(answer.citations), len(sent))


def _deliver(asked: Asked, reply: Reply, answer: Answer, kept: KeptAnswer) -> list[str]:
    messages, plain = answer_messages(answer, kept.id, kept.generation), plain_messages(answer)
    try:
        return reply.answer(messages, plain, kept.id)
    except Exception as error:
        # A shortcut can be used where the app is no member; who used it then gets the answer alone.
        if not asked.reply_url or slack_code(error) not in _NO_MEMBER:
            raise
        return CommandReply(asked, retries()).answer(messages, plain, kept.id)


def _apologise(asked: Asked, reply: Reply, reference: str) -> None:
    try:
        reply.say(FAILED.format(reference))
    except Exception as error:
        log.error("the failure %s could not be told to who asked: %s", reference, described(error))
