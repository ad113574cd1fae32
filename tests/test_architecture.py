"""Who may import whom, read from the source itself."""

import ast
import importlib
from functools import cache
from pathlib import Path

import pytest

import chatbot
import ingest

ROOT = Path(__file__).resolve().parents[1]
HEAVY = {
    "torch", "sentence_transformers", "langchain", "langchain_aws", "trafilatura", "onnx", "mammoth", "boto3", "slack_bolt",
    "slack_sdk",
}  # fmt: skip
FILES = sorted((ROOT / "ingest").rglob("*.py")) + sorted((ROOT / "chatbot").rglob("*.py"))


def dotted(path: Path) -> str:
    """The name of a module: ingest.index, chatbot.exam (for its __init__)."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(path: Path, *, top_level: bool = False) -> list[tuple[str, list[str]]]:
    """The modules that a file imports, each with the names taken from it."""
    tree = parsed(path)
    nodes = tree.body if top_level else list(ast.walk(tree))
    found = [(alias.name, []) for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    return found + [(n.module, [a.name for a in n.names]) for n in nodes if isinstance(n, ast.ImportFrom) and n.module]


@pytest.mark.parametrize("path", FILES, ids=dotted)
def test_layers_are_kept(path: Path) -> None:
    for module, names in imports(path):
        package = module.split(".")[0]
        assert package not in {"streamlit", "app", "streamlit_app"}
        assert package not in {"slack_bolt", "slack_sdk"} or dotted(path).startswith("chatbot.slack")
        if dotted(path).startswith("ingest"):
            assert package != "chatbot"
        elif package == "ingest" and module != "ingest.__main__":
            assert module == "ingest"
            assert set(names) <= set(ingest.__all__)


@pytest.mark.parametrize("path", FILES, ids=dotted)
def test_heavy_libraries_are_imported_where_they_are_used(path: Path) -> None:
    assert not {module.split(".")[0] for module, _ in imports(path, top_level=True)} & HEAVY


@pytest.mark.parametrize("package", ["ingest", "chatbot"])
def test_no_module_imports_in_a_circle(package: str) -> None:
    graph = {
        dotted(path): {m for m, _ in imports(path, top_level=True) if m.startswith(f"{package}.")}
        for path in FILES
        if dotted(path).startswith(f"{package}.")
    }
    while free := [name for name, needs in graph.items() if not needs & set(graph)]:
        for name in free:
            del graph[name]
    assert graph == {}


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert not {p.stem for p in FILES} & {"utils", "helpers", "common", "base", "types", "util", "misc"}


@pytest.mark.parametrize("package", [ingest, chatbot], ids=["ingest", "chatbot"])
def test_public_names_can_be_imported(package: object) -> None:
    module = importlib.import_module(package.__name__)
    assert all(getattr(module, name) is not None for name in module.__all__)
