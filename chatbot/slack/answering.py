"""From a question on the queue to its last message: memory, stages, answer or failure, and what a process that died left."""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from uuid import uuid4

from chatbot.answer import Answer, ReaderError, Turn
from chatbot.deadline import OutOfTime
from chatbot.slack.attachments import read_file
from chatbot.slack.blocks import answer_messages
from chatbot.slack.delivery import CommandReply, ThreadReply, WayBack, is_limited, notice, seconds_to_wait
from chatbot.slack.desk import INTERRUPTED, Desk, check_ending
from chatbot.slack.events import Asked
from chatbot.slack.evidence import excerpts_of
from chatbot.slack.journal import described, failed, log, slack_code
from chatbot.slack.memory import ANSWER, NOTICE, history_of, mark_of, messages_after
from chatbot.slack.state import KeptAnswer, Reply, Work

FAILED = "Something went wrong on my side, and your question was not answered. Please ask again; the reference for whoever runs me is {}."
TOO_LONG = "This question takes me too long. Please ask something shorter."
NO_MEMORY = "The thread could not be read: this answer takes only your last message into account."
_STAGES = {
    "searching": "is searching the sources…",
    "reading": "is reading what it found…",
    "checking": "is checking every sentence against its source…",
}
_NO_MEMBER = ("not_in_channel", "channel_not_found")
_STARTED = "is reading the thread…"
# A question that has ended so many processes is not begun once more.
_MOST_ATTEMPTS = 2
# Seconds until it is begun again where something failed that nobody foresaw.
_AGAIN = 5.0
# Seconds between two looks whether an answer is still wanted.
_LOOK = 0.2


def answer_question(desk: Desk, work: Work) -> None:
    """Answer, and where that fails say so in one fixed sentence: a question never goes without a last message."""
    try:
        _answer(desk, work)
    except Exception as error:
        failed("a question is begun again", error)
        if work.attempts <= _MOST_ATTEMPTS:
            desk.answers.later(partial(answer_question, desk, replace(work, attempts=work.attempts + 1)), _AGAIN)


def _answer(desk: Desk, work: Work) -> None:
    asked = work.asked
    way = _way_back(desk, asked, work.stream)
    if work.attempts and isinstance(way, ThreadReply) and _is_answered(desk, work, way):
        desk.state.finish(asked.key)
        return
    reply = work.reply
    if reply is None and work.attempts > _MOST_ATTEMPTS:
        reply = notice(INTERRUPTED)
    if reply is None:
        reply = _found(desk, asked, way)
    if reply is None:
        _leave(desk, asked, way)
    else:
        _deliver(desk, asked, way, reply)


def take_over(desk: Desk) -> None:
    """Hold what this process works on, and go on with what no other process holds any more."""
    desk.state.renew()
    for work in desk.state.take_over():
        log.warning("going on with a question that another process left")
        desk.answers.later(partial(answer_question, desk, work), 0.0)


def _way_back(desk: Desk, asked: Asked, stream: str = "") -> WayBack:
    if asked.thread:
        return ThreadReply(asked, desk.client, desk.hasty, desk.state, workers=desk.settings.workers, stream=stream)
    return CommandReply(asked)


def _is_answered(desk: Desk, work: Work, way: ThreadReply) -> bool:
    """Look into the thread how far a process came that died: it may have sent all of it, or begun a stream that nobody noted."""
    try:
        ours = [m for m in messages_after(work.asked, desk.client) if mark_of(m, desk.me)[0]]
    except Exception as error:
        log.warning("a thread could not be read: %s", described(error))
        return False
    sent = [str(m["ts"]) for m in ours if mark_of(m, desk.me)[2] == work.asked.key]
    if sent and (work.reply is None or len(sent) >= len(work.reply.messages)):
        return True
    way.resume(sent)
    if work.stream in sent:
        way.continue_stream("")
    unmarked = [str(m["ts"]) for m in ours if not m.get("metadata")]
    if not work.stream and not sent:
        lost = next((ts for ts in unmarked if not desk.state.is_streamed(work.asked.channel, ts)), "")
        way.continue_stream(lost)
    return False


def _found(desk: Desk, asked: Asked, way: WayBack) -> Reply | None:
    """What is to be said; None where nobody waits for it, or nothing is to be said to what nobody asked the app."""
    try:
        answer = _read(desk, asked, way)
        if answer is not None:
            return _answered(desk, asked, answer)
        said = INTERRUPTED if desk.stopping.is_set() else ""
    except OutOfTime:
        said = TOO_LONG
    except _NothingToRead as error:
        said = str(error)
    except Exception as error:
        check_ending(desk, error)
        said = FAILED.format(failed("a question was not answered", error))
    return notice(said) if said and not asked.overheard else None


def _answered(desk: Desk, asked: Asked, answer: Answer) -> Reply | None:
    if asked.overheard and (answer.refused or not answer.citations):
        return None
    generation = desk.bot_of(asked.channel).index.generation
    kept = KeptAnswer(uuid4().hex, asked.text, answer.text, answer.model, generation, excerpts_of(answer))
    reply = Reply(kept.id, ANSWER, answer_messages(answer, kept.id, generation, desk.settings.app_url))
    try:
        # Kept first: a vote may come before the last call returns, and what is finished is not lost with this process.
        desk.state.keep(kept)
        desk.state.keep_reply(asked.key, reply)
    except ReaderError as error:
        failed("an answer was not kept", error)
    log.info("answered in %.2f s with %d citations", answer.seconds, len(answer.citations))
    return reply


def _read(desk: Desk, asked: Asked, way: WayBack) -> Answer | None:
    """The answer to a question in its thread; None when nobody waits for it any more."""
    ended = _watch(desk, asked)
    if ended():
        return None
    way.status(_STARTED if asked.thread != asked.ts else _STAGES["searching"])
    question, notes = _with_files(desk, asked)
    history, unread = _memory(desk, asked)
    notes += unread
    try:
        for event in desk.bot_of(asked.channel).stream(question, history, cancelled=ended):
            if ended():
                return None
            if event.answer is not None:
                return replace(event.answer, notice=" ".join(n for n in (event.answer.notice, *notes) if n))
            if event.kind == "stage":
                way.status(_STAGES.get(event.text, _STAGES["searching"]))
            else:
                way.write(event.text)
    except ReaderError:
        if ended():
            return None
        raise
    raise ReaderError("The reader gave no answer. Ask again.")


def _with_files(desk: Desk, asked: Asked) -> tuple[str, list[str]]:
    """The question with the text of the files that came with it, and what is to be said about those."""
    question, notes = asked.text, []
    for file in asked.files:
        room = desk.settings.longest_question - len(question)
        text, reason = read_file(file, str(desk.client.token), desk.settings.api_url, room)
        question = f"{question}\n\n{text}".strip()
        notes.append(f"{file.name} was not read: {reason}." if reason else f"{file.name} was read with the question.")
    if not question:
        raise _NothingToRead(" ".join(notes))
    return question, notes


class _NothingToRead(Exception):
    """A message of files alone, none of which was read; the text says why."""


def _memory(desk: Desk, asked: Asked) -> tuple[tuple[Turn, ...], list[str]]:
    try:
        return history_of(asked, desk.client, desk.me, desk.state), []
    except Exception as error:
        log.warning("a thread could not be read: %s", described(error))
        return (), [NO_MEMORY]


def _watch(desk: Desk, asked: Asked) -> Callable[[], bool]:
    """Says whether nobody waits for an answer any more: the process stops, or the answer was stopped, or another process has it."""
    looked, gone = 0.0, False

    def ended() -> bool:
        nonlocal looked, gone
        if not gone and time.monotonic() - looked > _LOOK:
            gone, looked = not _is_wanted(desk, asked), time.monotonic()
        return gone or desk.stopping.is_set()

    return ended


def _is_wanted(desk: Desk, asked: Asked) -> bool:
    try:
        return desk.state.is_wanted(asked.key)
    except ReaderError:
        # While the store cannot be read, the answer is finished.
        return True


def _leave(desk: Desk, asked: Asked, way: WayBack) -> None:
    """End without a word: the person has stopped the answer, another process has it, or nobody has asked."""
    try:
        if asked.overheard or desk.state.is_stopped(asked.key):
            if not asked.overheard:
                way.abandon()
            desk.state.finish(asked.key)
    except ReaderError as error:
        failed("what is not wanted any more was not ended", error)


def _deliver(desk: Desk, asked: Asked, way: WayBack, reply: Reply, tries: int = 0, *, in_turn: bool = False) -> None:
    """Send a reply; where Slack takes it only later, the queue brings it back then, and no worker waits."""
    again = partial(_deliver, desk, asked, way, reply)
    if not desk.stopping.is_set():
        if not _is_wanted(desk, asked):
            _leave(desk, asked, way)
            return
        if way.lane and not in_turn and (seconds := desk.turns.wait_for(way.lane)):
            desk.answers.later(partial(again, tries, in_turn=True), seconds)
            return
    try:
        sent = way.send(reply)
    except Exception as error:
        _deliver_otherwise(desk, asked, way, reply, tries, error)
        return
    try:
        for ts in sent:
            desk.state.posted(asked.channel, ts, asked.thread)
        desk.state.finish(asked.key)
    except ReaderError as error:
        failed("a reply was sent and not noted", error)


def _deliver_otherwise(desk: Desk, asked: Asked, way: WayBack, reply: Reply, tries: int, error: Exception) -> None:
    again = partial(_deliver, desk, asked, way, reply)
    seconds = seconds_to_wait(error, tries)
    if check_ending(desk, error) or (seconds is not None and desk.stopping.is_set()):
        # It stays in the store, for the next process.
        log.warning("a reply waits for the next start: %s", described(error))
    elif seconds is None and asked.reply_url and slack_code(error) in _NO_MEMBER and asked.thread:
        # A shortcut can be used where the app is no member; who used it then gets the answer alone.
        _deliver(desk, asked, CommandReply(asked), reply)
    elif seconds is None:
        reference = failed("a reply was not sent", error)
        if reply.kind == NOTICE:
            desk.state.finish(asked.key)
        else:
            _deliver(desk, asked, _way_back(desk, asked), notice(FAILED.format(reference)))
    elif is_limited(error) and way.lane:
        desk.turns.limited(way.lane, seconds)
        desk.answers.later(partial(again, tries, in_turn=True), desk.turns.wait_for(way.lane))
    elif is_limited(error):
        desk.answers.later(partial(again, tries, in_turn=True), seconds)
    else:
        log.info("a reply is sent again in %.0f s: %s", seconds, described(error))
        desk.answers.later(partial(again, tries + 1), seconds)
