"""The MCP server, used with the SDK's own client over stdio and over HTTP on loopback."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx
import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from chatbot.__main__ import main
from tests.marks import left_to_evaluation

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[1]
KEY = "a-key-of-nobody-0123456789"
QUESTION = "How many accelerators has a p5.48xlarge?"
BEGIN = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": BEGIN}
EACH = {
    "ask": {"question": QUESTION},
    "search_sources": {"query": "energy of purpose-built accelerators", "limit": 1},
    "find_instances": {"names": ["p5.48xlarge"]},
    "size_workload": {"model": "llama-3.1-8b", "limit": 1},
    "read_document": {"source": "corpus/purpose-built-accelerator-energy.md", "limit": 500},
}


def met(server: Any, use: Callable[[Client], Awaitable[T]], mode: str = "auto") -> T:
    """Connect to the server with the SDK's client and return the result of `use`."""

    async def meet() -> T:
        async with Client(server, mode=mode, read_timeout_seconds=60) as client:
            return await use(client)

    return asyncio.run(meet())


def text_of(result: CallToolResult) -> str:
    (block,) = result.content
    assert block.type == "text"
    return block.text


@pytest.fixture(scope="module")
def stdio(corpus_index: Path) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable, args=["-m", "chatbot", "mcp", "--index", str(corpus_index)], env={"PYTHONPATH": str(ROOT)}
    )  # fmt: skip


def test_the_configuration_in_the_readme_starts_the_server(stdio: StdioServerParameters) -> None:
    (written,) = re.findall(
        r"```json\n(\{\n  \"mcpServers\".+?)```", (ROOT / "docs" / "programs.md").read_text("utf-8"), re.DOTALL
    )
    configured = json.loads(written)["mcpServers"]["wattwise"]
    assert Path(configured["command"]).name == "wattwise"
    assert [*configured["args"][:-1], stdio.args[-1]] == stdio.args[2:]


@contextmanager
def serving(index: Path, *options: str, **environment: str) -> Iterator[str]:
    """Run a separate server until the block ends; yield its address."""
    command = [sys.executable, "-m", "chatbot", "mcp", "--http", "--port", "0", "--index", str(index), *options]
    environ = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    with subprocess.Popen(command, env=environ, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            assert line.startswith("MCP is served at "), line
            yield line.split()[4].rstrip(".")
        finally:
            process.terminate()
            rest = process.stderr.read()
    assert process.returncode == 143
    assert rest == ""


@pytest.fixture(scope="module")
def address(corpus_index: Path) -> Iterator[str]:
    with serving(corpus_index) as address:
        yield address


@pytest.fixture(scope="module", params=["http", *left_to_evaluation("stdio")])
def server(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue("stdio" if request.param == "stdio" else "address")


def test_every_tool_is_listed_as_reading_only(address: str) -> None:
    tools = met(address, lambda client: client.list_tools()).tools
    assert [tool.name for tool in tools] == list(EACH)
    for tool in tools:
        assert tool.title
        assert tool.description
        assert tool.annotations is not None
        assert (tool.annotations.read_only_hint, tool.annotations.destructive_hint) == (True, False)
        assert all(described["description"] for described in tool.input_schema["properties"].values())


@pytest.mark.parametrize("mode", ["auto", pytest.param("legacy", marks=pytest.mark.evaluation)])
def test_every_tool_answers_with_text_and_structured_content(server: Any, mode: str) -> None:
    async def call_all(client: Client) -> dict[str, CallToolResult]:
        return {name: await client.call_tool(name, arguments) for name, arguments in EACH.items()}

    results = met(server, call_all, mode)
    assert not any(result.is_error for result in results.values())
    for name, result in results.items():
        if name != "ask":
            assert json.loads(text_of(result)) == result.structured_content
    assert results["find_instances"].structured_content["rows"][0]["cells"]["Accelerators"] == "8"
    assert results["size_workload"].structured_content["workload"]["model"] == "meta-llama/Meta-Llama-3.1-8B"
    assert results["search_sources"].structured_content["passages"][0]["title"].startswith("Reduce energy consumption")


def test_an_answer_is_that_of_the_command_line(
    address: str, corpus_index: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = met(address, lambda client: client.call_tool("ask", {"question": QUESTION}))
    assert main(("ask", QUESTION, "--index", str(corpus_index))) == 0
    assert text_of(result) == capsys.readouterr().out.rstrip("\n")
    assert "[1] Amazon EC2 instance types" in text_of(result)
    assert main(("ask", QUESTION, "--json", "--index", str(corpus_index))) == 0
    printed = json.loads(capsys.readouterr().out)
    given = result.structured_content
    for volatile in ("seconds", "footprint"):
        del printed[volatile], given[volatile]
    assert given == printed


def test_a_question_leans_on_its_history(address: str) -> None:
    history = [{"question": QUESTION, "answer": "It has 8."}]
    asked = {"question": "And how many vCPUs?", "history": history}
    assert "192 vCPUs" in text_of(met(address, lambda client: client.call_tool("ask", asked)))


@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        ("ask", {}, "ask needs question: The question, as a person would ask it."),
        ("ask", {"question": "And Trn2?", "history": [{"answer": "It has 8."}]}, "ask needs history.0.question."),
        ("ask", {"question": " "}, "The question is empty. Ask something, for example: Which instance has the lowest footprint for training?"),
        ("find_instances", {"family": "g66"}, "There is no instance family 'g66' in the data: did you mean g6 or gr6 or g6f?"),
        ("size_workload", {"parameters": "many"}, "'many' is not a number: write 70b or 7e9."),
        ("read_document", {"source": "../../etc/passwd"}, "There is no document '../../etc/passwd' in the index: find one with search_sources."),
    ],
)  # fmt: skip
def test_bad_input_is_a_tool_error_of_one_sentence(
    address: str, name: str, arguments: dict[str, Any], sentence: str
) -> None:
    result = met(address, lambda client: client.call_tool(name, arguments))
    assert (result.is_error, text_of(result), result.structured_content) == (True, sentence, None)


def test_an_unknown_tool_is_an_error_that_names_the_tools(address: str) -> None:
    async def call(client: Client) -> str:
        with pytest.raises(MCPError) as refused:
            await client.call_tool("delete_everything", {})
        return refused.value.message

    assert met(address, call) == f"There is no tool 'delete_everything': call one of {', '.join(EACH)}."


@pytest.mark.evaluation
def test_only_the_protocol_is_on_standard_output(corpus_index: Path) -> None:
    said = [
        INITIALIZE,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "ask", "arguments": {"question": QUESTION}}},
    ]  # fmt: skip
    command = [sys.executable, "-m", "chatbot", "mcp", "--index", str(corpus_index)]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("".join(json.dumps(message) + "\n" for message in said) + "no JSON\n")
        process.stdin.flush()
        lines = [json.loads(process.stdout.readline()) for _ in range(2)]
        rest, errors = process.communicate(timeout=30)
    answered = {line["id"]: line["result"] for line in lines if line.get("id")}
    assert answered[1]["serverInfo"]["name"] == "wattwise"
    assert "8 NVIDIA H100 GPUs" in answered[2]["content"][0]["text"]
    assert (process.returncode, rest, errors) == (0, "", "")


@pytest.mark.evaluation
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_server_while_it_waits_for_input(corpus_index: Path, number: int, code: int) -> None:
    command = [sys.executable, "-m", "chatbot", "mcp", "--index", str(corpus_index)]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(number)
        try:
            ended = process.wait(timeout=20)
        finally:
            process.kill()
        assert (ended, process.stderr.read()) == (code, b"")


def initialize(address: str, **headers: str | bytes) -> httpx.Response:
    accepted = {"Accept": "application/json, text/event-stream"}
    return httpx.post(address, json=INITIALIZE, headers={**accepted, **headers}, timeout=30)


def test_a_page_of_another_name_is_refused(address: str) -> None:
    assert initialize(address).status_code == 200
    assert initialize(address, Host="evil.example").status_code == 421
    assert initialize(address, Origin="http://evil.example").status_code == 403


@pytest.mark.evaluation
def test_with_a_key_only_its_holders_get_in(corpus_index: Path) -> None:
    with serving(
        corpus_index, "--host", "0.0.0.0", "--allow-host", "wattwise.example", WATTWISE_MCP_KEY=KEY
    ) as address:
        address = address.replace("0.0.0.0", "127.0.0.1")
        for wrong in ("", f"Bearer {KEY}x", KEY, "Bearer ü".encode()):
            refused = initialize(address, Authorization=wrong)
            assert (refused.status_code, refused.headers["WWW-Authenticate"]) == (401, "Bearer")
            assert refused.json()["error"]["code"] == "invalid_api_key"
        held = {"Authorization": f"Bearer {KEY}"}
        assert initialize(address, **held, Host="wattwise.example").status_code == 200
        assert initialize(address, **held, Host="evil.example").status_code == 421

        async def listed() -> int:
            async with (
                httpx2.AsyncClient(headers=held) as http,
                Client(streamable_http_client(address, http_client=http)) as client,
            ):
                return len((await client.list_tools()).tools)

        assert asyncio.run(listed()) == len(EACH)


@pytest.mark.parametrize(
    ("options", "key", "sentence"),
    [
        (("--host", "192.0.2.1"), "", "On 192.0.2.1 others can reach the server: set WATTWISE_MCP_KEY to the key that they must send, or leave out --host."),
        (("--host", "0.0.0.0"), KEY, "No client can name '0.0.0.0' in a URL: add --allow-host with the name or address that it uses."),
        ((), "short", "WATTWISE_MCP_KEY has too short a key: give it at least 16 characters that nobody can guess."),
        (("--port", "70000"), "", "There is no port 70000: give one from 1 to 65535, or 0 for any that is free."),
    ],
)  # fmt: skip
def test_what_cannot_be_served_is_one_sentence(
    corpus_index: Path, options: tuple[str, ...], key: str, sentence: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    monkeypatch.setenv("WATTWISE_MCP_KEY", key)
    assert main(("mcp", "--http", "--index", str(corpus_index), *options)) == 1
    assert capsys.readouterr() == ("", f"{sentence}\n")


@pytest.mark.parametrize("option", [("--port", "9000"), ("--host", "0.0.0.0"), ("--allow-host", "a.example")])
def test_an_address_without_http_is_wrong_use(option: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(("mcp", *option))
    assert capsys.readouterr().err.endswith("error: --host, --port and --allow-host are for --http: add it\n")


def test_a_port_that_is_taken_is_said(corpus_index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(("mcp", "--http", "--index", str(corpus_index), "--port", str(port))) == 1
    said = f"Cannot listen on 127.0.0.1:{port} (Address already in use). Give another port with --port or WATTWISE_MCP_PORT.\n"
    assert capsys.readouterr() == ("", said)
