"""The whole server: the ASGI application, and uvicorn around it, without logs, with bounds, and stopped within seconds."""

from collections.abc import Iterator
from http import HTTPStatus
from importlib.metadata import PackageNotFoundError, version
from types import FrameType

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

from chatbot.language.characters import quoted
from chatbot.serve.failures import Boundary, Failure
from chatbot.serve.gate import Bounded, Keys, OwnNames
from chatbot.serve.metrics import Counted
from chatbot.serve.openai_api import openai_api
from chatbot.serve.operations import operations
from chatbot.serve.own_api import own_api
from chatbot.serve.service import Service
from chatbot.serve.work import STOP_SECONDS

_DESCRIPTION = "Which instance should train or serve a model: answers from documents, every sentence cited."
_OPEN = {"/health", "/docs", "/openapi.json"}
# Far above the number of requests answered at once; it bounds the cost of waiting and idle connections.
_MOST_CONNECTIONS = 500


class Server(uvicorn.Server):
    """A uvicorn server that gives accepted work some seconds to end after a stop signal."""

    def __init__(self, service: Service) -> None:
        super().__init__(
            uvicorn.Config(
                application(service),
                lifespan="off",
                log_config=None,
                # The address of a request may contain a user's query.
                access_log=False,
                proxy_headers=False,
                server_header=False,
                ws="none",
                limit_concurrency=_MOST_CONNECTIONS,
                timeout_graceful_shutdown=round(STOP_SECONDS) + 2,
            )
        )
        self._work = service.work

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._work.stop()
        super().handle_exit(sig, frame)


def application(service: Service) -> FastAPI:
    """Return the FastAPI application: the routes behind the middleware, with every failure in one format."""
    paths: set[str] = set()
    app = FastAPI(
        title="wattwise",
        description=_DESCRIPTION,
        version=_version(),
        docs_url=None,
        redoc_url=None,
        middleware=list(_middleware(service, paths)),
        # Telemetry would send requests, and their contents, to whichever exporter the environment names.
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
    )
    for router in (openai_api(service), own_api(service), operations(app, service)):
        app.include_router(router)
        paths.update(route.path for route in router.routes if isinstance(route, APIRoute))
    paths.add("/openapi.json")
    app.add_exception_handler(RequestValidationError, _unreadable)
    app.add_exception_handler(HTTPException, _nowhere)
    return app


def _middleware(service: Service, paths: set[str]) -> Iterator[Middleware]:
    """Yield the middleware, outermost first. CORS is outside of Keys, because a browser's preflight request has no key."""
    settings = service.settings
    yield Middleware(Counted, metrics=service.metrics, paths=paths)
    yield Middleware(OwnNames, settings=settings)
    if settings.origins:
        yield Middleware(CORSMiddleware, allow_origins=settings.origins, allow_methods=["*"], allow_headers=["*"])
    yield Middleware(Boundary)
    # With `hosts`, others may reach a server on loopback through a proxy, so /metrics needs a key, too.
    watched = {"/metrics"} if settings.is_local and not settings.hosts else set()
    yield Middleware(Keys, keys=settings.keys, open=_OPEN | watched)
    yield Middleware(Bounded, most=settings.body_bytes)


def _version() -> str:
    try:
        return version("wattwise")
    except PackageNotFoundError:  # run from a checkout that was never installed
        return "0"


async def _unreadable(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"][1:])
    if "body" in first["loc"][:1] and not request.headers.get("content-type", "").startswith("application/json"):
        text = "The body is not declared as JSON. Send it with Content-Type: application/json."
    elif first["type"] == "json_invalid":
        text = "The body is not JSON. GET /docs lists the fields."
    elif first["type"] == "extra_forbidden":
        text = f"There is no field {quoted(place)} here. GET /docs lists the fields."
    else:
        text = f"{place or 'The body'} cannot be read: {first['msg'][:1].lower()}{first['msg'][1:]}. GET /docs lists the fields."
    return Failure(HTTPStatus.BAD_REQUEST, text).response


async def _nowhere(request: Request, error: Exception) -> Response:
    """Answer a request for an unknown path, with a wrong method, or with a body that is not text."""
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    said = "The body cannot be read as JSON" if status == HTTPStatus.BAD_REQUEST else status.phrase
    return Failure(status, f"{said}. GET /docs lists what can be called.", headers=error.headers).response
