"""The whole server as an ASGI application."""

from collections.abc import Iterator
from http import HTTPStatus
from importlib.metadata import PackageNotFoundError, version

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

from chatbot.answer import ReaderError
from chatbot.serve.failures import Boundary, Failure, failure_of
from chatbot.serve.gate import Bounded, Keys, OwnNames
from chatbot.serve.metrics import CLIENT_GONE, Counted
from chatbot.serve.openai_api import openai_api
from chatbot.serve.operations import operations
from chatbot.serve.own_api import own_api
from chatbot.serve.service import Service
from chatbot.serve.work import ClientGone
from ingest import CorpusError

_DESCRIPTION = "Which instance should train or serve a model: answers from documents, every sentence cited."
_OPEN = {"/health", "/docs", "/openapi.json"}


def application(service: Service) -> FastAPI:
    """The routes behind the gate; every failure in one shape."""
    paths: set[str] = set()
    app = FastAPI(
        title="wattwise",
        description=_DESCRIPTION,
        version=_version(),
        docs_url=None,
        redoc_url=None,
        middleware=list(_middleware(service, paths)),
        # Telemetry would record requests, and what they hold, for whichever exporter the environment names.
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
    )
    for router in (openai_api(service), own_api(service), operations(app, service)):
        app.include_router(router)
        paths.update(route.path for route in router.routes if isinstance(route, APIRoute))
    paths.add("/openapi.json")
    for kind in (Failure, ReaderError, CorpusError):
        app.add_exception_handler(kind, _failed)
    app.add_exception_handler(ClientGone, _gone)
    app.add_exception_handler(RequestValidationError, _unreadable)
    app.add_exception_handler(HTTPException, _nowhere)
    return app


def _middleware(service: Service, paths: set[str]) -> Iterator[Middleware]:
    """From the outside in. A browser asks whether it may call before it sends a key."""
    settings = service.settings
    yield Middleware(Counted, metrics=service.metrics, paths=paths)
    yield Middleware(OwnNames, settings=settings)
    if settings.origins:
        yield Middleware(CORSMiddleware, allow_origins=settings.origins, allow_methods=["*"], allow_headers=["*"])
    # Through a proxy that was given a name, others reach a server on loopback, too.
    watched = {"/metrics"} if settings.is_local and not settings.hosts else set()
    yield Middleware(Keys, keys=settings.keys, open=_OPEN | watched)
    yield Middleware(Bounded, most=settings.body_bytes)
    yield Middleware(Boundary)


def _version() -> str:
    try:
        return version("wattwise")
    except PackageNotFoundError:  # run from a checkout that was never installed
        return "0"


async def _failed(request: Request, error: Exception) -> Response:
    return failure_of(error).response


async def _gone(request: Request, error: Exception) -> Response:
    return Response(status_code=CLIENT_GONE)


async def _unreadable(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"][1:]) if first["type"] != "json_invalid" else ""
    if "body" in first["loc"][:1] and not request.headers.get("content-type", "").startswith("application/json"):
        text = "The body is not declared as JSON. Send it with Content-Type: application/json."
    elif first["type"] == "json_invalid":
        text = "The body is not JSON. GET /docs lists the fields."
    elif first["type"] == "extra_forbidden":
        text = f"There is no field {place!r} here. GET /docs lists the fields."
    else:
        text = f"{place or 'The body'} cannot be read: {first['msg'][:1].lower()}{first['msg'][1:]}. GET /docs lists the fields."
    return Failure(HTTPStatus.BAD_REQUEST, text).response


async def _nowhere(request: Request, error: Exception) -> Response:
    """No such path, no such method of it, or a body that is no text."""
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    said = "The body cannot be read as JSON" if status == HTTPStatus.BAD_REQUEST else status.phrase
    text = f"{said}. GET /docs lists what can be called."
    return Failure(status, text, headers=error.headers).response
