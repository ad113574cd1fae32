"""Tasks, formats and optimizers by the names that people give them on a command line or in JSON."""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar

from chatbot.answer import ReaderError
from chatbot.sizing.workload import Format, Optimizer, Task

_E = TypeVar("_E", bound=StrEnum)

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


def read_task(text: str) -> Task:
    """What is done with a model; ReaderError names those that there are, as it does for formats and optimizers."""
    return _named(text, _TASKS, "task")


def read_format(text: str) -> Format:
    """How numbers are stored."""
    return _named(text, _FORMATS, "format")


def read_optimizer(text: str) -> Optimizer:
    """Whose states a training keeps."""
    return _named(text, _OPTIMIZERS, "optimizer")


def _named(text: str, names: Mapping[str, _E], kind: str) -> _E:
    found = names.get(re.sub(r"[\s_-]", "", text.lower()))
    if found is None:
        raise ReaderError(f"{text!r} is no {kind}: write one of {', '.join(names)}.")
    return found
