"""The arguments of the tools.

Each class is one JSON schema for every program that offers the tools. The docstring of a tool's class is sent as the tool's
description.
"""

from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, WithJsonSchema, field_validator
from pydantic_core import PydanticCustomError

from chatbot.language.characters import LONGEST_QUESTION
from chatbot.sizing.request import read_amount, read_format, read_optimizer, read_task, read_tokens
from chatbot.sizing.workload import Format, Optimizer, Task

# The most characters of a name or a title.
_LONGEST_NAME = 500
SortBy = Literal["price_per_hour", "accelerator_memory", "accelerators", "vcpus", "memory", "network"]

_AMOUNT = WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string"}, {"type": "null"}]})


def _read(read: Any) -> BeforeValidator:
    """Parse a text as the command line does; other values are left to the type."""
    return BeforeValidator(lambda value: read(value) if isinstance(value, str) else value)


def _one_of(*names: str) -> WithJsonSchema:
    return WithJsonSchema({"anyOf": [{"type": "string", "enum": list(names)}, {"type": "null"}]})


_Amount = Annotated[float | None, Field(le=1e18), _read(read_amount), _AMOUNT]
_Tokens = Annotated[int | None, Field(le=10**12), _read(read_tokens), _AMOUNT]
_Count = Annotated[int | None, Field(le=10**9)]
_Task = Annotated[Task | None, _read(read_task), _one_of("serve", "full", "lora", "qlora", "pretrain")]
_Format = Annotated[Format | None, _read(read_format), _one_of(*Format)]
_Optimizer = Annotated[Optimizer | None, _read(read_optimizer), _one_of("adam", "adam8bit", "adafactor", "sgd")]
_Least = Annotated[float | None, Field(ge=0)]
_Names = Annotated[list[str], Field(max_length=50)]


class Given(BaseModel):
    """What comes from outside: true and false are no numbers."""

    @field_validator("*", mode="before")
    @classmethod
    def _no_boolean(cls, value: Any, info: ValidationInfo) -> Any:
        kind = cls.model_fields[info.field_name or ""].annotation
        if isinstance(value, bool) and {int, float} & {kind, *get_args(kind)}:
            raise PydanticCustomError("no_number", "Input should be a number, not true or false")
        return value


class Arguments(Given):
    """The base of all arguments: it rejects unknown names, overlong texts, and numbers that are NaN or infinite."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, str_max_length=_LONGEST_NAME)


class SearchSources(Arguments):
    """Search the indexed documents, by words and by meaning, for passages on a question about hardware for machine learning. Tables of instance types and prices are read with find_instances instead."""

    query: str = Field(
        max_length=LONGEST_QUESTION, description="A question or keywords, in words that the documents may use."
    )
    limit: int = Field(8, ge=1, le=20, description="The most passages to return.")


class FindInstances(Arguments):
    """Filter, sort and count the EC2 instance types of the index, with their accelerators, sizes and prices. Without filters it counts all; rows come with the cells of the table as they stand there, units included."""

    names: _Names = Field([], description="Instance types by name, such as g6e.12xlarge; empty for all.")
    family: str = Field("", description="An instance family, such as g6e.")
    accelerator: str = Field("", description="The accelerator's name, such as H100, L40S or Trainium2.")
    vendor: str = Field("", description="Who makes the accelerator, such as NVIDIA or AWS.")
    accelerators_min: _Least = Field(None, description="The fewest accelerators; 1 leaves out types without any.")
    accelerators_max: _Least = Field(None, description="The most accelerators; 0 asks for types without any.")
    accelerator_memory_each_min: _Least = Field(
        None, description="Least memory of each accelerator, in GiB as EC2 counts it (an L40S of 48 GB has 44.7)."
    )
    accelerator_memory_total_min: _Least = Field(None, description="Least memory of all accelerators together, in GiB.")
    vcpus_min: _Least = Field(None, description="The fewest vCPUs.")
    vcpus_max: _Least = Field(None, description="The most vCPUs.")
    memory_min: _Least = Field(None, description="Least memory of the instance, in GiB.")
    memory_max: _Least = Field(None, description="Most memory of the instance, in GiB.")
    network_min: _Least = Field(None, description='Least network bandwidth, in Gbps; "up to" counts as its upper end.')
    max_price_per_hour: _Least = Field(
        None, description="The most US dollars an hour; leaves out types without a known price."
    )
    region: str = Field("", description="The AWS Region of the prices; us-east-1 unless said otherwise.")
    purchase: Literal["on demand", "spot"] = Field("on demand", description="How the prices are paid.")
    sort_by: SortBy | None = Field(
        None, description="What to sort by; by size when left out. Rows without a figure come last."
    )
    descending: bool = Field(False, description="Whether the greatest comes first.")
    limit: int = Field(10, ge=1, le=50, description="The most rows to return; the total counts them all.")


class WorkloadArguments(Arguments):
    """What is run and where it may run, as `wattwise size` takes it; what is left out is assumed, and the answer says so."""

    model: str | None = Field(None, description="A model by name, such as Llama-3.1-70B.")
    parameters: _Amount = Field(None, description="How many parameters, where no model is named: 70e9 or 70b.")
    task: _Task = Field(None, description="What is done with it; serve when left out.")
    format: _Format = Field(None, description="How the weights are stored; bf16 when left out.")
    cache: _Format = Field(None, description="How the KV cache is stored; bf16 when left out.")
    context: _Tokens = Field(None, description="Tokens of a sequence, prompt and answer together: 16384 or 16k.")
    users: _Count = Field(None, description="Sequences at once when serving; in training the batch of one accelerator.")
    optimizer: _Optimizer = Field(None, description="Whose states a training keeps.")
    zero: _Count = Field(None, description="The ZeRO stage of a training, 0 to 3.")
    recompute: bool | None = Field(
        None, description="Whether a training computes activations again in the backward pass."
    )
    lora_rank: _Count = Field(None, description="The rank of a LoRA adapter.")
    tokens: _Amount = Field(None, description="Tokens that a training sees in all: 2e9 or 2b.")
    hours: float | None = Field(None, description="How long it runs, in hours.")
    region: str | None = Field(None, description="An AWS Region; us-east-1 when left out.")
    budget: float | None = Field(None, description="The most US dollars an hour.")
    budget_month: float | None = Field(None, description="The most US dollars a month of 730 hours.")
    vendor: _Names = Field(
        [], description="Makers of accelerators that may be used: NVIDIA, AWS, AMD, Intel; empty for any."
    )
    family: _Names = Field([], description="Instance families that may be used, such as g6e; empty for any.")
    without: _Names = Field([], description="Makers or families that may not be used.")
    instance_type: str | None = Field(None, description="An instance type to give a verdict on, such as g6e.12xlarge.")
    instances: _Count = Field(None, description="How many of that instance type.")
    accelerator: str | None = Field(None, description="An accelerator to give a verdict on, such as L40S or A100 80GB.")
    count: _Count = Field(None, description="How many of that accelerator.")
    load: float | None = Field(
        None, description="The share of its time that the hardware is busy, 0 to 1; 0.5 when left out."
    )


class SizeWorkload(WorkloadArguments):
    """Compute whether a model fits, on which instance types, what they cost an hour and a month, their power and carbon; with the arithmetic. Give a model or a number of parameters; what is left out is assumed, and the assumptions are listed."""

    arithmetic: bool = Field(
        False, description="Whether every figure of a fit comes with its formula and the rows it was read from."
    )
    limit: int = Field(5, ge=1, le=10, description="The most entries of fits, best first, besides those advised.")


class ReadDocument(Arguments):
    """Read a document of the index, or one section of it, from an offset on: what stands around a passage that search_sources found."""

    source: str = Field(description="The document, source or title, as search_sources names it.")
    section: str = Field("", description="The heading of a section; empty for the whole document.")
    offset: int = Field(
        0, ge=0, description="The character to begin with, counted from the start of the document or section."
    )
    limit: int = Field(4_000, ge=100, le=20_000, description="The most characters to return.")
