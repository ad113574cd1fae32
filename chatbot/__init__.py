"""From a question to a short, true, cited answer."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chatbot.answer import REFUSAL, Answer, Citation, Footprint, Passage, ReaderError, Turn, Usage
    from chatbot.bot import Chatbot, Event
    from chatbot.deadline import Cancelled
    from chatbot.history.feedback import Feedback, FeedbackStore
    from chatbot.language.characters import shown
    from chatbot.llm.models import ModelSettings
    from chatbot.llm.scripted import ScriptedChatModel
    from chatbot.retrieval.hybrid_retriever import HybridRetriever
    from chatbot.retrieval.retriever import retrieve

_HOMES = {
    "REFUSAL": "answer", "Answer": "answer", "Citation": "answer", "Footprint": "answer", "Passage": "answer", "ReaderError": "answer", "Turn": "answer", "Usage": "answer",
    "Cancelled": "deadline", "shown": "language.characters", "Chatbot": "bot", "Event": "bot", "Feedback": "history.feedback", "FeedbackStore": "history.feedback", "retrieve": "retrieval.retriever", "HybridRetriever": "retrieval.hybrid_retriever",
    "ModelSettings": "llm.models", "ScriptedChatModel": "llm.scripted",
}  # fmt: skip
__all__ = [
    "REFUSAL",
    "Answer",
    "Cancelled",
    "Chatbot",
    "Citation",
    "Event",
    "Feedback",
    "FeedbackStore",
    "Footprint",
    "HybridRetriever",
    "ModelSettings",
    "Passage",
    "ReaderError",
    "ScriptedChatModel",
    "Turn",
    "Usage",
    "retrieve",
    "shown",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'chatbot' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"chatbot.{_HOMES[name]}"), name)
