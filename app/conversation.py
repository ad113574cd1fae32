"""The visitor's conversation: its exchanges, the new submission, and its storage."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import cast
from uuid import uuid4

import streamlit as st
from pydantic import TypeAdapter, ValidationError

from app.access import visitor_of
from app.library import Added
from app.own_files import own_copy
from app.resources import conversation_store, operator
from chatbot import Answer, ReaderError, Turn
from chatbot.history.conversations import Conversation, ConversationStore, self_contained
from chatbot.sizing import Workload

# A follow-up depends on the latest turns; older ones only cost time and tokens.
_REMEMBERED = 12
# A longer question would not fit into an address.
_LONGEST_LINK = 1_000


@dataclass(frozen=True, slots=True)
class Submission:
    """What the visitor sent and the page has not handled yet: a question, files (name and bytes), or both."""

    question: str
    files: tuple[tuple[str, bytes], ...] = ()


@dataclass(frozen=True, slots=True)
class Exchange:
    """One question and its outcome: an answer, a problem in words, or the partial text of a stopped answer."""

    id: str
    question: str
    answer: Answer | None = None
    partial: str = ""
    problem: str = ""
    added: tuple[Added, ...] = ()
    updated: str = ""
    next_questions: tuple[str, ...] = ()
    voted: bool | None = None
    commented: bool = False


def exchanges() -> list[Exchange]:
    """Return the exchanges of this conversation, oldest first."""
    return cast(list[Exchange], st.session_state.setdefault("exchanges", []))


def begin(question: str) -> Exchange:
    """Add an exchange; until it is settled it counts as stopped."""
    exchange = Exchange(uuid4().hex[:12], question)
    exchanges().append(exchange)
    st.session_state.setdefault("conversation", uuid4().hex)
    if own_copy():  # a session with its own files is not saved, and a reload does not ask its question again
        return exchange
    if len(question) <= _LONGEST_LINK:
        st.query_params["q"] = question
    st.query_params["chat"] = st.session_state["conversation"]
    keep()
    return exchange


def settle(exchange: Exchange, **changes: object) -> Exchange:
    """Apply changes to the current version of an exchange, put the result in its place, and return it."""
    found = exchanges()
    now = next((each for each in found if each.id == exchange.id), exchange)
    changed = replace(now, **changes)  # type: ignore[arg-type]
    found[:] = [changed if each.id == changed.id else each for each in found]
    return changed


def history(found: Sequence[Exchange]) -> list[Turn]:
    """Return the latest turns, on which a follow-up may depend."""
    return [Turn(e.question, e.answer.text) for e in found if e.answer is not None][-_REMEMBERED:]


def submit(question: str, files: Sequence[tuple[str, bytes]] = (), instead_of: str = "") -> None:
    """Submit a question and files to the next run of the script.

    The exchange with the id `instead_of`, and everything after it, is deleted.
    """
    if question.strip() or files:
        found = exchanges()
        del found[next((place for place, e in enumerate(found) if e.id == instead_of), len(found)) :]
        st.session_state["submission"] = Submission(question.strip(), tuple(files))


def take_submission() -> Submission | None:
    """Return what was submitted, once.

    What the page's address names is taken once too: a conversation of this visitor is opened, else a question is asked.
    """
    found = st.session_state.pop("submission", None)
    linked, kept = st.query_params.get("q", ""), st.query_params.get("chat", "")
    if found is None and "linked" not in st.session_state and not (kept and open_conversation(kept)) and linked.strip():
        found = Submission(linked.strip())
    st.session_state["linked"] = True
    return cast(Submission | None, found)


def restart() -> None:
    """Begin a new conversation; the previous one stays saved."""
    st.session_state["exchanges"] = []
    st.session_state["linked"] = True
    for name in ("submission", "conversation", "editing", "shown", "self_contained", "html"):
        st.session_state.pop(name, None)
    for name in ("q", "chat"):
        st.query_params.pop(name, None)


def visitor() -> str:
    """Return who asks and votes: the signed-in email address, else the browser's cookie, else a random id of the session."""
    if st.user.get("is_logged_in") and (address := st.user.get("email")):
        return str(address)
    return visitor_of(st.context.cookies) or cast(str, st.session_state.setdefault("visitor", uuid4().hex))


def conversations() -> tuple[Conversation, ...]:
    store = _store()
    with suppress(ReaderError):
        return store.all(visitor()) if store else ()
    return ()


def keep() -> None:
    """Save the conversation as it is. If it cannot be saved, it goes on unsaved."""
    store, found = _store(), exchanges()
    if store is None or not found or own_copy():
        return
    short = st.session_state.setdefault("self_contained", {})
    for e in found:
        if e.answer and e.id not in short:
            short[e.id] = self_contained(e.answer)
    whole = [replace(e, answer=short.get(e.id)) for e in found]
    title = found[0].question or ", ".join(added.given for added in found[0].added) or "Files"
    with suppress(ReaderError):
        store.save(visitor(), st.session_state["conversation"], title, _written().dump_json(whole).decode())


def open_conversation(id: str) -> bool:
    """Open a conversation of this visitor; False if there is none with this id that can be read."""
    found = _read(id)
    if not found:
        return False
    restart()
    st.session_state.update(exchanges=found, conversation=id)
    st.query_params["chat"] = id
    return True


def rename(id: str, title: str) -> None:
    if (store := _store()) and title.strip():
        store.rename(visitor(), id, title)


def delete(id: str) -> None:
    if store := _store():
        store.delete(visitor(), id)
    if st.session_state.get("conversation") == id:
        restart()


def exported(id: str) -> list[Answer]:
    """Return the answers of a saved conversation."""
    return [e.answer for e in _read(id) if e.answer is not None]


def _read(id: str) -> list[Exchange]:
    store = _store()
    # A conversation saved by another version may have another format: treat it as missing.
    with suppress(ReaderError, ValidationError):
        if store and (text := store.load(visitor(), id)):
            return _written().validate_json(text)
    return []


def _store() -> ConversationStore | None:
    return conversation_store(operator().common.index)


@cache
def _written() -> TypeAdapter[list[Exchange]]:
    adapter = TypeAdapter(list[Exchange])
    adapter.rebuild(_types_namespace={"Workload": Workload})
    return adapter
