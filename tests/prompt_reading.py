"""What a scripted model sees in its messages: the passages and the keys to cite them by."""

import re
from collections.abc import Callable, Sequence

from langchain_core.messages import BaseMessage

from chatbot import Chatbot
from chatbot.llm.scripted import ScriptedChatModel

_PASSAGE = re.compile(r"<passage[^>]*>\n\[(\d+)\]\n(.*?)\n</passage>", re.DOTALL)

Script = Callable[[Sequence[BaseMessage]], str]


def passages_in(messages: Sequence[BaseMessage]) -> dict[int, str]:
    """The texts of the passages in a prompt, by key."""
    return {int(match[1]): match[2] for match in _PASSAGE.finditer(messages[-1].text)}


def key_of(messages: Sequence[BaseMessage], words: str) -> int:
    """The key of the first passage that contains the words, or 0."""
    return next((key for key, text in passages_in(messages).items() if words in text), 0)


def says(template: str) -> Script:
    """A script that replies with the template, each {words} replaced by the key of the passage that contains these words."""
    return lambda messages: re.sub(r"\{([^}]*)\}", lambda match: f"[{key_of(messages, match[1])}]", template)


def cited(bot: Chatbot, question: str, words: str) -> str:
    """A model's sentence that cites the passage containing its words, among the passages found for the question."""
    model = ScriptedChatModel(replies=[""])
    Chatbot(bot.index, model).ask(question)
    return f"{words} [{key_of(model.calls[0], words)}]."
