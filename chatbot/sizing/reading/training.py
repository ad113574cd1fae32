"""Read how a model is trained or stored: number formats, the method, its options, and the task."""

import re

from chatbot.sizing.reading.numerals import NUMBER, compiled, value_of
from chatbot.sizing.reading.text import Reading
from chatbot.sizing.reading.tokens import EPOCHS
from chatbot.sizing.reading.wording import take_listed
from chatbot.sizing.workload import Format, Optimizer, Task

# Formats that are not the format of the weights: fp8 in "bf16 instead of fp8", or "an fp32 master copy".
DENIED_FORMAT = re.compile(r"\b(?:no |\d |an? |two |the )*(?:fp32|float32|32-bit) (?:master|adam|optimi[sz]er|moments?|cop(?:y|ies)|states?)\b|\b(?:instead of|rather than|not) (?:[bt]?f(?:p|loat)?\d+|int\d|\d[ -]?bits?)\b")
_ANY_FORMAT = r"(?:(?:fp|int|bf|nf|float|bfloat)[- ]?\d+|e4m3|\d+[- ]?bits?)"
_CACHE_WORD = r"(?:(?:k/?v|key[/ -]?(?:and )?value)(?:[- ]?cache)?|cache)(?! heads?)"
_CACHE = compiled(
    rf"(?:(?P<before>{_ANY_FORMAT})[ -](?:for the )?{_CACHE_WORD}"
    rf"|{_CACHE_WORD}(?: (?:format|precision|dtype|is|are|was|were|be|goes|kept|stored|quanti[sz]ed|switched|drops?|stays|in|at|of|with|to|as|down)|\s?[:=]){{0,4}} ?(?P<after>{_ANY_FORMAT})(?! weights?))(?!\w)"
)
_ZERO = compiled(r"(?:(?:deepspeed )?zero[- ]?(?:stage[- ]?)?(?P<stage>[0-3])|(?P<sharded>fsdp))(?!\w)")
_RANK = compiled(r"(?:rank(?: of)?|r)\s?=?\s?(?P<rank>\d{1,4})(?![\w.])")
_RECOMPUTE = compiled(
    r"(?P<no>(?:without|no|not) )?(?:using )?(?:(?:gradient|activation)[- ]checkpointing|(?:activation )?recomput(?:e|ation|ing))(?!\w)"
)
_MATRIX = r"(?:[qkvo]|query|key|value|output|gate|up|down)(?:_proj)?(?!\w)"
_MATRICES = compiled(
    rf"(?:(?=[qkvo]\b|query|gate){_MATRIX}(?:,?\s?(?:,|/|&|\+|and)\s?{_MATRIX})+|{_MATRIX}(?:,?\s?(?:,|/|&|\+|and)\s?{_MATRIX})*(?: projections?| matri(?:x|ces)|(?<=_proj)))"
)
_ATTENTION_ONLY = re.compile(r"\b(?:attention only|only (?:the )?attention|attention (?:projections|matrices))\b")
# Copies that the optimizer keeps; they do not give the format of the weights.
_MASTER = compiled(r"(?:fp|float)?[- ]?32(?:[- ]?bits?)? (?:master(?:s|[- ](?:weights?|cop(?:y|ies)|params?|parameters?))?|cop(?:y|ies) of the weights|optimi[sz]er[- ]states?|moments|states)(?!\w)")
_NO_ADAPTER = compiled(r"(?:no|not|without|minus|never|ohne|sans|sin|senza) (?:any |a )?(?:q?lora|dora|peft|adapters?)(?!\w)")
# Several adapters that are served beside one model, which is no training.
SEVERAL_ADAPTERS = compiled(rf"(?!(?:one|single|1)\b)(?:{NUMBER}|several|many|multiple|multi|dozens of|hundreds of|their own|its own)[ -](?:[a-z]+ )?(?:q?loras?|(?:q?lora )?adapters?)(?!\w)")
# "Serve a fine-tuned Llama", "we host a Mistral finetune": the model is served, not tuned.
_SERVES = re.compile(r"\b(?:serv(?:e|es|ing)|host(?:s|ing)?|deploy\w*)\b")
_A_TUNE = re.compile(r"\|+ fine-?\s?tunes?\b(?! (?:an?|the|it|them|our|my|of)\b| (?:on|with) [^|])")
_TUNED_BEFORE = re.compile(r"\b(?:an?|the|our|my|own|this|that|already|unser\w*|ein\w*) (?:\w+ )?(?:fine-?\s?tuned|trained)(?! (?:on|with)\b)(?=[ |])")


def take_cache(reading: Reading) -> None:
    for match in list(_CACHE.finditer(reading.text)):
        reading.mask(*match.span("before" if match["before"] else "after"))
        inner = Reading(match["before"] or match["after"])
        reading.fill("cache", [Format(name) for name in take_listed(inner, "formats")])


def memory_term(text: str) -> str | None:
    """Return the one memory term that a text asks for, such as "KV cache"; None if it asks for none."""
    return next(iter(take_listed(Reading(_CACHE.sub(" ", text)), "terms")), None)


def take_formats(reading: Reading) -> None:
    """Fill the formats of the weights; the bits of a named method ("AWQ, 4-bit") are not a second format."""
    found = [Format(name) for name in take_listed(reading, "formats")]
    methods = [f for f in found if f in (Format.AWQ, Format.GPTQ, Format.NF4, Format.MXFP4)]
    reading.fill("weights", [f for f in found if f in methods or not methods or f is not Format.INT4])


def take_training(reading: Reading) -> None:
    reading.take(_MASTER)
    reading.take(_NO_ADAPTER)
    reading.fill("epochs", [value_of(m["number"]) for m in reading.take(EPOCHS)])
    reading.take(SEVERAL_ADAPTERS)
    if re.search(r"lora|dora|adapter|\bq\b", reading.text):
        words = {word.removesuffix("_proj") for m in reading.take(_MATRICES) for word in re.findall(_MATRIX, m.group())}
        targets = {word[0] if word in ("query", "key", "value", "output") else word for word in words}
        if not targets and _ATTENTION_ONLY.search(reading.text):
            targets = set("qkvo")
        reading.fill("lora_targets", [frozenset(targets)] if targets else [])
    reading.fill("zero_stage", [3 if m["sharded"] else int(m["stage"]) for m in reading.take(_ZERO)])
    reading.fill("recompute", [not m["no"] for m in reading.take(_RECOMPUTE)])
    reading.fill("optimizer", [Optimizer(name) for name in take_listed(reading, "optimizers")])
    if re.search(r"lora|dora|adapter|rank|\br ?=", reading.text) and not re.search(r"\b(?:mla|latent|rope)\b", reading.text):
        reading.fill("lora_rank", [int(m["rank"]) for m in reading.take(_RANK)])


def take_task(reading: Reading) -> None:
    """Fill the task. Specific words ("train a LoRA") outrank general ones; to train means to change all weights."""
    text = _A_TUNE.sub(" ", reading.text) if _SERVES.search(reading.text) else reading.text
    found = take_listed(Reading(_TUNED_BEFORE.sub(" ", text)), "tasks")
    tasks = [Task.FULL if name == "training" else Task(name) for name in found]
    exact = [task for task in tasks if task in (Task.LORA, Task.QLORA, Task.PRETRAIN)]
    trains = [task for task in tasks if task is not Task.SERVE]
    reading.fill("task", exact or trains or tasks)
