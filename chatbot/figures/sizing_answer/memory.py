"""Word the memory that a workload needs, in all and term by term, and the memory that hardware has."""

from chatbot.figures.sizing_answer.page import Page
from chatbot.sizing import Fit, Sizing, Task
from chatbot.sizing.conversation import LEFT_OVER
from chatbot.sizing.facts import short
from chatbot.sizing.fit import FOUR_BITS
from chatbot.sizing.memory import USABLE, Sharding
from chatbot.working import article, capital, rounded


def need(page: Page, sizing: Sizing, fit: Fit | None = None) -> str:
    """State the memory that a workload needs, in total and on each accelerator that it is divided over."""
    total = page.total(sizing.memory.terms)
    told = f"{page.subject(sizing)} needs {total}"
    states = [t for t in sizing.memory.terms if t.name in ("weights", "gradients", "optimizer states", "adapter")]
    if len(states) < len(sizing.memory.terms):
        part = page.total(states)
        name = "weights" if len(states) == 1 else "model state"
        told += f", {part} of it {'for the ' if name == 'weights' else ''}{name}" if part != total else ""
    if fit and fit.accelerators > 1:
        each = " + ".join(f"({t.formula}) / {fit.sharding.divisor(t.name)}" for t in sizing.memory.terms)
        divisors = [fit.sharding.divisor(t.name) for t in sizing.memory.terms]
        told += f", {page.size(fit.needed_bytes, each, *divisors)} on each of {page.say(str(fit.accelerators))}"
    return f"{told} {page.cite(*sizing.model.rows)}".rstrip()


def against(page: Page, sizing: Sizing, fit: Fit) -> str:
    """State the memory that a workload needs, and the memory that the hardware has."""
    return f"{need(page, sizing, fit)}; {has(page, fit)}"


def has(page: Page, fit: Fit) -> str:
    held = fit.usable_bytes / USABLE
    memory = page.size(held, f"{held:.0f} bytes", held)
    usable = page.size(fit.usable_bytes, f"{held:.0f} bytes × {USABLE}", held)
    rows = page.rows_of(fit)
    if fit.instance:
        count = f"{page.say(str(fit.devices))} × " if fit.devices > 1 else ""
        return f"{article(fit.name)} {fit.name} has {count}{memory}, {usable} usable {page.cite(*rows)}".rstrip()
    name = short(fit.accelerator.name) if fit.accelerator else "GPU"
    several = f"{fit.accelerators} × {name}" if fit.accelerator else f"{fit.accelerators} GPUs"
    one = f"{page.say(several)} have {memory} each" if fit.accelerators > 1 else f"{article(name)} {name} has {memory}"
    return f"{one}, {usable} usable {page.cite(*rows)}".rstrip()


def one_term(page: Page, sizing: Sizing) -> str:
    """State the one memory term that is asked for ("the KV cache", "the weights"); "" if none is."""
    wanted = page.asked.term or ""
    term = next((t for t in sizing.memory.terms if t.name == wanted), None)
    if term is None:
        return ""
    takes, work, rows = page.size(term.bytes, term.formula), sizing.workload, sizing.model.rows
    if wanted == "weights":
        if work.weights in FOUR_BITS:
            bare = page.size(sizing.model.parameters / 2, f"{sizing.model.parameters:.8g} × 4 / 8")
            takes = f"{bare} without and {takes} with their scales"
        return page.cited(f"The weights of {page.subject(sizing)} take {takes}", *rows)
    if wanted == "adapter":
        if term.bytes < 1e9:
            takes = page.computed(f"{rounded(term.bytes / 1e6)} MB", term.formula, unit=1e6)
        adapter = f"The adapter of rank {work.lora_rank} of {page.subject(sizing, bare=True)}"
        return page.cited(f"{adapter} takes {takes}, with its gradients and optimizer states", *rows)
    name, count, context = page.subject(sizing, bare=True), work.sequences or 1, work.context or 0
    tokens = f"{count:,} sequences of {context:,} tokens" if count > 1 else f"{context:,} token{'s' if context != 1 else ''}"
    page.say(tokens)
    return page.cited(f"The KV cache of {name} takes {takes} for {tokens} in {work.cache}", *rows)


def per_rank(page: Page, sizing: Sizing, ranks: int) -> str:
    """State how much model state each of several accelerators holds when ZeRO shards it."""
    stage = sizing.workload.zero_stage or 0
    sharding = Sharding(ranks=ranks, zero_stage=stage)
    states = [t for t in sizing.memory.terms if t.name != "activations"]
    formula = " + ".join(f"({t.formula}) / {sharding.divisor(t.name)}" for t in states)
    each = page.size(sum(t.bytes / sharding.divisor(t.name) for t in states), formula, ranks)
    page.say(f"{ranks} ZeRO stage {stage}", formula)
    return f"{each} of model state on each of {ranks} accelerators with ZeRO stage {stage}: {need(page, sizing)}."


def left_over(page: Page, sizing: Sizing, fit: Fit) -> str:
    """State what the weights leave of the usable memory, if the question asks for it."""
    held, devices = sizing.memory.terms[0], fit.devices * fit.instances
    usable = fit.usable_bytes * devices
    if not LEFT_OVER.search(page.question) or sizing.workload.task is not Task.SERVE or held.bytes > usable:
        return ""
    formula = f"{fit.usable_bytes / USABLE:.0f} bytes × {USABLE} × {devices}"
    left = page.size(usable - held.bytes, f"({formula}) - ({held.formula})", usable, devices)
    of_all = page.size(usable, formula, devices)
    return page.cited(f"{left} of {of_all} usable are left beside the weights", *page.rows_of(fit), *sizing.model.rows)


def arithmetic(page: Page, sizing: Sizing) -> str:
    """Show how each term asked for is computed, and cite what explains it."""
    terms = [t for t in sizing.memory.terms if page.asked.term in (None, t.name)]
    parts = [f"{capital(t.name)}: {t.formula} = {page.size(t.bytes, t.formula)}" for t in terms if t.bytes]
    page.say(*(t.formula for t in sizing.memory.terms))
    names = [*(t.name for t in terms), str(sizing.workload.task)]
    explained = [e for name in names if (e := page.working.tables.explained(name, page.working.index))]
    marks = "".join(dict.fromkeys(page.working.mark(e) for e in explained))
    return f"{'; '.join(parts)} {marks}{page.cite(*sizing.model.rows)}".rstrip() + "."
