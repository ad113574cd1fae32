"""What a question says of a price beside its machine: a discount, how much is to be done with it, and what it is held against."""

import re

_LESS = r"(?:off|discount\w*|rebate|reduction|below list|under list|under|less|cheaper)"
_MORE = r"(?:contingency|buffer|margin|headroom|spare|padding|tax|vat|markup|mark-up|uplift|surcharge|reserve|extra|on top|for reruns|for retries|overhead)"
_OFF = re.compile(
    rf"(?P<number>\d+(?:\.\d+)?)%(?: \w+){{0,1}}? {_LESS}\b|\b(?:discount|rebate|reduction|takes?|knocks?|edp|get|gets|minus)(?: (?:of|is|us|at|a))*(?: \w+)? (?P<before>\d+(?:\.\d+)?)%(?! of the time)"
)
_ADDED = re.compile(
    rf"(?P<number>\d+(?:\.\d+)?)%(?: \w+){{0,1}}? {_MORE}\b|\b(?:pad|add|plus|{_MORE})(?: (?:it|that|this|them|of|by|with|a|on|incl\w*))*(?: \w+)? (?P<before>\d+(?:\.\d+)?)%"
)
_PACE = re.compile(
    r"(?:(?P<gives>gives|does|manages|handles|sustains|delivers|yields|emits|copes with) )?(?<![\w.,])(?P<number>\d[\d,]*(?:\.\d+)?)(?P<scale>k)?(?!\w|\.\d)(?P<unit>\s?(?:[a-z]+ ?)?(?:/|(?:per|a|each|every) )\s?s(?:ec(?:ond)?)?(?!\w))?"
)
_API = re.compile(
    r"(?:\$\s?(?P<price>\d+(?:\.\d+)?)|(?P<cents>\d+(?:\.\d+)?) ?(?:cents?|ct|¢)|(?P<usd>\d+(?:\.\d+)?) (?:dollars|usd|bucks))(?: \w+)? ?(?:per|a|each|/|for an?|for every|the) ?(?:1 ?)?(?P<scale>million|mio|m|1k|thousand|k|billion)(?: (?:\w+ )?tok\w*|tok\w*|\b)|(?:per|/) ?(?:1 ?)?(?P<scale_>million|m)(?: tok\w*)? (?:is|of|at|:) \$?(?P<price_>\d+(?:\.\d+)?)|\b(?:price|rate) (?:is|of) \$?(?P<price__>\d+(?:\.\d+)?) per (?:1 ?)?m(?:illion)? tok\w*"
)
_AGAINST = re.compile(r"\b(?:break[ -]?even|beats?|pays? off|payback|pays? for itself|cheaper|worth(?:while)?|less than the api|from how many|at (?:what|which)|when|better|must we|amorti\w+)\b")


def terms_of(question: str) -> tuple[float, str]:
    """By what a list price is multiplied, and what makes it so: (0.83, "17 % off")."""
    if match := _OFF.search(question):
        share = match["number"] or match["before"]
        return 1 - float(share) / 100, f"with {share} % off"
    if match := _ADDED.search(question):
        share = match["number"] or match["before"]
        return 1 + float(share) / 100, f"with {share} % added"
    return 1.0, ""


def paces_of(question: str) -> tuple[float, ...]:
    """How many a second are wanted and given: (50, 8)."""
    return tuple(float(m["number"].replace(",", "")) * (1000 if m["scale"] else 1) for m in _PACE.finditer(question) if m["gives"] or m["unit"])


def api_price(question: str) -> float | None:
    """Dollars for a million tokens that somebody else asks, where a machine is held against it."""
    match = _API.search(question)
    if not match or not _AGAINST.search(question):
        return None
    price = float(match["price"] or match["usd"] or match["price_"] or match["price__"] or 0.0) or float(match["cents"]) / 100
    return price * {"k": 1e3, "1k": 1e3, "thousand": 1e3, "billion": 1e-3}.get(match["scale"] or "", 1.0)
