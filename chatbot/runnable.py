"""The whole chain as LangChain knows it: it drops into anybody's program.

Apart from `bot`, because a process that only asks must not pay for the import of LangChain.
"""

from collections.abc import Callable, Iterator
from typing import Any, cast

from langchain_core.runnables import Runnable, RunnableConfig

from chatbot.answer import Answer, Turn
from chatbot.bot import Chatbot


class AnswerChain(Runnable[str | dict[str, object], Answer]):
    """A question, or {"question", "history"}, in; the Answer out. `stream` gives the text in pieces, then the Answer.

    `history` holds Turns or (question, answer) pairs. What follows it in a chain gets the Answer either way.
    """

    def __init__(self, bot: Chatbot, cancelled: Callable[[], bool] | None = None) -> None:
        self.bot, self.cancelled = bot, cancelled

    def invoke(self, input: str | dict[str, object], config: RunnableConfig | None = None, **kwargs: Any) -> Answer:
        return self._call_with_config(self._answered, input, config, run_type="chain")

    def stream(
        self, input: str | dict[str, object], config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Answer]:
        yield from self.transform(iter([input]), config)

    def transform(
        self, input: Iterator[str | dict[str, object]], config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Answer]:
        yield from self._transform_stream_with_config(input, self._streamed, config, run_type="chain")

    def _answered(self, input: str | dict[str, object]) -> Answer:
        return self.bot.ask(*_asked(input), cancelled=self.cancelled)

    def _streamed(self, inputs: Iterator[str | dict[str, object]]) -> Iterator[Answer]:
        *_, last = inputs
        for event in self.bot.stream(*_asked(last), cancelled=self.cancelled):
            if event.kind != "stage":
                # Pieces are text; what comes after this in a chain takes the last value, the Answer.
                yield event.answer or cast(Answer, event.text)


def _asked(input: str | dict[str, object]) -> tuple[str, list[Turn]]:
    if isinstance(input, str):
        return input, []
    turns = cast("list[Turn | tuple[str, str]]", input.get("history") or [])
    return str(input["question"]), [turn if isinstance(turn, Turn) else Turn(*turn) for turn in turns]
