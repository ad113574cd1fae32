"""Model servers on loopback: Bedrock's Converse and ConverseStream, Ollama's chat, OpenAI's chat completions."""

import json
import struct
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from zlib import crc32

TOKENS_IN, TOKENS_OUT = 120, 30


@dataclass(frozen=True)
class Reply:
    """What the server sends, part by part; `cut` closes the connection without the final chunk of the chunked encoding."""

    parts: tuple[bytes, ...]
    kind: str
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False
    delay: float = 0.0
    # Part number -> seconds of silence before it.
    silence: dict[int, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Request:
    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class ModelServer:
    """Returns the replies in turn and repeats the last one; `requests` records what it received."""

    def __init__(self, replies: Sequence[Reply]) -> None:
        self.requests: list[Request] = []
        self.url = ""
        self._replies = list(replies)
        self._lock = threading.Lock()

    def reply_to(self, request: Request) -> Reply:
        with self._lock:
            self.requests.append(request)
            return self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]


@contextmanager
def serving(*replies: Reply) -> Iterator[ModelServer]:
    """Run a model server on a free loopback port."""
    model = ModelServer(replies)

    class Serve(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer({})

        def do_POST(self) -> None:
            self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}"))

        def _answer(self, body: dict[str, Any]) -> None:
            reply = model.reply_to(Request(self.path, {k.lower(): v for k, v in self.headers.items()}, body))
            time.sleep(reply.delay)
            try:
                self._send(reply)
            except OSError:
                self.close_connection = True

        def _send(self, reply: Reply) -> None:
            self.send_response(reply.status)
            for name, value in {"Content-Type": reply.kind, "Transfer-Encoding": "chunked", **reply.headers}.items():
                self.send_header(name, value)
            # A connection kept open would be closed only by the garbage collector, with a ResourceWarning.
            self.send_header("Connection", "close")
            self.end_headers()
            for number, part in enumerate(reply.parts):
                time.sleep(reply.silence.get(number, 0.0))
                self.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
                self.wfile.flush()
            if not reply.cut:
                self.wfile.write(b"0\r\n\r\n")

        def log_message(self, format: str, *arguments: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Serve)
    model.url = f"http://127.0.0.1:{server.server_address[1]}"
    # A short poll interval, because `shutdown` waits for the next poll.
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()


def pieces_of(text: str, size: int = 9) -> list[str]:
    return [text[i : i + size] for i in range(0, len(text), size)]


# Bedrock


def converse_stream(text: str, stop: str = "end_turn", *, ends: bool = True, error: str = "", thought: str = "", usage: dict[str, int] | None = None) -> Reply:
    """A ConverseStream answer in event-stream framing, after an optional thought; `usage` is said besides, and `error` adds an exception event after the text."""
    events = [_event("messageStart", {"role": "assistant"}), *_thought(thought)]
    events += [_event("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": p}}) for p in pieces_of(text)]
    if error:
        events.append(_frame({":message-type": "exception", ":exception-type": error}, {"message": "x"}))
    elif ends:
        usage = {"inputTokens": TOKENS_IN, "outputTokens": TOKENS_OUT, "totalTokens": TOKENS_IN + TOKENS_OUT, **(usage or {})}
        events += [_event("contentBlockStop", {"contentBlockIndex": 0}), _event("messageStop", {"stopReason": stop})]
        events.append(_event("metadata", {"usage": usage, "metrics": {"latencyMs": 1}}))
    return Reply(tuple(events), "application/vnd.amazon.eventstream")


def _thought(text: str) -> list[bytes]:
    deltas = [*({"text": p} for p in pieces_of(text)), {"signature": "signed"}] if text else []
    return [_event("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"reasoningContent": delta}}) for delta in deltas]


def converse_citing(*claims: tuple[str, int, int]) -> Reply:
    """A ConverseStream answer in which each text cites characters, from start to end, of the document in the request."""
    events = [_event("messageStart", {"role": "assistant"})]
    for number, (text, start, end) in enumerate(claims):
        place = {"documentChar": {"documentIndex": 0, "start": start, "end": end}}
        deltas = [{"text": p} for p in pieces_of(text)] + [{"citation": {"title": "passages", "location": place}}]
        events += [_event("contentBlockDelta", {"contentBlockIndex": number, "delta": delta}) for delta in deltas]
        events.append(_event("contentBlockStop", {"contentBlockIndex": number}))
    return Reply((*events, _event("messageStop", {"stopReason": "end_turn"})), "application/vnd.amazon.eventstream")


def converse(text: str, stop: str = "end_turn") -> Reply:
    """A Converse answer."""
    usage = {"inputTokens": TOKENS_IN, "outputTokens": TOKENS_OUT, "totalTokens": TOKENS_IN + TOKENS_OUT}
    message = {"role": "assistant", "content": [{"text": text}]}
    body = {"output": {"message": message}, "stopReason": stop, "usage": usage, "metrics": {"latencyMs": 1}}
    return _json(body)


def aws_error(code: str, status: int, message: str = "x", headers: dict[str, str] | None = None) -> Reply:
    """An error in the shape of Bedrock's REST API."""
    return _json({"message": message}, status, {"x-amzn-ErrorType": code, **(headers or {})})


def _event(kind: str, payload: dict[str, Any]) -> bytes:
    return _frame({":message-type": "event", ":event-type": kind, ":content-type": "application/json"}, payload)


def _frame(headers: dict[str, str], payload: dict[str, Any]) -> bytes:
    """A vnd.amazon.eventstream message: lengths, their checksum, headers, payload, checksum of the whole."""
    written = b"".join(
        bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()
        for name, value in headers.items()
    )
    body = json.dumps(payload).encode()
    prelude = struct.pack(">II", len(written) + len(body) + 16, len(written))
    message = prelude + struct.pack(">I", crc32(prelude)) + written + body
    return message + struct.pack(">I", crc32(message))


# Ollama


def ollama_chat(text: str, stop: str = "stop", *, ends: bool = True, error: str = "", thought: str = "") -> Reply:
    """A streamed /api/chat answer, one JSON object per line, after an optional thought; `error` adds an error line after the text."""
    lines: list[dict[str, Any]] = [
        {"model": "m", "message": {"role": "assistant", "content": "", "thinking": p}, "done": False} for p in pieces_of(thought)
    ]
    lines += [{"model": "m", "message": {"role": "assistant", "content": p}, "done": False} for p in pieces_of(text)]
    if error:
        lines.append({"error": error})
    elif ends:
        counts = {"prompt_eval_count": TOKENS_IN, "eval_count": TOKENS_OUT}
        last = {"role": "assistant", "content": ""}
        lines.append({"model": "m", "message": last, "done": True, "done_reason": stop, **counts})
    return Reply(tuple(json.dumps(line).encode() + b"\n" for line in lines), "application/x-ndjson")


def ollama_error(message: str, status: int) -> Reply:
    return _json({"error": message}, status)


# OpenAI


def openai_chat(text: str, stop: str = "stop", *, ends: bool = True) -> Reply:
    """A streamed /chat/completions answer as server-sent events, ending with the token usage."""
    about = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    events: list[dict[str, Any]] = [
        {**about, "choices": [{"index": 0, "delta": {"role": "assistant", "content": p}, "finish_reason": None}]}
        for p in pieces_of(text)
    ]
    if ends:
        usage = {"prompt_tokens": TOKENS_IN, "completion_tokens": TOKENS_OUT, "total_tokens": TOKENS_IN + TOKENS_OUT}
        events.append({**about, "choices": [{"index": 0, "delta": {}, "finish_reason": stop}]})
        events.append({**about, "choices": [], "usage": usage})
    parts = [f"data: {json.dumps(event)}\n\n".encode() for event in events] + [b"data: [DONE]\n\n"] * ends
    return Reply(tuple(parts), "text/event-stream")


def openai_error(status: int, code: str, message: str = "x", headers: dict[str, str] | None = None) -> Reply:
    return _json({"error": {"message": message, "type": code, "code": code}}, status, headers)


def _json(body: dict[str, Any], status: int = 200, headers: dict[str, str] | None = None) -> Reply:
    return Reply((json.dumps(body).encode(),), "application/json", status, headers or {})


# Tool calls


def openai_calls(name: str, arguments: dict[str, Any]) -> Reply:
    """A streamed answer that calls a tool, with its arguments in pieces."""
    about = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    first = {"index": 0, "id": "call-1", "type": "function", "function": {"name": name, "arguments": ""}}
    deltas: list[dict[str, Any]] = [{"role": "assistant", "tool_calls": [first]}]
    deltas += [{"tool_calls": [{"index": 0, "function": {"arguments": p}}]} for p in pieces_of(json.dumps(arguments))]
    events = [{**about, "choices": [{"index": 0, "delta": d, "finish_reason": None}]} for d in deltas]
    events.append({**about, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    return Reply((*(f"data: {json.dumps(e)}\n\n".encode() for e in events), b"data: [DONE]\n\n"), "text/event-stream")


def ollama_calls(name: str, arguments: dict[str, Any]) -> Reply:
    """A streamed answer that calls a tool."""
    call = {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": name, "arguments": arguments}}]}
    lines = [{"model": "m", "message": call, "done": False}]
    lines.append({"model": "m", "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"})
    return Reply(tuple(json.dumps(line).encode() + b"\n" for line in lines), "application/x-ndjson")


def converse_calls(name: str, arguments: dict[str, Any], thought: str = "") -> Reply:
    """A ConverseStream answer that calls a tool, after an optional thought."""
    start = {"toolUse": {"toolUseId": "call-1", "name": name}}
    events = [_event("messageStart", {"role": "assistant"}), *_thought(thought)]
    events.append(_event("contentBlockStart", {"contentBlockIndex": 1, "start": start}))
    events += [
        _event("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"toolUse": {"input": p}}})
        for p in pieces_of(json.dumps(arguments))
    ]
    events += [_event("contentBlockStop", {"contentBlockIndex": 1}), _event("messageStop", {"stopReason": "tool_use"})]
    return Reply(tuple(events), "application/vnd.amazon.eventstream")
