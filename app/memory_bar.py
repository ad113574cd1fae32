"""The memory of a workload as one bar: each term's share of an accelerator, and where its usable memory ends."""

from app.escaping import as_html
from chatbot.sizing import Fit, Sizing
from chatbot.sizing.facts import short


def memory_bar_html(sizing: Sizing) -> str:
    """Return a figure that can also be read as text: each term has a segment and a line in the legend.

    It shows the memory of one accelerator of `shown_fit`. If there is no such hardware, it shows all memory together.
    """
    fit = shown_fit(sizing)
    terms = [(t.name, t.bytes / (fit.sharding.divisor(t.name) if fit else 1)) for t in sizing.memory.terms]
    needed = sum(size for _, size in terms)
    usable = fit.usable_bytes if fit else None
    scale = max(needed, usable or 0.0) * 1.02 or 1.0
    parts = "".join(
        f'<span class="{_kind(name)}" style="width:{100 * size / scale:.2f}%"></span>' for name, size in terms
    )
    line = f'<span class="ww-usable" style="left:{100 * usable / scale:.2f}%"></span>' if usable else ""
    legend = "".join(
        f'<li><span class="ww-swatch {_kind(name)}"></span>{as_html(name)} <b>{gb(size)}</b></li>'
        for name, size in terms
    )
    return (
        f'<figure class="ww-memory"><figcaption>{as_html(_caption(fit, needed, usable))}</figcaption>'
        f'<div class="ww-stack" aria-hidden="true">{parts}{line}</div><ul class="ww-legend">{legend}</ul></figure>'
    )


def shown_fit(sizing: Sizing) -> Fit | None:
    """Return the hardware that a sizing is shown on: the named one, else the cheapest, else the smallest that holds it."""
    return sizing.named or sizing.cheapest or sizing.smallest


def machines(fit: Fit) -> str:
    """Name the instances of a fit: "2 × p5.48xlarge"."""
    return f"{fit.instances} × {fit.name}" if fit.instances > 1 else fit.name


def hardware_words(fit: Fit) -> str:
    """Say how many of which accelerators a fit uses: "4 of 8 L40S in g6e.48xlarge"."""
    count = machines(fit)
    if not fit.accelerator:
        return f"the CPU of {count}"
    name = short(fit.accelerator.name)
    if not fit.instance:
        return f"{fit.accelerators} × {name}"
    there = fit.devices * fit.instances
    used = f"{fit.accelerators} × {name}" if fit.accelerators == there else f"{fit.accelerators} of {there} {name}"
    return f"{used} in {count}"


def gb(size: float) -> str:
    """Format bytes as GB with three significant digits, but keep all digits before the decimal point."""
    return f"{size / 1e9:,.0f} GB" if size >= 1e11 else f"{size / 1e9:.3g} GB"


def _caption(fit: Fit | None, needed: float, usable: float | None) -> str:
    if fit is None or usable is None:
        return f"{gb(needed)} in all"
    used, within, machine = hardware_words(fit).partition(" in ")
    if fit.accelerator:
        name = short(fit.accelerator.name)
        used = f"each of {fit.accelerators} {name}" if fit.accelerators > 1 else f"one {name}"
    return f"On {used}{within}{machine}: {gb(needed)} needed, {gb(usable)} usable"


def _kind(name: str) -> str:
    return f"ww-{name.lower().replace(' ', '-')}"
