"""Import rules between modules, checked on the source code."""

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
    """The dotted name of a module: ingest.storage.index, or chatbot.exam for its __init__."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(path: Path, *, top_level: bool = False) -> list[tuple[str, list[str]]]:
    """The modules that a file imports, each with the names imported from it."""
    tree = parsed(path)
    nodes = tree.body if top_level else list(ast.walk(tree))
    found = [(alias.name, []) for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    return found + [(n.module, [a.name for a in n.names]) for n in nodes if isinstance(n, ast.ImportFrom) and n.module]


def test_layers_are_kept() -> None:
    assert [(dotted(path), module) for path in FILES for module, names in imports(path) if not is_below(path, module, names)] == []


def is_below(path: Path, module: str, names: list[str]) -> bool:
    """Whether a file may import these names from a module."""
    package = module.split(".")[0]
    if package in {"streamlit", "app", "streamlit_app"}:
        return False
    if package in {"slack_bolt", "slack_sdk"}:
        return dotted(path).startswith("chatbot.slack")
    if dotted(path).startswith("ingest"):
        return package != "chatbot"
    return package != "ingest" or module == "ingest.__main__" or (module == "ingest" and set(names) <= set(ingest.__all__))


def test_heavy_libraries_are_imported_where_they_are_used() -> None:
    heavy = {dotted(path): {module.split(".")[0] for module, _ in imports(path, top_level=True)} & HEAVY for path in FILES}
    assert {name: found for name, found in heavy.items() if found} == {}


@pytest.mark.parametrize("package", ["ingest", "chatbot"])
@pytest.mark.parametrize("depth", [2, 4], ids=["folder", "module"])
def test_nothing_imports_in_a_circle(package: str, depth: int) -> None:
    graph: dict[str, set[str]] = {}
    for path in FILES:
        if (name := dotted(path)).startswith(f"{package}."):
            needs = {cut(module, depth) for module, _ in imports(path, top_level=True) if module.startswith(f"{package}.")}
            graph.setdefault(cut(name, depth), set()).update(needs - {cut(name, depth)})
    while free := [name for name, needs in graph.items() if not needs & set(graph)]:
        for name in free:
            del graph[name]
    assert graph == {}


def cut(name: str, depth: int) -> str:
    return ".".join(name.split(".")[:depth])


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert not {p.stem for p in FILES} & {"utils", "helpers", "common", "base", "types", "util", "misc"}


@pytest.mark.parametrize("package", [ingest, chatbot], ids=["ingest", "chatbot"])
def test_public_names_can_be_imported(package: object) -> None:
    module = importlib.import_module(package.__name__)
    assert all(getattr(module, name) is not None for name in module.__all__)
