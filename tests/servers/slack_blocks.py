"""Checks blocks against Slack's limits (https://docs.slack.dev/reference/block-kit), for the kinds that the app sends."""

import json
from collections.abc import Sequence
from typing import Any

_MOST_CHARACTERS = 13_200


def fault_of(blocks: Sequence[dict[str, Any]]) -> str:
    """Why Slack would reject a message's blocks, or "" if it would accept them."""
    if not 0 < len(blocks) <= 50:
        return f"{len(blocks)} blocks"
    if len(json.dumps(blocks, ensure_ascii=False)) > _MOST_CHARACTERS:
        return "too many characters"
    if sum(block["type"] == "table" for block in blocks) > 1:
        return "two tables"
    return next((fault for block in blocks if (fault := _fault(block))), "")


def _fault(block: dict[str, Any]) -> str:
    kind = block.get("type")
    if kind == "markdown":
        return "" if 0 < len(block["text"]) <= 12_000 else "markdown"
    if kind == "section":
        return _text(block["text"], 3000)
    if kind == "context":
        elements = block["elements"]
        return next(filter(None, (_text(e, 3000) for e in elements)), "") if 0 < len(elements) <= 10 else "context"
    if kind in ("actions", "context_actions"):
        elements = block["elements"]
        return next(filter(None, map(_element, elements)), "") if 0 < len(elements) <= 25 else kind
    if kind == "rich_text":
        parts = block["elements"]
        whole = all(e["text"] or e["type"] == "link" for part in parts for e in part["elements"])
        return "" if parts and whole else "rich_text"
    if kind == "table":
        fits = len(block["rows"]) <= 100 and all(len(row) <= 20 for row in block["rows"])
        return "" if fits and len(json.dumps(block, ensure_ascii=False)) <= 10_000 else "table"
    return f"unknown block {kind}"


def _element(element: dict[str, Any]) -> str:
    if element["type"] == "feedback_buttons":
        return next(
            filter(None, (_text(element[name]["text"], 75) for name in ("positive_button", "negative_button"))), ""
        )
    if element["type"] != "button" or len(element.get("value", "")) > 2000 or len(element.get("url", "")) > 3000:
        return "button"
    return _text(element["text"], 75)


def _text(text: dict[str, Any], limit: int) -> str:
    return "" if text["type"] in ("plain_text", "mrkdwn") and 0 < len(text["text"]) <= limit else "text"
