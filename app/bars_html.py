"""Numbers of one unit as horizontal bars, each with its sources."""

from collections.abc import Mapping

from app.escaping import as_html, mark_html
from chatbot.comparison_table import Bars


def bars_html(found: Bars, quotes: Mapping[int, str], anchor: str) -> str:
    """A figure that reads as text too: name, bar, number with unit, marks."""
    most = max((bar.value for bar in found.bars), default=0.0)
    rows = "".join(
        f'<div class="ww-bar"><span dir="auto">{as_html(bar.name)}</span>'
        f'<span class="ww-track"><span style="width:{100 * bar.value / most if most else 0:.1f}%"></span></span>'
        f"<span>{bar.value:,g} {as_html(found.unit)} {''.join(mark_html(n, quotes, anchor) for n in bar.numbers)}</span></div>"
        for bar in found.bars
    )
    return f'<figure class="ww-bars">{rows}</figure>'
