"""What the pages share: the operator's settings, the open bots, and the stores of votes and conversations."""

import os
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from threading import Lock

import streamlit as st

from app.access import is_direct
from app.library import Limits
from app.streaming import hear_stop
from chatbot import Chatbot, FeedbackStore, ReaderError
from chatbot.answer import OFFLINE
from chatbot.app import AppSettings
from chatbot.history.conversations import ConversationStore
from chatbot.llm.models import ModelSettings
from chatbot.presentation.suggestions import starters
from chatbot.serve.settings import is_loopback
from chatbot.settings import Settings, settings_from
from chatbot.sizing import Facts
from chatbot.sizing.sizing import CORPUS
from chatbot.working import load
from ingest import CorpusError, Database, Place

_opening, _starting = Lock(), Lock()


@dataclass(frozen=True, slots=True)
class Operator:
    """This process's settings, and whether the visitor sits at this machine (`is_own_user`)."""

    common: Settings
    app: AppSettings
    is_own_user: bool

    @property
    def may_change(self) -> bool:
        """Whether the visitor may change the library.

        Only `wattwise ingest` changes one in a database: other machines do not have the files of this one.
        """
        return isinstance(self.common.index, Path) and self.app.may_change(self.is_own_user)

    @property
    def is_for_session(self) -> bool:
        """Whether files that a visitor adds are for this session only."""
        return isinstance(self.common.index, Path) and self.app.uploads == "session"

    @property
    def may_add(self) -> bool:
        return self.may_change or self.is_for_session

    @property
    def who_sees(self) -> str:
        """Say who can ask about the files that a visitor adds."""
        if self.is_for_session:
            return "Only you can ask about them, until this page is closed or reloaded. Neither they nor what is said from then on are kept."
        if self.is_own_user:
            return "Whoever opens this app can ask about them, and sees their names. They lie beside the index on this machine."
        return "Everybody who uses this app can ask about them, and sees their names."

    @property
    def may_name_models(self) -> bool:
        """Whether the visitor may type any model's name, which can start paid or remote calls."""
        return self.is_own_user

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.common.model, *self.app.models, OFFLINE)))

    @property
    def limits(self) -> Limits:
        return Limits(self.app.upload_megabytes * 1_000_000, self.app.upload_count)


def operator() -> Operator:
    """Return the settings that apply to this visitor. Raises ReaderError for an unreadable variable."""
    app = settings_from(os.environ, AppSettings, prefix="WATTWISE_APP_")
    here = is_loopback(st.get_option("server.address")) and not app.hosts and is_direct(st.context.headers)
    return Operator(settings_from(os.environ, Settings), app, here)


def bot_of(index: Place, model: str, passages: int = 0) -> Chatbot:
    """Return the bot for a model, opened once for all sessions. Raises CorpusError and ReaderError.

    `passages` is how many passages a language model reads before its first attempt; 0 keeps the operator's setting.
    """
    with _opening:  # so that two visitors at once do not open the same bot twice
        return _opened(index, model, model_settings(model, passages))


def model_settings(model: str, passages: int) -> ModelSettings:
    settings = settings_from(os.environ, ModelSettings)
    return replace(settings, passages=passages) if passages and model != OFFLINE else settings


@lru_cache(maxsize=16)
def _opened(index: Place, model: str, settings: ModelSettings) -> Chatbot:
    return Chatbot.open(index, model, settings)


def facts_of(index: Place) -> Facts:
    """Return the sizing facts of an index, or the shipped corpus's if the index lacks models or instances."""
    tables = load(bot_of(index, OFFLINE).index.snapshot())
    return tables.complete_facts or (_corpus_facts() if (CORPUS / "facts").is_dir() else tables.facts)


@cache
def _corpus_facts() -> Facts:
    return Facts.load_folder(CORPUS)


_votes = lru_cache(maxsize=4)(FeedbackStore)
_conversations = lru_cache(maxsize=4)(ConversationStore)


def feedback_store(index: Place) -> FeedbackStore | None:
    """Return the store of votes beside the index; None while it cannot be written, so that the page works without it."""
    try:
        return _votes(index)
    except ReaderError:
        return None


def conversation_store(index: Place) -> ConversationStore | None:
    """Return the store of conversations with the index; None while there is no index folder or it cannot be written."""
    try:
        return _conversations(index) if isinstance(index, Database) or index.is_dir() else None
    except ReaderError:
        return None


def warm_up(index: Place) -> None:
    """Prepare what the first visitor would wait for: the bot, its encoders and the starter questions.

    Does nothing if there is no index.
    """
    with suppress(CorpusError, ReaderError):
        starters_of(index, bot_of(index, OFFLINE).index.generation)


def starters_of(index: Place, generation: int) -> tuple[str, ...]:
    """Return the starter questions for an index's generation. Visitors who come at once wait for one search."""
    with _starting:
        return _starters(index, generation)


@lru_cache(maxsize=4)
def _starters(index: Place, generation: int) -> tuple[str, ...]:
    bot = bot_of(index, OFFLINE)
    return starters(bot.index, lambda question: not bot.ask(question).refused)


@lru_cache(maxsize=2_000)
def is_answered(index: Place, generation: int, question: str) -> bool:
    """Return whether the offline reader finds an answer in an index's generation."""
    return not bot_of(index, OFFLINE).ask(question, cancelled=hear_stop).refused
