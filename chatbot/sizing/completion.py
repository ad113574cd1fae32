"""Fill every slot of a workload: state what is assumed, and refuse what is impossible."""

import math
import re
from dataclasses import replace
from difflib import get_close_matches

from chatbot.answer import ReaderError
from chatbot.language.characters import quoted
from chatbot.sizing.architecture import Architecture, architecture, assumed
from chatbot.sizing.facts import Facts, Model
from chatbot.sizing.fit import TRAINING
from chatbot.sizing.impact import DEFAULT_REGION
from chatbot.sizing.memory import USABLE, adaptable
from chatbot.sizing.workload import Format, Optimizer, Task, Workload

_SERVING_CONTEXT, _TRAINING_CONTEXT = 8192, 4096
_LORA_RANK = 16
_LOAD = 0.5
CACHE_FORMATS = (Format.FP32, Format.BF16, Format.FP16, Format.FP8, Format.INT8, Format.INT4)
# Models whose makers publish no 16-bit weights: https://arxiv.org/abs/2508.10925, https://arxiv.org/abs/2412.19437 and
# https://huggingface.co/moonshotai/Kimi-K2-Instruct.
_PUBLISHED_IN = (
    (re.compile(r"gpt-oss-"), Format.MXFP4),
    (re.compile(r"DeepSeek-(?:V3|R1)(?!-Distill)|Kimi-K2-Instruct"), Format.FP8),
)
_TRAINED_IN = (Format.FP32, Format.BF16, Format.FP16, Format.FP8)


def complete(given: Workload, facts: Facts) -> tuple[Workload, Architecture, tuple[str, ...]]:
    """Return the workload with every slot filled, its architecture, and the assumptions made.

    Raise ReaderError for a workload that is impossible.
    """
    check_numbers(given)
    task, assumptions = given.task or Task.SERVE, [] if given.task else ["serving"]
    row = find_model(given.model, facts) if given.model else None
    model, assumed_shape = _architecture(row, given)
    assumptions += assumed_shape
    weights = given.weights or _usual_format(task, row)
    if task is Task.LORA and weights is Format.NF4:
        task = Task.QLORA
    _check_formats(task, weights, given.cache)
    training = task in TRAINING
    usual = _TRAINING_CONTEXT if training else _SERVING_CONTEXT
    longest = row.max_position if row else None
    context = given.context or min(usual, longest or usual)
    if row and longest and context > longest:
        raise ReaderError(
            f"{_short(row)} takes {longest:,} tokens at most, not {context:,}: ask for a shorter context."
        )
    region = given.region or DEFAULT_REGION
    check_region(region, facts)
    defaults: dict[str, tuple[object, str]] = {
        "weights": (weights, f"{weights} weights"),
        "context": (context, f"{context:,} tokens of context" if model.layers else ""),
        "sequences": (1, "a batch of one on each accelerator" if training else "one sequence at a time"),
        "region": (region, f"in {region}"),
        "load": (_LOAD, f"{_LOAD:.0%} load"),
    }
    if not training:
        defaults["cache"] = (Format.BF16, "a bf16 cache" if model.full_layers + model.sliding_layers else "")
    else:
        defaults["optimizer"] = (Optimizer.ADAM, "Adam")
        defaults["recompute"] = (True, "activations recomputed")
    if model.latent and not training and (given.sequences or 1) > 1:
        assumptions.append("each sequence's cache on one accelerator (data-parallel attention)")
    if training and given.zero_stage is None:
        assumptions.append("ZeRO-3 over all accelerators where there are several")
    if task in (Task.LORA, Task.QLORA):
        if unsized := sorted((given.lora_targets or frozenset()) - adaptable(model).keys()):
            raise ReaderError(f"LoRA on {', '.join(unsized)} cannot be sized for this model: adapt {', '.join(adaptable(model))}.")
        defaults["lora_rank"] = (_LORA_RANK, f"LoRA of rank {_LORA_RANK}{'' if given.lora_targets else f' on {_adapted(model)}'}")
    open_slots = {slot: value for slot, value in defaults.items() if getattr(given, slot) is None}
    assumptions += [words for _, words in open_slots.values() if words]
    assumptions.append(f"{USABLE:.0%} of the memory usable")
    values = {slot: value for slot, (value, _) in open_slots.items()}
    name = row.name if row else None
    return replace(given, model=name, task=task, parameters=model.parameters, **values), model, tuple(assumptions)  # type: ignore[arg-type]


def find_model(name: str, facts: Facts) -> Model:
    """Return the row of a model by any of its usual spellings. If there is none, raise ReaderError asking for its size."""
    if name in facts.models:
        return facts.models[name]
    found = [model for key, model in facts.models.items() if _spelling(key) == _spelling(name)]
    if found:
        return found[0]
    short = {key.rpartition("/")[2].lower(): key.rpartition("/")[2] for key in facts.models}
    near = get_close_matches(name.rpartition("/")[2].lower(), short, 3, 0.6)
    like = f" (near to it: {', '.join(short[n] for n in near)})" if near else ""
    raise ReaderError(
        f"The model {quoted(name)} is not in the table{like}: give its number of parameters, or ingest its config.json."
    )


def _spelling(name: str) -> str:
    """Normalise a model name.

    Drop the maker and the suffixes of variants that share an architecture, as in
    meta-llama/Meta-Llama-3.1-70B-Instruct.
    """
    bare = re.sub(r"[\s_]+", "-", name.rpartition("/")[2].strip().lower())
    bare = re.sub(r"^meta-(?=llama)|-(?:instruct|chat|it|base|hf|v0\.\d)(?=-|$)", "", bare)
    return re.sub(r"[^a-z0-9.]", "", bare)


def _usual_format(task: Task, row: Model | None) -> Format:
    if task is Task.QLORA:
        return Format.NF4
    published = (form for name, form in _PUBLISHED_IN if row and task is Task.SERVE and name.match(_short(row)))
    return next(published, Format.BF16)


def _adapted(model: Architecture) -> str:
    return "the attention" if model.expert_parameters or not model.intermediate_size else "all linear layers"


def _architecture(row: Model | None, given: Workload) -> tuple[Architecture, list[str]]:
    """Return the architecture and the assumptions behind it.

    It comes from the row, with the given size if the row has none. Without a row, it is the usual one for the given
    size.
    """
    if not row:
        if not given.parameters:
            raise ReaderError("The size of the model is not known: name a model, or give its parameters, as in 70b.")
        shape, words = assumed(given.parameters)
        return shape, [words]
    known = architecture(replace(row, parameters=row.parameters or round(given.parameters or 0) or None))
    if not known:
        raise ReaderError(f"The table does not say how large {_short(row)} is: give its parameters, as in 70b.")
    return known, [] if known.layers else ["the weights alone, as its layers are not in the table"]


def _short(row: Model) -> str:
    return row.name.rpartition("/")[2]


def check_numbers(given: Workload) -> None:
    """Raise ReaderError for numbers that no model, machine or budget can have."""
    for slot, least, remedy in _LEAST:
        value = getattr(given, slot)
        if value is not None and math.inf > abs(value) > _MOST:
            raise ReaderError("The figures are too large to compute with: give smaller ones.")
        if value is not None and not (math.isfinite(value) and value >= least):
            if slot == "parameters" and math.isfinite(value):
                raise ReaderError(f"No model has {value:g} parameters: {remedy}.")
            raise ReaderError(f"{slot.replace('_', ' ').capitalize()} cannot be {value:g}: {remedy}.")
    if given.load is not None and not 0 <= given.load <= 1:
        raise ReaderError(f"A load of {given.load:g} is not a share of the time: give one from 0 to 1, as 0.5.")
    if given.mfu is not None and not 0 < given.mfu <= 1:
        raise ReaderError(f"An MFU of {given.mfu:g} is not a share of the peak: give one above 0 and up to 1, as 0.4.")
    if given.zero_stage is not None and given.zero_stage not in (0, 1, 2, 3):
        raise ReaderError(f"There is no ZeRO stage {given.zero_stage}: give 0, 1, 2 or 3.")


# With numbers up to this, every product of the formulas is a finite float.
_MOST = 1e18
_LEAST = (
    ("parameters", 1, "give how many the model has, as 70b"),
    ("context", 1, "give how many tokens a sequence has, as 8k"),
    ("sequences", 1, "give how many run at once, at least 1"),
    ("lora_rank", 1, "give a rank such as 16"),
    ("tokens", 1, "give how many tokens the training sees, as 2e9"),
    ("hours", 1e-9, "give a time above 0"),
    ("tokens_per_second", 1e-9, "give a speed above 0"),
    ("budget_per_hour", 1e-9, "give US dollars above 0"),
    ("budget_per_month", 1e-9, "give US dollars above 0"),
    ("accelerators", 1, "give at least 1"),
    ("instances", 1, "give at least 1"),
)


def _check_formats(task: Task, weights: Format, cache: Format | None) -> None:
    if task in (Task.FULL, Task.PRETRAIN) and weights not in _TRAINED_IN:
        raise ReaderError(f"{weights} weights cannot be trained in full: use QLoRA, or train in bf16.")
    if task is Task.QLORA and weights not in (Format.NF4, Format.INT4):
        raise ReaderError(
            f"QLoRA holds the weights in 4 bits, not in {weights}: ask for LoRA, or leave the format out."
        )
    if cache and cache not in CACHE_FORMATS:
        raise ReaderError(f"{cache} is a format of weights: a cache is stored in {', '.join(CACHE_FORMATS[1:])}.")


def check_region(region: str, facts: Facts) -> None:
    known = set(facts.grids) | {p.region for prices in facts.prices.values() for p in prices[:1]} | {DEFAULT_REGION}
    if region not in known and region not in facts.pues:
        near = get_close_matches(region, sorted(known), 3, 0.5) or [DEFAULT_REGION]
        raise ReaderError(f"There are no figures for a region {quoted(region)}: take one such as {', '.join(near)}.")
