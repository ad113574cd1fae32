"""What all requests share: the two chatbots over one index, and the bounded work."""

from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from http import HTTPStatus

from starlette.requests import Request

from chatbot.answer import OFFLINE, Answer, ReaderError, Turn
from chatbot.bot import Chatbot, Event
from chatbot.deadline import Cancelled, OutOfTime
from chatbot.serve.failures import Failure
from chatbot.serve.metrics import Metrics
from chatbot.serve.settings import ServeSettings
from chatbot.serve.work import Work, last, while_there

# The names of the models: the reader that the server was started with, and the one that needs no language model.
NAME, OFFLINE_NAME = "wattwise", "wattwise-offline"
MODELS = (NAME, OFFLINE_NAME)


class Service:
    """A chatbot as a server offers it; its index is opened once, and newer generations are picked up automatically."""

    def __init__(self, bot: Chatbot, settings: ServeSettings) -> None:
        self.settings = settings
        self.index = bot.index
        self.work = Work(at_once=settings.at_once, waiting=settings.waiting, seconds=settings.seconds)
        self.metrics = Metrics()
        self._bots = {NAME: bot, OFFLINE_NAME: bot if bot.model == OFFLINE else Chatbot(bot.index)}

    async def answering(self, question: str, history: Sequence[Turn], model: str) -> AsyncGenerator[Event, None]:
        """Yield what `Chatbot.stream` does and count the answer; raises Failure for a model that is not in `MODELS`."""
        check_name(model)
        steps = self.work.steps(lambda is_over: _events(self._bots[model], question, history, is_over))
        async with aclosing(steps) as events:
            async for event in events:
                if event.answer is not None:
                    self.metrics.count(event.answer)
                yield event


async def answer_of(request: Request, events: AsyncGenerator[Event, None]) -> Answer:
    """Return the answer at the end of some events; raises ClientGone if the client disconnects before."""
    found = (await while_there(request, last(events))).answer
    assert found is not None
    return found


def check_name(model: str) -> None:
    """Raise Failure for a name that is not in `MODELS`."""
    if model not in MODELS:
        text = f"There is no such model here. Use {' or '.join(MODELS)}."
        raise Failure(HTTPStatus.NOT_FOUND, text, "model_not_found")


def _events(bot: Chatbot, question: str, history: Sequence[Turn], is_over: Callable[[], bool]) -> Iterator[Event]:
    begun = False
    try:
        for event in bot.stream(question, history, cancelled=is_over):
            begun = True
            yield event
    except (Cancelled, OutOfTime):
        raise
    except ReaderError as error:
        # After the first event it is the language model that fails. Its operator must fix that; a retry does not help.
        if not begun or bot.model == OFFLINE:
            raise
        raise Failure(HTTPStatus.BAD_GATEWAY, str(error), "model_failed", {"x-should-retry": "false"}) from error
