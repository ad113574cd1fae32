"""What a client is told when it gets no answer: a status and one sentence, in the format of OpenAI's errors."""

import logging
import traceback
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from uuid import uuid4

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chatbot.answer import ReaderError
from chatbot.deadline import OutOfTime
from chatbot.language.characters import shown
from ingest import CorpusError

log = logging.getLogger("wattwise.serve")
# How many innermost frames of a stack are logged; those that call them are the web framework's.
_FRAMES = 8
_KINDS = {
    HTTPStatus.UNAUTHORIZED: "authentication_error",
    HTTPStatus.FORBIDDEN: "permission_error",
    HTTPStatus.NOT_FOUND: "not_found_error",
}


class Failure(Exception):
    """A request that gets no answer; the text is for people, `code` for programs."""

    def __init__(
        self, status: HTTPStatus, text: str, code: str | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(shown(text))
        self.status = status
        self.code = code
        self.headers = dict(headers or {})

    @property
    def body(self) -> dict[str, Any]:
        kind = _KINDS.get(self.status, "server_error" if self.status >= 500 else "invalid_request_error")
        return {"error": {"message": str(self), "type": kind, "param": None, "code": self.code}}

    @property
    def response(self) -> JSONResponse:
        return JSONResponse(self.body, self.status, self.headers)


class ClientGone(Exception):
    """The client has disconnected, so nobody is answered."""


class Boundary:
    """ASGI middleware that catches every error; the server would log the texts of errors raised beyond it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def sending(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except ClientGone:
            return
        except Exception as error:
            failure = failure_of(error)
            if not started:
                await failure.response(scope, receive, send)


def failure_of(error: BaseException) -> Failure:
    """Return the failure to report for an error; an unexpected error is logged and reported with a fixed sentence."""
    match error:
        case Failure():
            return error
        case OutOfTime():
            return Failure(HTTPStatus.GATEWAY_TIMEOUT, str(error), "timeout", {"x-should-retry": "false"})
        case CorpusError():
            return Failure(HTTPStatus.SERVICE_UNAVAILABLE, str(error), "index_unavailable")
        case ReaderError():
            return Failure(HTTPStatus.BAD_REQUEST, str(error))
        case _:
            return _unforeseen(error)


def _unforeseen(error: BaseException) -> Failure:
    """Log an unexpected error without its text, which may quote a question, a document, or an address with a secret."""
    reference = uuid4().hex[:8]
    stack = "".join(traceback.format_tb(error.__traceback__, limit=-_FRAMES))
    log.error("a request failed (reference %s): %s\n%s", reference, type(error).__name__, stack)
    return Failure(
        HTTPStatus.INTERNAL_SERVER_ERROR,
        f"Something went wrong inside wattwise. The server's log has the details under {reference}.",
    )
