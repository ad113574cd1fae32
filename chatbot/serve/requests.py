"""What the server is asked beside chats; fields are those of the commands `wattwise ask` and `wattwise size`."""

from collections.abc import Callable
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from chatbot.answer import Turn
from chatbot.sizing.amounts import read_amount, read_tokens
from chatbot.sizing.named import read_format, read_optimizer, read_task
from chatbot.sizing.workload import Format, Workload

T = TypeVar("T")
MOST_PASSAGES = 50


class PastTurn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    question: str
    answer: str


class AskRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    question: str = Field(examples=["How much memory does a trn1.32xlarge have?"])
    history: list[PastTurn] = Field([], description="The turns before the question, in their order.")
    model: str | None = Field(None, description="offline: answer without the model that the server was started with.")

    def turns(self) -> list[Turn]:
        return [Turn(turn.question, turn.answer) for turn in self.history]


class SearchRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    query: str = Field(examples=["memory of a trn1.32xlarge"])
    limit: int = Field(12, ge=1, le=MOST_PASSAGES, description="How many passages at the most.")


class SizeRequest(BaseModel):
    """What is run and where it may run, as `wattwise size` takes it; what is left out is assumed, and the answer says so."""

    model_config = ConfigDict(extra="forbid")

    model: str | None = Field(None, description="A model of the table.", examples=["llama-3.1-70b"])
    parameters: FiniteFloat | str | None = Field(None, description="Its size where no model is named: 70b.")
    task: str | None = Field(None, description="serve (default), full, lora, qlora or pretrain.")
    format: str | None = Field(None, description=f"Of the weights: {', '.join(Format)}.", examples=["int8"])
    cache: str | None = Field(None, description="Format of the KV cache: bf16 (default), fp8, int8 or int4.")
    context: int | str | None = Field(None, description="Tokens of a sequence: 16k is 16,384.", examples=["16k"])
    users: int | None = Field(None, description="Sequences at once; in training the batch of one accelerator.")
    optimizer: str | None = Field(None, description="adam, adam8bit, adafactor or sgd.")
    zero: int | None = Field(None, description="What training shards: 0 to 3.")
    recompute: bool | None = Field(None, description="Whether activations are computed again in the backward pass.")
    lora_rank: int | None = None
    tokens: FiniteFloat | str | None = Field(None, description="That a training sees in all: 2b.")
    hours: FiniteFloat | None = Field(None, description="How long it runs.")
    region: str | None = Field(None, description="An AWS region (default us-east-1).")
    budget: FiniteFloat | None = Field(None, description="The most US dollars an hour.")
    budget_month: FiniteFloat | None = Field(None, description="The most US dollars a month of 730 hours.")
    vendor: Annotated[list[str], Field(description="NVIDIA, AWS, AMD, Intel.")] = []
    family: Annotated[list[str], Field(description="Instance families such as g6e.")] = []
    without: Annotated[list[str], Field(description="Makers and families that are not wanted.")] = []
    instance_type: str | None = Field(None, description="Says whether this one holds it.")
    instances: int | None = Field(None, description="How many of them.")
    accelerator: str | None = Field(None, description="Says whether it holds it: L40S, A100 80GB.")
    count: int | None = Field(None, description="How many accelerators.")
    load: FiniteFloat | None = Field(None, description="The share of its time that the hardware is busy (0.5).")

    def workload(self) -> Workload:
        """ReaderError for a name or a number that cannot be read."""
        return Workload(
            model=self.model,
            parameters=_read(self.parameters, read_amount),
            task=_read(self.task, read_task),
            weights=_read(self.format, read_format),
            cache=_read(self.cache, read_format),
            context=_read(self.context, read_tokens),
            sequences=self.users,
            optimizer=_read(self.optimizer, read_optimizer),
            zero_stage=self.zero,
            recompute=self.recompute,
            lora_rank=self.lora_rank,
            tokens=_read(self.tokens, read_amount),
            hours=self.hours,
            budget_per_hour=self.budget,
            budget_per_month=self.budget_month,
            region=self.region,
            vendors=frozenset(self.vendor),
            families=frozenset(self.family),
            without=frozenset(self.without),
            accelerator=self.accelerator,
            accelerators=self.count,
            instance_type=self.instance_type,
            instances=self.instances,
            load=self.load,
        )


def _read(given: T | str | None, read: Callable[[str], T]) -> T | None:
    return read(given) if isinstance(given, str) else given
