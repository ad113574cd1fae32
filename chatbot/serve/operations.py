"""Routes for operators and people: health, metrics, and the reference of the API."""

from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment
from prometheus_client import CONTENT_TYPE_LATEST

from chatbot.serve.service import Service

_ALONE = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"}
# Rendered from the OpenAPI description; it loads nothing from elsewhere.
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{{ info.title }}</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h2 { font-size: 1.05rem; margin: 2rem 0 0; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; vertical-align: top; padding: .2rem 1rem .2rem 0; border-bottom: 1px solid #ddd; }
</style>
</head>
<body>
<h1>{{ info.title }}</h1>
<p>{{ info.description }}</p>
<p>The same for programs: <a href="openapi.json">openapi.json</a></p>
{% for path, methods in paths.items() %}{% for method, route in methods.items() %}
<h2><code>{{ method.upper() }} {{ path }}</code></h2>
<p>{{ route.summary }}</p>
{% for name, type, said, required in fields(route) %}
{% if loop.first %}<table>
<tr><th>field</th><th>type</th><th></th></tr>{% endif %}
<tr><td><code>{{ name }}</code>{% if required %} (required){% endif %}</td><td>{{ type }}</td><td>{{ said }}</td></tr>
{% if loop.last %}</table>{% endif %}{% endfor %}
{% endfor %}{% endfor %}
</body>
</html>
"""


def operations(app: FastAPI, service: Service) -> APIRouter:
    """Return the routes /health, /metrics and /docs."""
    router = APIRouter(tags=["For operators"])

    # Not async, so that FastAPI runs it in a thread: reading the index takes time. It needs no place in `Work`, because a
    # server whose places are all taken is healthy, too.
    @router.head("/health", include_in_schema=False)  # as uptime monitors ask
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
        return HTMLResponse(_reference_page(app.openapi()), headers=_ALONE)

    return router


def _reference_page(schema: dict[str, Any]) -> str:
    """Return an application's OpenAPI description as HTML."""

    def fields(route: dict[str, Any]) -> list[tuple[str, str, str, bool]]:
        given = {field["name"]: field | field["schema"] for field in route.get("parameters", ())}
        required = {name for name, field in given.items() if field.get("required")}
        if content := route.get("requestBody", {}).get("content", {}).get("application/json"):
            body = schema["components"]["schemas"][content["schema"]["$ref"].rpartition("/")[2]]
            given |= body["properties"]
            required |= set(body.get("required", ()))
        return [(name, _type(field), _said(field), name in required) for name, field in given.items()]

    return Environment(autoescape=True, trim_blocks=True).from_string(_PAGE).render(**schema, fields=fields)


def _said(field: dict[str, Any]) -> str:
    examples = [f"For example: {example}" for example in field.get("examples", ())[:1]]
    return " ".join([*filter(None, [field.get("description")]), *examples])


def _type(field: dict[str, Any]) -> str:
    if "$ref" in field:
        return str(field["$ref"]).rpartition("/")[2]
    if "anyOf" in field:
        return " or ".join(_type(kind) for kind in field["anyOf"] if kind.get("type") != "null")
    kind = str(field.get("type", "any"))
    return f"list of {_type(field['items'])}" if kind == "array" else kind
