"""The inputs of a sizing: widgets bound to the page's address, and the address for a workload."""

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlencode

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.escaping import as_label
from chatbot.sizing import Facts, Format, Task, Workload
from chatbot.sizing.facts import short
from chatbot.sizing.request import read_amount, read_tokens

_CONTEXTS = ("2k", "4k", "8k", "16k", "32k", "64k", "128k")
_CACHES = (Format.BF16, Format.FP8, Format.INT8, Format.INT4)
_MAKERS = ("NVIDIA", "AWS", "AMD", "Intel")
# Each input's name in the address, which is also the key of its widget, and the field of the workload that it fills.
_WORK = {
    "model": "model", "parameters": "parameters", "task": "task", "format": "weights", "cache": "cache", "context": "context",
    "users": "sequences", "region": "region", "budget": "budget_per_hour",
}  # fmt: skip
_HARDWARE = {
    "instance": "instance_type", "accelerator": "accelerator", "count": "accelerators", "vendor": "vendors",
    "family": "families", "without": "without",
}  # fmt: skip
_READ: dict[str, Callable[[Any], object]] = {
    "parameters": read_amount, "format": Format, "cache": Format, "context": read_tokens, "vendor": frozenset,
    "family": frozenset, "without": frozenset,
}  # fmt: skip


def size_link(workload: Workload) -> str:
    """Return the address of the Size page with the inputs of a workload."""
    said = {name: getattr(workload, slot) for name, slot in (_WORK | _HARDWARE).items()}
    said |= {name: sorted(value) for name, value in said.items() if isinstance(value, frozenset)}
    said["parameters"] = f"{workload.parameters / 1e9:.6g}b" if workload.parameters and not workload.model else None
    return f"size?{urlencode({name: value for name, value in said.items() if value}, doseq=True)}"


def ask_workload(facts: Facts) -> Workload | None:
    """Show the inputs and return their workload; None until a model or a number of parameters is given.

    Raises ReaderError for a size that is not a number.
    """
    linked = [
        (name, v) for name in (*_WORK, *_HARDWARE) if name in st.query_params for v in st.query_params.get_all(name)
    ]
    above = st.empty()
    given = _ask_work(facts) | _ask_hardware(facts)
    ignored = [f"{name}={value}" for name, value in linked if value and st.session_state.get(name) in (None, "", [])]
    if ignored:
        above.warning(as_label(f"The link says {', '.join(ignored)}: there is no such value, so it is left out."))
    if given["model"] is None and not given["parameters"].strip():
        return None
    given["parameters"] = None if given["model"] else given["parameters"]
    # Empty inputs are not parsed, except for lists, which become sets. Parsing raises ReaderError for a bad number.
    read = {n: _READ[n](v) if n in _READ and v is not None else v for n, v in given.items()}
    return Workload(**{slot: read[name] for name, slot in (_WORK | _HARDWARE).items()})


def _ask_work(facts: Facts) -> dict[str, Any]:
    model = _chosen("Model", sorted(facts.models, key=str.lower), "model", "Llama-3.1-70B, …", own=True)
    size = st.text_input(
        "Or its parameters", key="parameters", bind="query-params", placeholder="70b", disabled=model is not None
    )
    task = st.selectbox("Task", list(Task), key="task", bind="query-params", format_func=str)
    serves = task is Task.SERVE
    with _row("formats"):
        weights = _chosen("Weights", list(Format), "format", "usual")
        cache = _chosen("KV cache", _CACHES, "cache", "bf16") if serves else None
    with _row("load"):
        context = _chosen("Context", _CONTEXTS, "context", "8k" if serves else "4k", own=True)
        users = _number("Users at once" if serves else "Batch on each", "users", 1, "1")
    with _row("where"):
        region = _chosen("Region", sorted(facts.grids), "region", "us-east-1")
        budget = _number("Budget, $ an hour", "budget", 0.0, "any")
    return {
        "model": model, "parameters": size, "task": task, "format": weights, "cache": cache, "context": context,
        "users": users, "region": region, "budget": budget,
    }  # fmt: skip


def _ask_hardware(facts: Facts) -> dict[str, Any]:
    families = sorted({i.family for i in facts.instances.values() if i.accelerators})
    types = sorted(name for name, i in facts.instances.items() if i.accelerators)
    accelerators = sorted({short(name) for name in facts.accelerators})
    with st.expander("Hardware", expanded=any(st.query_params.get(name) for name in _HARDWARE)):
        instance = _chosen("Instance type", types, "instance", "any", own=True)
        accelerator = _chosen("Accelerator", accelerators, "accelerator", "any", own=True)
        return {
            "instance": instance,
            "accelerator": accelerator,
            "count": _number("How many of them", "count", 1, "1") if accelerator else None,
            "vendor": _several("Makers wanted", _MAKERS, "vendor", "any"),
            "family": _several("Families wanted", families, "family", "any"),
            "without": _several("Not wanted", [*_MAKERS, *families], "without", "none"),
        }


def _row(key: str) -> DeltaGenerator:
    """Return a container that puts two inputs side by side."""
    return st.container(horizontal=True, key=f"size-{key}")


def _chosen(label: str, options: Sequence[str], key: str, usual: str, *, own: bool = False) -> str | None:
    chosen: str | None = st.selectbox(
        label,
        options,
        index=None,
        key=key,
        bind="query-params",
        placeholder=usual,
        accept_new_options=own,
        format_func=str,
    )
    return chosen or None


def _number(label: str, key: str, least: float, usual: str) -> float | None:
    """Show a number input, for whole numbers if `least` is an int."""
    step = 1 if isinstance(least, int) else 1.0
    return st.number_input(
        label, min_value=least, step=step, value=None, key=key, bind="query-params", placeholder=usual
    )  # type: ignore[type-var]


def _several(label: str, options: Sequence[str], key: str, usual: str) -> list[str]:
    return st.multiselect(label, options, key=key, bind="query-params", placeholder=usual)
