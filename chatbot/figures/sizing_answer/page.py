"""The page that an answer on a workload is written on: how sizes, figures, machines and models are worded."""

from collections.abc import Sequence
from dataclasses import fields

from chatbot.computed import Computed
from chatbot.sizing import Fit, Format, Sizing, Task, Term
from chatbot.sizing.asking import Asked
from chatbot.sizing.facts import Price, short
from chatbot.sizing.impact import HOURS_A_MONTH
from chatbot.sizing.memory import BITS, GIB, USABLE, adapter_parameters
from chatbot.sizing.model_names import display_name
from chatbot.sizing.spelled import as_read
from chatbot.working import Working, article, rounded
from ingest import Row

# Numbers that belong to the formulas themselves: bytes per value, hours, units, shares.
_CONSTANTS = (0.3, 0.5, USABLE, 1, 2, 3, 4, 6, 8, 12, 24, 34, 730, 1000, 3600, 1e6, 1e9, GIB, *(BITS[form] for form in Format))
_SIZES = (("GB", 1e9), ("MB", 1e6), ("kB", 1e3))
_WORK = {
    Task.SERVE: "",
    Task.FULL: "full fine-tuning of ",
    Task.LORA: "LoRA fine-tuning of ",
    Task.QLORA: "QLoRA fine-tuning of ",
    Task.PRETRAIN: "pre-training of ",
}  # fmt: skip


class Page:
    """What an answer is about, and its parts. Every figure is recorded with its arithmetic, every row as evidence."""

    def __init__(self, asked: Asked, sizings: Sequence[Sizing], working: Working) -> None:
        self.asked, self.sizings, self.working = asked, sizings, working
        self.question = as_read(working.said[0].rpartition("\n")[2])
        self._seen: list[Sizing] = []
        self._told: set[str] = set()
        for sizing in sizings:
            self.assume(sizing)

    def assume(self, sizing: Sizing) -> None:
        """Record the assumptions of a sizing, so that the answer may state them and compute with them."""
        self._seen.append(sizing)
        model, work = sizing.model, sizing.workload
        shape = [f.name for f in fields(model) if isinstance(getattr(model, f.name), int | float)] if not model.rows else []
        self.say(", ".join(sizing.assumptions), *(f"{getattr(model, name):g}" for name in shape))
        self.say(f"{work.context:,} tokens" if work.context else "", f"{work.sequences:,} sequences" if work.sequences else "")
        self.say(" ".join(str(f) for f in (work.weights, work.cache) if f))

    def say(self, *words: str) -> str:
        """Record words that need no evidence. Return the first."""
        return self.working.say(*words)

    def cite(self, *rows: Row) -> str:
        """Return the citation marks of rows."""
        return self.working.cite(*rows)

    def cited(self, text: str, *rows: Row) -> str:
        """Return a sentence with the citation marks of rows at its end."""
        return f"{text} {self.cite(*rows)}".rstrip() + "."

    # figures

    def computed(self, text: str, formula: str, *given: float, unit: float = 1.0) -> str:
        """Return a figure as written, and record its arithmetic. `given` are numbers in it that no row has."""
        return self.working.figure(text, formula, *_CONSTANTS, *self._derived(), *given, unit=unit)

    def size(self, value: float, formula: str, *given: float) -> str:
        """Return a number of bytes as text, and record its arithmetic."""
        name, unit = next((name, unit) for name, unit in _SIZES if value >= (unit / 10 if name == "GB" else unit) or name == "kB")
        return self.computed(f"{rounded(value / unit)} {name}", formula, *given, unit=unit)

    def total(self, terms: Sequence[Term]) -> str:
        """Return the size of several terms together."""
        return self.size(sum(t.bytes for t in terms), " + ".join(f"({t.formula})" for t in terms))

    def _derived(self) -> tuple[float, ...]:
        """Return sizes that follow from a model's configuration. No row has them, but the rows behind them are cited."""
        found: list[float] = []
        for sizing in self._seen:
            model, work = sizing.model, sizing.workload
            found += [model.parameters, model.embedding_parameters, model.expert_parameters, model.full_layers, model.sliding_layers]
            found += [model.parameters - model.embedding_parameters, model.parameters - model.expert_parameters]
            if work.lora_rank:
                found += [adapter_parameters(model, work.lora_rank, work.lora_targets), work.lora_rank]
        return tuple(n for n in found if n)

    def figure(self, fit: Fit, name: str, each: float = 1.0) -> str:
        """Return a figure of a fit as text, in units of `each`, and record everything that it is computed from."""
        assert fit.impact
        given = self.inputs(fit)
        for figure in fit.impact.figures:
            self.working.note(Computed(f"{figure.value:.8g}", figure.formula, 1.0, (*_CONSTANTS, *given)))
        wanted = fit.impact.known(name)
        text = f"${rounded(wanted.value, money=True)}" if name.startswith("usd") else rounded(wanted.value / each)
        return self.computed(text, wanted.formula, *given, unit=each)

    def inputs(self, fit: Fit) -> tuple[float, ...]:
        """Return the numbers that a sizing puts into an impact's formulas: machines, load, hours and so on."""
        sizing = self.sizings[0]
        work, memory = sizing.workload, sizing.memory
        flops = [fit.accelerators * speed * 1e12 for speed in fit.accelerator.tflops.values()] if fit.accelerator else []
        present = fit.instance.accelerators * fit.instances if fit.instance else 0
        active = memory.terms[0].bytes * sizing.model.active_parameters / sizing.model.parameters
        speeds = [figure.value for figure in fit.impact.figures if "tokens_per_second" in figure.name] if fit.impact else []
        machines = (fit.instances, fit.accelerators, present, present - fit.accelerators)
        asked = (work.load, work.hours, work.tokens, work.sequences, work.mfu, work.tokens_per_second, work.context)
        model = (active, *(t.bytes for t in memory.terms), sizing.model.active_parameters)
        return tuple(float(n) for n in (*machines, *asked, *speeds, *flops, *model) if n)

    # machines and models

    def terms(self, price: Price) -> str:
        """The terms of a price in parentheses, after a space, the first time that an answer states such a price."""
        return f" {price.terms}" if self._is_new(price.terms) else ""

    def has_described(self, fit: Fit) -> bool:
        return self.machine_name(fit) in self._told

    def _is_new(self, words: str) -> bool:
        is_new = words not in self._told
        self._told.add(words)
        return is_new

    def described(self, fit: Fit) -> str:
        """Describe an instance type with its accelerators and its price; by its name alone if that was done before."""
        name = self.machine_name(fit)
        if not self._is_new(name):
            return self.say(name)
        caveats = [self.say(caveat) for caveat in fit.caveats if fit.runs == "yes"]
        accelerators = f" ({'; '.join([self._accelerators(fit), *caveats])})" if fit.accelerator else ""
        if not fit.impact or fit.impact.usd_per_hour is None or not fit.impact.price:
            return f"{name}{accelerators}, no on-demand price published {self.cite(*self.rows_of(fit))}"
        price = fit.impact.price
        work, month = self.asked.workload, ""
        if work.budget_per_month and work.hours and work.hours < HOURS_A_MONTH and not work.tokens:
            month = f", {self.figure(fit, 'usd_per_run')} for {self.say(f'{work.hours:.4g} hours')}"
        elif work.budget_per_month:
            month = f", {self.figure(fit, 'usd_per_month')} a month"
        return f"{name}{accelerators}, {self.figure(fit, 'usd_per_hour')} an hour{month}{self.terms(price)} {self.cite(*self.rows_of(fit), price.row)}"

    def _accelerators(self, fit: Fit) -> str:
        """Describe the accelerators of one machine: how many, or which part of one."""
        assert fit.accelerator
        part = fit.instance.accelerators if fit.instance else 1.0
        self.say(f"{part:g} {fit.devices}")
        name = short(fit.accelerator.name)
        return f"{part:g} of {article(name)} {name}" if part < 1 else f"{fit.devices} × {name}"

    def price_of(self, fit: Fit) -> str:
        if not fit.impact or not fit.impact.price:
            return f"no on-demand price of {fit.name} published {self.cite(*self.rows_of(fit))}"
        return f"{self.figure(fit, 'usd_per_hour')} an hour on {self.machine_name(fit)}{self.terms(fit.impact.price)} {self.cite(fit.impact.price.row)}"

    def machine_name(self, fit: Fit) -> str:
        if not fit.instance:
            name = short(fit.accelerator.name) if fit.accelerator else "GPU"
            return f"{fit.accelerators} × {name}" if fit.accelerators > 1 else f"one {name}"
        return self.say(f"{fit.instances} × {fit.name}") if fit.instances > 1 else fit.name

    def rows_of(self, fit: Fit) -> list[Row]:
        """Return the rows with the memory of a machine: its own, and its accelerator's if that gives another figure."""
        if fit.instance:
            rows = [fit.instance.row]
            each = (fit.instance.accelerator_memory_gib_each or 0.0) * GIB
            if fit.accelerator and abs(each * USABLE - fit.usable_bytes) > 0.005 * fit.usable_bytes:
                rows.append(fit.accelerator.row)
            return rows
        if not fit.accelerator:
            return []
        facts = self.working.tables.facts
        like = (i for i in facts.instances.values() if facts.accelerator(i) == fit.accelerator)
        same = [i for i in like if abs((i.accelerator_memory_gib_each or 0.0) * GIB * USABLE - fit.usable_bytes) < 0.005 * fit.usable_bytes]
        return [same[0].row] if same else [fit.accelerator.row]

    def subject(self, sizing: Sizing, *, bare: bool = False) -> str:
        work = sizing.workload
        size = rounded_count(sizing.model.parameters)
        name = display_name(work.model) if work.model else f"{'an' if size[0] == '8' else 'a'} {size} model"
        form = f" in {work.weights}" if work.weights and not bare else ""
        self.say(f"{size} {name}{form}")
        return f"{'' if bare else _WORK[work.task or Task.SERVE]}{name}{form}"


def rounded_count(parameters: float) -> str:
    if parameters >= 1e12:
        return f"{parameters / 1e12:.3g}T"
    return f"{parameters / 1e9:.3g}B" if parameters >= 1e9 else f"{parameters / 1e6:.3g}M"
