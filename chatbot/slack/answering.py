"""Process a question from the queue to its last message: files, thread history, stages, and the answer or a failure notice.

Questions that a dead process left unfinished are resumed here too.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from urllib.parse import urlsplit
from uuid import uuid4

from chatbot.answer import Answer, ReaderError, Turn
from chatbot.deadline import OutOfTime
from chatbot.reader.scope import is_for_sources
from chatbot.slack.blocks import answer_messages, excerpts_of
from chatbot.slack.delivery import CommandReply, ThreadReply, WayBack, notice
from chatbot.slack.desk import INTERRUPTED, Desk, check_ending
from chatbot.slack.events import Asked, SharedFile
from chatbot.slack.journal import described, failed, log, slack_code
from chatbot.slack.memory import ANSWER, NOTICE, history_of
from chatbot.slack.state import KeptAnswer, Reply, Work
from chatbot.slack.web import is_limited, seconds_to_wait
from ingest import CorpusError, read_document

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
# How often a question is restarted. One that keeps failing or ending its process is then given up.
_MOST_ATTEMPTS = 2
# Seconds before a restart after an unexpected error.
_AGAIN = 5.0
# The lowest probability that a prepared answer is the right one at which an overheard question gets it.
_LEAST_SURE = 0.25
# Seconds between checks whether an answer is still wanted.
_LOOK = 0.2
_SUFFIXES = (".txt", ".md", ".csv", ".json", ".pdf")
_MOST_BYTES = 5_000_000
_TOO_LARGE = f"it is larger than {_MOST_BYTES // 1_000_000} MB"
_FILE_SECONDS = 20.0


def answer_question(desk: Desk, work: Work) -> None:
    """Answer a question, or report the failure in one fixed sentence. If even that fails, restart the question later."""
    try:
        _answer(desk, work)
    except Exception as error:
        failed("a question is begun again", error)
        if work.attempts <= _MOST_ATTEMPTS:
            desk.answers.later(partial(answer_question, desk, replace(work, attempts=work.attempts + 1)), _AGAIN)


def take_over(desk: Desk) -> None:
    """Renew this process's leases, and resume questions whose lease another process has let expire."""
    desk.state.renew()
    for work in desk.state.take_over():
        log.warning("going on with a question that another process left")
        desk.answers.later(partial(answer_question, desk, work), 0.0)


def _answer(desk: Desk, work: Work) -> None:
    asked = work.asked
    way = ThreadReply(desk, asked, work.stream) if asked.thread else CommandReply(asked)
    if work.attempts and isinstance(way, ThreadReply) and way.resume(work):
        desk.state.finish(asked.key)
        return
    reply = work.reply
    if reply is None:
        reply = notice(INTERRUPTED) if work.attempts > _MOST_ATTEMPTS else _found(desk, asked, way)
    if reply is None:
        _leave(desk, asked, way)
    else:
        _deliver(desk, asked, way, reply)


def _found(desk: Desk, asked: Asked, way: WayBack) -> Reply | None:
    """Return the reply; None if it is no longer wanted, or if an overheard question has no answer or is not for us."""
    if asked.overheard and not is_for_sources(asked.text, desk.bot_of(asked.channel).index.snapshot()):
        return None
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
    # A question that was only overheard gets a real answer or none: no refusal, nothing merely near, no unsure guess.
    unsure = answer.confidence is not None and answer.confidence < _LEAST_SURE
    if asked.overheard and (answer.refused or not answer.citations or answer.near or unsure):
        return None
    generation = desk.bot_of(asked.channel).index.generation
    kept = KeptAnswer(uuid4().hex, asked.text, answer.text, answer.model, generation, excerpts_of(answer))
    reply = Reply(kept.id, ANSWER, answer_messages(answer, kept.id, generation, desk.settings.app_url))
    try:
        # Store before sending: a vote may come before the last call returns, and the answer must survive this process.
        desk.state.keep(kept)
        desk.state.keep_reply(asked.key, reply)
    except ReaderError as error:
        failed("an answer was not kept", error)
    log.info("answered in %.2f s with %d citations", answer.seconds, len(answer.citations))
    return reply


def _read(desk: Desk, asked: Asked, way: WayBack) -> Answer | None:
    """Return the answer to a question, with its thread as history; None if it is no longer wanted."""
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


def _watch(desk: Desk, asked: Asked) -> Callable[[], bool]:
    """Return a function that tells whether to abandon the answer.

    That is so when the process is stopping, when a person stopped the answer, or when another process took it over.
    """
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
        # If the store cannot be read, finish the answer anyway.
        return True


def _memory(desk: Desk, asked: Asked) -> tuple[tuple[Turn, ...], list[str]]:
    try:
        return history_of(asked, desk.client, desk.me, desk.state), []
    except Exception as error:
        log.warning("a thread could not be read: %s", described(error))
        return (), [NO_MEMORY]


class _NothingToRead(Exception):
    """A message that has only files, none of which could be read; the text says why."""


def _with_files(desk: Desk, asked: Asked) -> tuple[str, list[str]]:
    """Return the question with the text of its files appended, and a note on each file."""
    question, notes = asked.text, []
    for file in asked.files:
        before = f"{question}\n\n".lstrip()
        text, reason = _read_file(desk, file, longest=desk.settings.longest_question - len(before))
        question = f"{before}{text}".strip()
        notes.append(f"{file.name} was not read: {reason}." if reason else f"{file.name} was read with the question.")
    if not question:
        raise _NothingToRead(" ".join(notes))
    return question, notes


def _read_file(desk: Desk, file: SharedFile, *, longest: int) -> tuple[str, str]:
    """Return a file's text and no reason, or no text and the reason why the file was not read."""
    if not file.name.lower().endswith(_SUFFIXES):
        return "", "it is not text, Markdown, CSV, JSON or PDF"
    if file.size > _MOST_BYTES:
        return "", _TOO_LARGE
    try:
        text = read_document(file.name, _fetched(file.url, str(desk.client.token), desk.settings.api_url)).text.strip()
    except CorpusError as error:
        return "", str(error).partition(":")[0]
    except Exception as error:
        log.warning("a file was not read: %s", described(error))
        return "", "Slack did not give it to me; the app may lack the scope files:read"
    if len(text) > longest:
        return "", f"it has {len(text):,} characters, and I read at most {longest:,}"
    return text, ""


def _fetched(url: str, token: str, api_url: str) -> bytes:
    """Download a file. The token is sent only to Slack's own hosts."""
    import httpx

    host, own = urlsplit(url).hostname or "", urlsplit(api_url).hostname or ""
    if urlsplit(url).scheme != urlsplit(api_url).scheme or (host != own and not host.endswith(f".{own}")):
        raise ConnectionError("the file is not at Slack's")
    found = bytearray()
    with httpx.stream("GET", url, headers={"Authorization": f"Bearer {token}"}, timeout=_FILE_SECONDS) as response:
        response.raise_for_status()
        # Without the scope files:read, Slack answers with its sign-in page.
        if response.headers.get("content-type", "").startswith("text/html"):
            raise ConnectionError("Slack asks to sign in")
        for piece in response.iter_bytes():
            found += piece
            if len(found) > _MOST_BYTES:
                raise CorpusError(_TOO_LARGE)
    return bytes(found)


def _leave(desk: Desk, asked: Asked, way: WayBack) -> None:
    """End without a reply: a person stopped the answer, another process has it, or the question was only overheard."""
    try:
        if not asked.overheard:
            if not desk.state.is_stopped(asked.key):
                return
            way.abandon()
        desk.state.finish(asked.key)
    except ReaderError as error:
        failed("what is not wanted any more was not ended", error)


def _deliver(desk: Desk, asked: Asked, way: WayBack, reply: Reply, tries: int = 0, *, in_turn: bool = False) -> None:
    """Send a reply. If Slack accepts it only later, requeue it, so that no worker waits."""
    if not desk.stopping.is_set():
        if not _is_wanted(desk, asked):
            _leave(desk, asked, way)
            return
        if way.lane and not in_turn and (seconds := desk.turns.wait_for(way.lane)):
            desk.answers.later(partial(_deliver, desk, asked, way, reply, tries, in_turn=True), seconds)
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
        # The reply stays in the store for the next process.
        log.warning("a reply waits for the next start: %s", described(error))
    elif seconds is not None and is_limited(error):
        if way.lane:
            desk.turns.limited(way.lane, seconds)
            seconds = desk.turns.wait_for(way.lane)
        desk.answers.later(partial(again, tries, in_turn=True), seconds)
    elif seconds is not None:
        log.info("a reply is sent again in %.0f s: %s", seconds, described(error))
        desk.answers.later(partial(again, tries + 1), seconds)
    elif asked.reply_url and slack_code(error) in _NO_MEMBER and asked.thread:
        # A shortcut can be used in channels that the app has not joined; then only its user gets the answer.
        _deliver(desk, asked, CommandReply(asked), reply)
    else:
        reference = failed("a reply was not sent", error)
        if reply.kind == NOTICE:
            desk.state.finish(asked.key)
        else:
            fresh = ThreadReply(desk, asked) if asked.thread else CommandReply(asked)
            _deliver(desk, asked, fresh, notice(FAILED.format(reference)))
