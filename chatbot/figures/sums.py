"""The sum behind an answer: computes results from the figures of a conversation, and writes each with its formula."""

from collections.abc import Sequence

from chatbot.computed import Computed
from chatbot.sizing.arithmetic import evaluate
from chatbot.sizing.given import Given
from chatbot.working import Working, capital, rounded
from ingest import Row

_CONSTANTS = (1.0, 2.0, 8.0, 12.0, 14.0, 24.0, 60.0, 100.0, 168.0, 365.0, 730.0, 1000.0, 3600.0, 8760.0, 86400.0, 1e6, 1e9, 1e12)


class Sum:
    """Computes results from the figures of one conversation, and writes each with its formula."""

    def __init__(self, given: Given, asked: str, working: Working) -> None:
        self.given, self.asked, self.facts, self.working = given, asked, working.tables.facts, working
        self._known = [*_CONSTANTS, *(figure.value for figure in given.figures), *(1 - f.value for f in given.figures if f.value < 1), *(float(v) for v in given.slots.values() if isinstance(v, int | float))]
        self.rows: list[Row] = []
        self.steps: list[str] = []
        self.used: set[float] = set()

    def all(self, role: str) -> list[float]:
        """The figures of a role, marked as used."""
        self.used.update(found := self.given.all(role))
        return found

    def one(self, role: str) -> float | None:
        """The figure of a role; None if there are none or several."""
        return self.all(role)[0] if len(self.given.all(role)) == 1 else None

    def hours(self) -> float | None:
        """The hours of the time or schedule that is given."""
        self.used.update(self.given.all("hours") + self.given.all("share of day"))
        return self.given.slots.get("hours")

    def know(self, value: float, *rows: Row) -> float:
        """Register a number from a row, or one that follows from counting, so that formulas may use it."""
        self._known.append(value)
        self.rows += rows
        return value

    def compute(self, formula: str, written: str = "{}", *, scale: float = 1.0) -> tuple[float, str]:
        """Evaluate a formula; return its value and how it is written."""
        value = evaluate(formula)
        text = written.format(rounded(value / scale, money="$" in written))
        self.working.note(Computed(text, formula, scale, (*self._known, value)))
        self._known.append(value)
        self.working.say(formula)
        return value, text

    def step(self, formula: str, written: str = "{}", *, scale: float = 1.0) -> tuple[float, str]:
        """The same as `compute`, also shown in the working."""
        value, text = self.compute(formula, written, scale=scale)
        self.steps.append(f"{formula} = {text}")
        return value, text

    def cite(self, *terms: str) -> str:
        """The marks of the sources that explain a formula, and of the rows used."""
        explained = [e for term in terms if (e := self.working.tables.explained(term, self.working.index))]
        return "".join([*map(self.working.mark, explained), self.working.cite(*dict.fromkeys(self.rows))])

    def price(self) -> tuple[float, str] | None:
        """The price of an hour and how it is told: the user's own, else that of the instance type in the table."""
        if (own := self.one("price")) is not None:
            return own, self.working.say(f"your {usd(own)} an hour")
        price = self.facts.price(str(self.given.slots.get("instance_type", "")))
        if self.all("price") or not price:
            return None
        hourly = self.know(price.usd_per_hour, price.row)
        return hourly, self.working.say(f"${hourly:.4g} an hour on {price.instance_type} {price.terms}")


def plain(value: float) -> str:
    return f"{value:.10g}"


def usd(value: float) -> str:
    """A price as written on a price tag: $4.10, $0.023."""
    return f"${value:.2f}" if round(value, 2) == round(value, 6) else f"${value:.6g}"


def compared(total: Sum, sides: Sequence[tuple[str, str]], written: str, verb: str, of: str = "", *, asserts: bool = False, percent: bool = False) -> str:
    """Which of several (name, formula) comes to least, and by how much. With `asserts`, the question says that the first does."""
    values = [total.compute(formula, written) for _, formula in sides]
    (less, _), (more, _) = min(values), max(values)
    yes = ("Yes, " if values[0][0] == less < more else "No, ") if asserts else ""
    least = sides[values.index(min(values))][0]
    gap = f"{verb} less, by {total.compute(f'{plain(more)} - {plain(less)}', written)[1]}{of}" if less < more else ""
    share = f", {total.compute(f'(1 - {plain(less)} / {plain(more)}) × 100', '{} %')[1]}" if percent and gap else ""
    which = f"{yes}{least if yes or '.' in least else capital(least)} {gap}{share}" if gap else "They come to the same"
    return f"{which}: {'; '.join(f'{formula} = {text} for {name}' if ' ' in formula else f'{text} for {name}' for (name, formula), (_, text) in zip(sides, values, strict=True))}"
