"""Render a sizing as text for a terminal, or as JSON."""

from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

from chatbot.sizing.fit import Fit
from chatbot.sizing.impact import Impact
from chatbot.sizing.memory import GIB, Reference
from chatbot.sizing.sizing import Sizing
from chatbot.sizing.workload import Workload
from ingest import Row

_CHOICES = (
    ("smallest", "Smallest"),
    ("cheapest", "Cheapest"),
    ("least_energy", "Least energy"),
    ("least_carbon", "Least carbon"),
)
_COLUMNS = (
    "Instance type",
    "Needs",
    "Accelerators",
    "Headroom",
    "$/hour",
    "$/month",
    "Watts",
    "kg CO2e/month",
    "Tokens/s",
)


def as_text(sizing: Sizing, *, rows: int = 10) -> str:
    """Memory by term, verdict, what to launch, and a table of the first `rows` hardware options that hold the workload."""
    parts = [
        _headline(sizing),
        f"Assumed: {', '.join(sizing.assumptions)}.",
        _memory(sizing),
        "\n".join(_verdicts(sizing)),
        _table(sizing, rows),
        "\n".join(f"Note: {note}." for note in _notes(sizing)),
        _sources(sizing),
    ]
    return "\n\n".join(part for part in parts if part)


def as_json(sizing: Sizing) -> dict[str, Any]:
    """Return every figure of a sizing, unrounded; the arithmetic is included only for hardware that holds the workload.

    `fits` describes each option once. The recommendations refer to it by name; `named` has a description of its own.
    """
    named = sizing.named
    return {
        "workload": _filled(sizing.workload),
        "assumptions": list(sizing.assumptions),
        "memory": {
            "bytes": sizing.memory.bytes,
            "terms": [
                {"name": t.name, "bytes": t.bytes, "formula": t.formula, "source": _reference(t.source), "inputs": _rows(t.inputs)}
                for t in sizing.memory.terms
            ],
        },
        "verdict": sizing.verdict,
        "named": _fit(named) if named else None,
        **{slot: fit.name if (fit := getattr(sizing, slot)) else None for slot, _ in _CHOICES},
        "named_cheapest": sizing.named_cheapest.name if sizing.named_cheapest else None,
        "alternatives": [fit.name for fit in sizing.alternatives],
        "notes": list(sizing.notes),
        "fits": [_fit(fit) for fit in sizing.fits],
    }  # fmt: skip


def _headline(sizing: Sizing) -> str:
    work = sizing.workload
    model = (work.model or "").rpartition("/")[2] or f"{sizing.model.parameters / 1e9:,.4g}B parameters"
    users = f"{work.sequences:,} {'sequence' if work.sequences == 1 else 'sequences'}"
    return f"{model}: {work.task}, {work.weights} weights, {work.context:,} tokens of context, {users}, {work.region}"


def _memory(sizing: Sizing) -> str:
    lines: list[tuple[str, str, str]] = [(t.name, f"{t.bytes / 1e9:,.2f} GB", t.formula) for t in sizing.memory.terms]
    lines.append(("total", f"{sizing.memory.gb:,.2f} GB", f"{sizing.memory.gib:,.2f} GiB"))
    wide, numbers = max(len(name) for name, _, _ in lines), max(len(number) for _, number, _ in lines)
    return "\n".join(f"{name:<{wide}}  {number:>{numbers}}  {rest}" for name, number, rest in lines)


def _verdicts(sizing: Sizing) -> Iterable[str]:
    named = sizing.named
    if named:
        count = f"{named.accelerators} × " if not named.instance and named.accelerators > 1 else ""
        needs, usable = named.needed_bytes / GIB, named.usable_bytes / GIB
        tight = f" (it {'just fits' if named.fits else 'just does not fit'})" if named.verdict == "tight" else ""
        each = " on each accelerator" if named.accelerators > 1 else ""
        words = f"{named.verdict}{tight}: needs {needs:,.1f} GiB{each}, {usable:,.1f} GiB usable"
        yield f"{count}{named.name}: {words}"
    if named and not named.fits and (like := sizing.named_cheapest):
        used = f"{like.accelerators} of {like.devices * like.instances} accelerators"
        yield f"{'With that name:':<15} {_described(like)}, on {used}"
    for slot, title in _CHOICES:
        fit: Fit | None = getattr(sizing, slot)
        yield f"{title + ':':<15} {_described(fit) if fit else 'none that is known'}"
    if sizing.alternatives:
        yield f"{'Alternatives:':<15} {'; '.join(_described(fit) for fit in sizing.alternatives)}"


def _described(fit: Fit) -> str:
    impact = fit.impact or Impact()
    count = f"{fit.instances} × " if fit.instances > 1 else ""
    unsure = "" if fit.runs == "yes" else f", {fit.caveats[0]}"
    price = f", ${impact.usd_per_hour:,.4g} an hour" if impact.usd_per_hour is not None else ", no price known"
    return f"{count}{fit.name}{price}{_run(impact)}{unsure}"


def _run(impact: Impact) -> str:
    """The bounds of a training's duration, and its minimum cost."""
    if impact.training_hours_low is None or impact.training_hours_high is None:
        return ""
    cost = f", at least ${_three(impact.usd_per_run)}" if impact.usd_per_run is not None else ""
    return f", {_three(impact.training_hours_low)} to {_three(impact.training_hours_high)} hours of training{cost}"


def _table(sizing: Sizing, rows: int) -> str:
    held = [fit for fit in sizing.fits if fit.fits and fit.runs != "no"][:rows]
    if not held:
        return ""
    table = [_COLUMNS, *(_row(fit) for fit in held)]
    widths = [max(len(line[i]) for line in table) for i in range(len(_COLUMNS))]
    return "\n".join(_aligned(line, widths) for line in table)


def _row(fit: Fit) -> tuple[str, ...]:
    impact = fit.impact or Impact()
    speed = impact.decode_tokens_per_second or impact.training_tokens_per_second_high
    used = f"{fit.accelerators} of {fit.devices * fit.instances}" if fit.accelerator else "CPU"
    return (
        fit.name,
        f"{fit.instances} ×",
        f"{used} {fit.accelerator.name if fit.accelerator else ''}".strip(),
        f"{fit.headroom:.0%}{' tight' if fit.verdict == 'tight' else ''}",
        "?" if impact.usd_per_hour is None else f"{impact.usd_per_hour:,.2f}",
        _three(impact.usd_per_month),
        _three(impact.watts),
        _three(impact.kg_co2_per_month),
        f"≤ {_three(speed)}" if speed else "?",
    )


def _three(value: float | None) -> str:
    """Format with three significant digits, or as a whole number from 100 on."""
    return "?" if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _aligned(line: Sequence[str], widths: Sequence[int]) -> str:
    """Align text to the left and numbers to the right."""
    cells = [
        cell.ljust(w) if i in (0, 2) else cell.rjust(w) for i, (cell, w) in enumerate(zip(line, widths, strict=True))
    ]
    return "  ".join(cells).rstrip()


def _notes(sizing: Sizing) -> Iterable[str]:
    """The notes on the sizing, then those on the hardware that it names or recommends."""
    yield from sizing.notes
    seen: set[str] = set()
    for fit in (sizing.named, *(getattr(sizing, slot) for slot, _ in _CHOICES)):
        reasons = (*fit.caveats, *(fit.impact.notes if fit.impact else ())) if fit else ()
        yield from (reason for reason in reasons if reason not in seen)
        seen.update(reasons)


def _sources(sizing: Sizing) -> str:
    """The papers behind the formulas, the date of the prices, and a remark that token rates are upper bounds."""
    found = {term.source.url: term.source for term in sizing.memory.terms}
    lines = ["Tokens/s are upper bounds, not measurements. A question mark is a figure that is not published."]
    price = sizing.cheapest.impact.price if sizing.cheapest and sizing.cheapest.impact else None
    if price:
        lines.append(f"Prices: {price.purchase}, Linux, {price.region}, {price.date}.")
    lines += [f"Formula: {source.title}, {source.url}" for source in found.values()]
    return "\n".join(lines)


def _filled(workload: Workload) -> dict[str, Any]:
    found = {field.name: getattr(workload, field.name) for field in fields(workload)}
    return {name: sorted(value) if isinstance(value, frozenset) else value for name, value in found.items()}


def _fit(fit: Fit) -> dict[str, Any]:
    impact = fit.impact or Impact()
    figures = {field.name: getattr(impact, field.name) for field in fields(Impact)}
    price = impact.price
    return {
        "name": fit.name,
        "instances": fit.instances,
        "accelerators": fit.accelerators,
        "accelerator": fit.accelerator.name if fit.accelerator else None,
        "verdict": fit.verdict,
        "fits": fit.fits,
        "needed_bytes": fit.needed_bytes,
        "usable_bytes": fit.usable_bytes,
        "headroom": fit.headroom,
        "runs": fit.runs,
        "caveats": list(fit.caveats),
        "within_budget": fit.within_budget,
        "tensor_parallel": fit.sharding.tensor,
        "pipeline_parallel": fit.sharding.pipeline,
        "zero_stage": fit.sharding.zero_stage,
        "impact": {
            **figures,
            "price": {"region": price.region, "date": price.date, "purchase": price.purchase} if price else None,
            "figures": {
                f.name: {"formula": f.formula, "source": f.source.url, "inputs": _rows(f.inputs)}
                for f in (impact.figures if fit.fits else ())
            },
        },
    }  # fmt: skip


def _reference(source: Reference) -> dict[str, str]:
    return {"title": source.title, "url": source.url}


def _rows(rows: Iterable[Row]) -> list[dict[str, Any]]:
    return [{"document": row.document, "start": row.start, "end": row.end} for row in rows]
