"""The page /docs: every route with its fields, written out of the OpenAPI description; it loads nothing from anywhere."""

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

_HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; }}
h2 {{ font-size: 1.05rem; margin: 2rem 0 0; }}
table {{ border-collapse: collapse; width: 100%; }}
td, th {{ text-align: left; vertical-align: top; padding: .2rem 1rem .2rem 0; border-bottom: 1px solid #ddd; }}
</style>
</head>
<body>
<h1>{title}</h1>
<p>{description}</p>
<p>The same for programs: <a href="openapi.json">openapi.json</a></p>
"""


def reference_page(schema: Mapping[str, Any]) -> str:
    """The description that FastAPI gives of an application, as HTML."""
    about = schema["info"]
    head = _HEAD.format(title=escape(about["title"]), description=escape(about["description"]))
    return "".join((head, *_routes(schema), "</body>\n</html>\n"))


def _routes(schema: Mapping[str, Any]) -> Iterator[str]:
    for path, methods in schema["paths"].items():
        for method, route in methods.items():
            yield f"<h2><code>{escape(method.upper())} {escape(path)}</code></h2>\n<p>{escape(route['summary'])}</p>\n"
            rows = [*_parameters(route), *_body_fields(schema, route)]
            if rows:
                yield f"<table>\n<tr><th>field</th><th>type</th><th></th></tr>\n{''.join(rows)}</table>\n"


def _parameters(route: Mapping[str, Any]) -> Iterator[str]:
    for given in route.get("parameters", ()):
        yield _row(given["name"], given["schema"], required=given.get("required", False))


def _body_fields(schema: Mapping[str, Any], route: Mapping[str, Any]) -> Iterator[str]:
    content = route.get("requestBody", {}).get("content", {}).get("application/json")
    if not content:
        return
    body = schema["components"]["schemas"][content["schema"]["$ref"].rpartition("/")[2]]
    for name, described in body["properties"].items():
        yield _row(name, described, required=name in body.get("required", ()))


def _row(name: str, described: Mapping[str, Any], *, required: bool) -> str:
    said = described.get("description", "")
    if example := "".join(map(str, described.get("examples", ())[:1])):
        said = f"{said} For example: {example}".strip()
    needed = " (required)" if required else ""
    return f"<tr><td><code>{escape(name)}</code>{needed}</td><td>{escape(_type(described))}</td><td>{escape(said)}</td></tr>\n"


def _type(described: Mapping[str, Any]) -> str:
    if "$ref" in described:
        return str(described["$ref"]).rpartition("/")[2]
    if "anyOf" in described:
        return " or ".join(_type(kind) for kind in described["anyOf"] if kind.get("type") != "null")
    kind = str(described.get("type", "any"))
    return f"list of {_type(described['items'])}" if kind == "array" else kind
