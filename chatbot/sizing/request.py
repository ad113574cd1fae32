"""Build a workload from the names and numbers of the command line and other programs: 70b parameters, 16k tokens."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any, TypeVar

from chatbot.answer import ReaderError
from chatbot.language.characters import quoted
from chatbot.sizing.workload import Format, Optimizer, Task, Workload

_E = TypeVar("_E", bound=StrEnum)

_SCALES = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?(?:e\d+)?)\s*([kmbt]?)", re.IGNORECASE)
_TASKS = {
    "serve": Task.SERVE, "serving": Task.SERVE, "inference": Task.SERVE, "full": Task.FULL, "finetune": Task.FULL,
    "lora": Task.LORA, "qlora": Task.QLORA, "pretrain": Task.PRETRAIN, "pretraining": Task.PRETRAIN,
}  # fmt: skip
_FORMATS = {form.value: form for form in Format} | {
    "fp4": Format.MXFP4, "8bit": Format.INT8, "4bit": Format.INT4, "16bit": Format.BF16, "32bit": Format.FP32,
    "float16": Format.FP16, "half": Format.FP16, "bfloat16": Format.BF16, "float32": Format.FP32, "float8": Format.FP8,
}  # fmt: skip
_OPTIMIZERS = {"adam": Optimizer.ADAM, "adamw": Optimizer.ADAM, "adam8bit": Optimizer.ADAM_8BIT} | {
    "adafactor": Optimizer.ADAFACTOR, "sgd": Optimizer.SGD,
}  # fmt: skip
# The slot of a workload for each name in a request.
_SLOTS = {
    "model": "model", "parameters": "parameters", "task": "task", "format": "weights", "cache": "cache", "context": "context",
    "users": "sequences", "optimizer": "optimizer", "zero": "zero_stage", "recompute": "recompute", "lora_rank": "lora_rank",
    "tokens": "tokens", "hours": "hours", "region": "region", "budget": "budget_per_hour", "budget_month": "budget_per_month",
    "vendor": "vendors", "family": "families", "without": "without", "instance_type": "instance_type",
    "instances": "instances", "accelerator": "accelerator", "count": "accelerators", "load": "load",
}  # fmt: skip


def workload_of(given: Mapping[str, Any]) -> Workload:
    """Return the workload that a request describes. Names that are not part of a workload are ignored."""
    slots: dict[str, Any] = {slot: _value(given[name]) for name, slot in _SLOTS.items() if name in given}
    return Workload(**slots)


def with_names_read(workload: Workload) -> Workload:
    """Return a workload whose task, formats and optimizer are values, also where a program gave their names."""
    readers: dict[str, Callable[[str], Any]] = {"task": read_task, "weights": read_format, "cache": read_format, "optimizer": read_optimizer}
    given = {slot: getattr(workload, slot) for slot in readers}
    read: dict[str, Any] = {slot: readers[slot](str(value)) for slot, value in given.items() if not isinstance(value, StrEnum | None)}
    return replace(workload, **read) if read else workload


def _value(value: Any) -> Any:
    """Turn a list into a set, as `Workload` holds it."""
    return frozenset(value) if isinstance(value, list | tuple) else value


def read_task(text: str) -> Task:
    """Read a task by any of its names: "full", "inference". Otherwise raise ReaderError listing them."""
    return _one_of(_TASKS, "task", text)


def read_format(text: str) -> Format:
    """Read a number format by any of its names: "fp8", "8-bit". Otherwise raise ReaderError listing them."""
    return _one_of(_FORMATS, "format", text)


def read_optimizer(text: str) -> Optimizer:
    """Read an optimizer by any of its names: "adamw", "adam-8bit". Otherwise raise ReaderError listing them."""
    return _one_of(_OPTIMIZERS, "optimizer", text)


def _one_of(names: Mapping[str, _E], kind: str, text: str) -> _E:
    own = {name.value: name for name in names.values()}
    found = own.get(text) or names.get(re.sub(r"[\s_-]", "", text.lower()))
    if found is None:
        raise ReaderError(f"{quoted(text)} is no {kind}: write one of {', '.join(names)}.")
    return found


def read_amount(text: str) -> float:
    """Read a count: "70b", "7e9", "1,500". Raise ReaderError for anything else."""
    found = _AMOUNT.fullmatch(text.replace(",", "").strip())
    amount = float(found[1]) * _SCALES[found[2].lower()] if found else math.inf
    if not math.isfinite(amount):
        raise ReaderError(f"{quoted(text)} is not a number: write 70b or 7e9.")
    return amount


def read_tokens(text: str) -> int:
    """Read a number of tokens. 16k is 16 x 1,024 tokens, as models' context windows are counted."""
    amount = read_amount(text)
    return round(amount * 1.024) if text.strip().lower().endswith("k") else round(amount)
