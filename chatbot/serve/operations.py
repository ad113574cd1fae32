"""What operators and people look at: health, metrics, and what there is to call."""

from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.responses import HTMLResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST

from chatbot.serve.reference import reference_page
from chatbot.serve.service import Service

_ALONE = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"}


def operations(app: FastAPI, service: Service) -> APIRouter:
    """The routes /health, /metrics and /docs."""
    router = APIRouter(tags=["For operators"])

    # In a thread of FastAPI's: reading the index takes its time, and a server whose places are all taken is healthy, too.
    @router.get("/health", summary="Whether the index is there and can be read: 200 or 503.")
    def health() -> dict[str, Any]:
        index = service.index.snapshot()
        index.lexical("memory", 1)
        return {"status": "ok", "generation": index.generation, "chunks": len(index), "updated": index.updated}

    @router.get("/metrics", summary="Requests, answers, refusals and tokens, for Prometheus.")
    async def metrics() -> Response:
        return Response(service.metrics.text(), headers={"Content-Type": CONTENT_TYPE_LATEST})

    # FastAPI's own page loads its scripts from another server.
    @router.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(reference_page(app.openapi()), headers=_ALONE)

    return router
