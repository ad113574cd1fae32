"""The Size page: inputs for a workload, and beside them its memory, the hardware that holds it, cost and emissions."""

import re
from collections.abc import Iterator, Sequence
from urllib.parse import quote

import streamlit as st

from app.boundary import told
from app.escaping import as_html, as_label
from app.memory_bar import gb, hardware_words, machines, memory_bar_html, shown_fit
from app.resources import Operator, bot_of, facts_of
from app.size_inputs import ask_workload
from chatbot import ReaderError
from chatbot.answer import OFFLINE
from chatbot.sizing import Fit, Impact, Sizing, Task, size
from chatbot.sizing.facts import short
from chatbot.working import article
from ingest import Row

# Web addresses in text that is already escaped.
_ADDRESS = re.compile(r"https?://[^\s<>\"'()]+")
_EXAMPLES = {
    "Serve Llama 3.1 70B": {"model": "meta-llama/Meta-Llama-3.1-70B"},
    "QLoRA of a 34B": {"parameters": "34b", "task": Task.QLORA},
    "Llama 3.1 8B on one L4?": {"model": "meta-llama/Meta-Llama-3.1-8B", "accelerator": "L4"},
}
_PICKS = ("cheapest", "smallest", "least_energy", "least_carbon")


def show_size(operator: Operator) -> None:
    """Show the inputs and, beside them or on a phone below them, the result. Raises CorpusError if there is no index."""
    index = bot_of(operator.common.index, OFFLINE).index
    facts = facts_of(index.path)
    if not (facts.models and facts.instances):
        raise ReaderError(
            "There are no facts to size with: run `wattwise ingest` in the folder that holds corpus/ first."
        )
    st.html('<h1 class="ww-title">Size</h1>')
    with st.container(key="size"):
        inputs, result = st.columns([2, 5], gap="large")
        # A problem with the inputs is shown beside them, in place of the result.
        with result, told():
            with inputs:
                wanted = ask_workload(facts)
            if wanted is None:
                _show_examples()
            else:
                _show_sizing(size(wanted, facts))


def _show_examples() -> None:
    st.html(
        '<p class="ww-subtitle">Does it fit, what do I launch, what does it cost and emit? Choose a model, or give its '
        "parameters.</p>"
    )
    st.pills(
        "For example",
        _EXAMPLES,
        key="example",
        on_change=_take_example,
        format_func=as_label,
        label_visibility="collapsed",
    )


def _take_example() -> None:
    st.session_state.update(_EXAMPLES[st.session_state["example"]])


def _show_sizing(sizing: Sizing) -> None:
    fit = shown_fit(sizing)
    st.html(f'<div class="ww-answer"><p class="ww-lead" dir="auto">{as_html(verdict(sizing))}</p></div>')
    st.html(memory_bar_html(sizing))
    st.html(_picks(sizing))
    # The notes on the sizing, and the caveats of the named hardware.
    if notes := dict.fromkeys((*sizing.notes, *(sizing.named.caveats if sizing.named else ()))):
        st.html("".join(f'<p class="ww-facts">{as_html(_sentence(note))}</p>' for note in notes))
    _show_table(sizing)
    _show_chart(sizing)
    with st.expander("Assumptions, arithmetic and sources"):
        st.html(_arithmetic(sizing, fit))
    st.caption("The address of this page holds these inputs: copy it to share them.")


def verdict(sizing: Sizing) -> str:
    """Return the first sentence: whether the workload fits the named hardware, or which hardware holds it."""
    work, named = sizing.workload, sizing.named
    model = (work.model or "").rpartition("/")[2] or f"a model of {sizing.model.parameters / 1e9:,.4g}B parameters"
    subject = model if work.task is Task.SERVE else f"{work.task} of {model}"
    needs = f"{subject} in {work.weights} needs"
    if named:
        said = "Yes" if named.fits else "No"
        tight = ", but only just" if named.fits else " by a little"
        just = tight if named.verdict == "tight" else ""
        each = " on each accelerator" if named.accelerators * named.instances > 1 else ""
        return (
            f"{said}{just}: {needs} {gb(named.needed_bytes)}{each}, and {_each_of(named)} has "
            f"{gb(named.usable_bytes)} usable."
        )
    total = f"{needs if work.model else _capital(needs)} {gb(sizing.memory.bytes)} ({_three(sizing.memory.gib)} GiB)"
    best = sizing.cheapest or sizing.smallest
    if best is None:
        return f"{total}; nothing that was considered holds it."
    price = best.impact.usd_per_hour if best.impact else None
    cost = f", the cheapest at ${price:,.2f} an hour" if price is not None else ""
    return f"{total}; it fits on {hardware_words(best)}{cost}."


def _each_of(fit: Fit) -> str:
    if not fit.accelerator:
        return fit.name
    name = short(fit.accelerator.name)
    return f"{article(name)} {name}"


def _picks(sizing: Sizing) -> str:
    """Show what to launch: each instance type once, with all titles that apply, such as the cheapest."""
    found: dict[str, tuple[Fit, list[str]]] = {}
    for title, fit in _titled(sizing):
        found.setdefault(fit.name, (fit, []))[1].append(title)
    cards = "".join(_pick(fit, titles) for fit, titles in found.values())
    price = sizing.cheapest.impact.price if sizing.cheapest and sizing.cheapest.impact else None
    dated = f"Prices: {price.purchase}, Linux, {price.region}, {price.date}. " if price else ""
    bounds = "Tokens a second are upper bounds, no measurements; a figure that is missing is not published."
    return f'<div class="ww-picks">{cards}</div><p class="ww-facts">{as_html(dated + bounds)}</p>'


def _titled(sizing: Sizing) -> Iterator[tuple[str, Fit]]:
    if sizing.named and not sizing.named.fits and sizing.named_cheapest:
        yield "Of the named kind", sizing.named_cheapest
    for slot in _PICKS:
        if fit := getattr(sizing, slot):
            yield _capital(slot.replace("_", " ")), fit
    for fit in sizing.alternatives:
        yield "AWS's own chips", fit


def _pick(fit: Fit, titles: Sequence[str]) -> str:
    impact = fit.impact or Impact()
    facts = [
        _uses(fit),
        f"${impact.usd_per_hour:,.2f} an hour" if impact.usd_per_hour is not None else "no price known",
        f"{_three(impact.watts)} W" if impact.watts is not None else "",
        f"{_three(impact.kg_co2_per_month)} kg CO2e a month" if impact.kg_co2_per_month is not None else "",
        f"≤ {_three(_speed(impact))} tokens/s" if _speed(impact) else "",
    ]
    caveats = fit.caveats if fit.runs != "yes" else ()
    words = " · ".join((*(fact.replace(" ", "\u00a0") for fact in facts if fact), *caveats))
    return (
        f'<div class="ww-pick"><p class="ww-facts">{as_html(" · ".join(titles))}</p><strong>{as_html(machines(fit))}</strong>'
        f"<p>{as_html(words)}</p></div>"
    )


def _show_table(sizing: Sizing) -> None:
    every = st.toggle("Also what does not hold it", key="every")
    rows = [_row(fit) for fit in sizing.fits if every or (fit.fits and fit.runs != "no")]
    if not rows:
        return
    number = st.column_config.NumberColumn
    st.dataframe(
        rows,
        hide_index=True,
        height=min(36 + 35 * len(rows), 388),
        column_config={
            "Headroom": number(format="%.0f %%", help="Of the usable memory of each accelerator"),
            "$/hour": number(format="%.2f"),
            "kg CO2e/month": number(
                format="%,.0f", help="Electricity by the grid of the region, and the share of making the host"
            ),
            "$/month": number(format="%,.0f", help="730 hours"),
            "Watts": number(format="%,.0f", help="At the assumed load, without the data centre's share"),
            "Tokens/s ≤": number(format="%,.0f", help="An upper bound: no software is faster"),
        },
        placeholder="–",
    )


def _row(fit: Fit) -> dict[str, object]:
    impact = fit.impact or Impact()
    return {
        "Instance type": machines(fit),
        "Uses": _uses(fit),
        "Headroom": 100 * fit.headroom,
        "$/hour": impact.usd_per_hour,
        "kg CO2e/month": impact.kg_co2_per_month,
        "$/month": impact.usd_per_month,
        "Watts": impact.watts,
        "Tokens/s ≤": _speed(impact),
        "Verdict": "; ".join((fit.verdict, *(fit.caveats if fit.runs != "yes" else ()))),
    }


def _uses(fit: Fit) -> str:
    return hardware_words(fit).partition(" in ")[0]


def _show_chart(sizing: Sizing) -> None:
    """Plot price against carbon for the hardware that holds the workload and has both figures."""
    known = [
        {
            "type": machines(fit),
            "accelerator": short(fit.accelerator.name) if fit.accelerator else "CPU",
            "price": fit.impact.usd_per_hour,
            "carbon": fit.impact.kg_co2_per_month,
        }
        for fit in sizing.fits
        if fit.fits and fit.impact and fit.impact.usd_per_hour and fit.impact.kg_co2_per_month
    ]
    if len(known) < 2:
        return
    scale = {"type": "log", "nice": False, "padding": 24}
    axes = (("x", "price", "$ an hour", "$/hour"), ("y", "carbon", "kg CO2e a month", "kg CO2e/month"))
    kind = {"field": "accelerator", "type": "nominal", "title": None, "legend": {"orient": "bottom", "columns": 4}}
    tips = [{"field": "type", "title": "Type"}, {"field": "accelerator", "title": "Accelerator"}]
    tips += [{"field": field, "title": short, "format": ",.3~r"} for _, field, _, short in axes]
    encoding = {
        axis: {"field": field, "type": "quantitative", "title": title, "scale": scale} for axis, field, title, _ in axes
    }
    mark = {"type": "circle", "size": 110, "opacity": 0.85}
    spec = {"mark": mark, "encoding": {**encoding, "color": kind, "tooltip": tips}}
    st.vega_lite_chart(known, spec, height=320, key="price-carbon")


def _arithmetic(sizing: Sizing, fit: Fit | None) -> str:
    """List each figure with its formula and source, then the table rows that the inputs are from."""
    lines = [_computed(t.name, t.formula, gb(t.bytes), t.source.title, t.source.url) for t in sizing.memory.terms]
    rows: list[Row] = [row for term in sizing.memory.terms for row in term.inputs]
    figures = fit.impact.figures if fit and fit.impact else ()
    for figure in figures:
        lines.append(
            _computed(_words(figure.name), figure.formula, _three(figure.value), figure.source.title, figure.source.url)
        )
        rows += figure.inputs
    notes = "".join(f"<li>{as_html(_sentence(n))}</li>" for n in (fit.impact.notes if fit and fit.impact else ()))
    on = f"<h4>On {as_html(hardware_words(fit))}</h4>" if fit else ""
    return (
        f"<p>Assumed: {as_html(', '.join(sizing.assumptions))}.</p>{on}"
        f'<ul class="ww-arithmetic">{"".join(lines)}{notes}</ul>'
        f'<h4>Inputs</h4><ul class="ww-arithmetic">{"".join(_source_row(row) for row in dict.fromkeys(rows))}</ul>'
    )


def _computed(name: str, formula: str, value: str, title: str, url: str) -> str:
    return (
        f"<li><b>{as_html(name)}</b> {as_html(formula)} = {as_html(value)} "
        f'<a href="{as_html(url)}" target="_blank" rel="noopener noreferrer">{as_html(title)}</a></li>'
    )


def _source_row(row: Row) -> str:
    """Show a table row with its own source and a link to the table."""
    said = " · ".join(f"{header} {cell}" for header, cell in row.cells.items() if cell and header != "Source")
    source = _ADDRESS.sub(
        r'<a href="\g<0>" target="_blank" rel="noopener noreferrer">\g<0></a>', as_html(row.cells.get("Source", ""))
    )
    table = f'<a href="sources?doc={as_html(quote(row.document, safe=""))}" target="_blank">{as_html(row.document)}</a>'
    return f"<li>{' · '.join(part for part in (as_html(said), source, table) if part)}</li>"


def _speed(impact: Impact) -> float | None:
    return impact.decode_tokens_per_second or impact.training_tokens_per_second_high


def _words(field: str) -> str:
    """Return a figure's name for readers: "usd_per_hour" is "$ per hour"."""
    words = {"usd": "$", "kwh": "kWh", "co2": "CO2e"}
    return " ".join(words.get(word, word) for word in field.split("_"))


def _sentence(note: str) -> str:
    return f"{_capital(note)}."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _three(value: float | None) -> str:
    """Format with three significant digits, but keep all digits before the decimal point."""
    return "?" if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
