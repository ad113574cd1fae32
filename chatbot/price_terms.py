"""What a question says of a price beside its machine: a discount, what it is divided by, and what it is held against."""

import re

from chatbot.sizing.reading import PURCHASE

_AMOUNT = r"(?P<number>\d[\d,]*(?:\.\d+)?)\s?(?P<scale>k|m|thousand|million|mio|billion|bn)?"
_SCALES = {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "mio": 1e6, "billion": 1e9, "bn": 1e9}
_LESS = r"(?:off|discount\w*|rebate|reduction|below list|under list|under|less|cheaper)"
_MORE = r"(?:contingency|buffer|margin|headroom|spare|padding|tax|vat|markup|mark-up|uplift|surcharge|reserve|extra|on top|for reruns|for retries|overhead)"
_OFF = re.compile(
    rf"(?P<number>\d+(?:\.\d+)?)%(?: \w+){{0,1}}? {_LESS}\b|\b(?:discount|rebate|reduction|takes?|knocks?|edp|get|gets|minus)(?: (?:of|is|us|at|a))*(?: \w+)? (?P<before>\d+(?:\.\d+)?)%(?! of the time)"
)
_ADDED = re.compile(
    rf"(?P<number>\d+(?:\.\d+)?)%(?: \w+){{0,1}}? {_MORE}\b|\b(?:pad|add|plus|{_MORE})(?: (?:it|that|this|them|of|by|with|a|on|incl\w*))*(?: \w+)? (?P<before>\d+(?:\.\d+)?)%"
)
_RATE = re.compile(
    r"(?P<number>\d[\d,]*(?:\.\d+)?)\s?(?P<noun>(?!tok)[a-z]{3,})?\s?(?:/\s?|(?:per|a|each|every|an) )s(?:ec(?:ond)?s?)?(?!\w)"
)
_PACE = re.compile(
    r"(?:(?P<gives>gives|does|manages|handles|sustains|delivers|yields|emits|copes with) )?(?<![\w.,])(?P<number>\d[\d,]*(?:\.\d+)?)(?P<scale>k)?(?!\w|\.\d)(?P<unit>\s?(?:[a-z]+ ?)?(?:/|(?:per|a|each|every) )\s?s(?:ec(?:ond)?)?(?!\w))?"
)
_OF_REQUESTS = re.compile(
    rf"\b(?:per|a|for|of|each|every|/)\s?(?:(?P<one>one|single)|(?P<word>hundred|thousand|million)|{_AMOUNT})?\s?(?P<noun>requests?|calls?|images?|pages?|queries|query|inferences?|classifications?|predictions?|documents?|transactions?|pictures?|completions?|answers?|hits?|frames?|jobs?)\b"
)
_API = re.compile(
    r"(?:\$\s?(?P<price>\d+(?:\.\d+)?)|(?P<cents>\d+(?:\.\d+)?) ?(?:cents?|ct|¢)|(?P<usd>\d+(?:\.\d+)?) (?:dollars|usd|bucks))(?: \w+)? ?(?:per|a|each|/|for an?|for every|the) ?(?:1 ?)?(?P<scale>million|mio|m|1k|thousand|k|billion)(?: (?:\w+ )?tok\w*|tok\w*|\b)|(?:per|/) ?(?:1 ?)?(?P<scale_>million|m)(?: tok\w*)? (?:is|of|at|:) \$?(?P<price_>\d+(?:\.\d+)?)|\b(?:price|rate) (?:is|of) \$?(?P<price__>\d+(?:\.\d+)?) per (?:1 ?)?m(?:illion)? tok\w*"
)
_AGAINST = re.compile(r"\b(?:break[ -]?even|beats?|pays? off|payback|pays? for itself|cheaper|worth(?:while)?|less than the api|from how many|at (?:what|which)|when|better|must we|amorti\w+)\b")
_UPKEEP = re.compile(rf"(?<![\w.,])\$?{_AMOUNT}\s?(?:dollars |usd )?(?:(?:a|per|/|each|every)\s?mo(?:nth)?|monthly)\b")
_OWNED = re.compile(rf"(?:\b(?:for|at|costs?|is|of|buying)\b|\$)[^.;?!]{{0,14}}?\$?{_AMOUNT}(?: dollars| usd| bucks)?(?!\w|\s?(?:a|per|/|each|an)\s?(?:mo|h|y)|[,.]?\d| monthly)")
_LEVY = re.compile(r"(?:\$\s?|(?P<word>\b))(?P<number>\d+(?:\.\d+)?)(?(word) (?:dollars|usd|bucks)| ?(?:usd|dollars)?)? (?:per|a|each|/|the) (?:metric )?t(?:on(?:ne)?)?\b")


def _amount(match: re.Match[str]) -> float:
    return float(match["number"].replace(",", "")) * _SCALES.get(match["scale"] or "", 1.0)


def terms_of(question: str) -> tuple[float, str]:
    """By what a list price is multiplied, and what makes it so: (0.83, "17 % off")."""
    if match := _OFF.search(question):
        share = match["number"] or match["before"]
        return 1 - float(share) / 100, f"with {share} % off"
    if match := _ADDED.search(question):
        share = match["number"] or match["before"]
        return 1 + float(share) / 100, f"with {share} % added"
    return 1.0, ""


def requests_of(question: str) -> tuple[float, float, str] | None:
    """How many of what are answered a second, and for how many the price is asked: (3, 1000, "requests")."""
    rate, wanted = _RATE.search(question), _OF_REQUESTS.search(question)
    if not rate or not wanted:
        return None
    number = _amount(wanted) if wanted["number"] else {"hundred": 1e2, "thousand": 1e3, "million": 1e6}.get(wanted["word"] or "", 1.0)
    return float(rate["number"].replace(",", "")), number, wanted["noun"]


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


def own_hardware(question: str) -> tuple[float, float] | None:
    """What hardware of one's own costs, and what it costs a month; None where none is spoken of."""
    if not re.search(r"\b(?:buy(?:ing)?(?! (?:how|me|us))|bought|used (?!how)|second[- ]hand|own|purchas\w*|colo\w*|offered|break[ -]?even|payback|workstation)\b", question):
        return None
    upkeep = _UPKEEP.search(question)
    rest = question[: upkeep.start()] + question[upkeep.end() :] if upkeep else question
    sums = [value for match in (*PURCHASE.finditer(rest), *_OWNED.finditer(rest)) if (value := _amount(match)) >= 1000]
    return (sums[0], _amount(upkeep) if upkeep else 0.0) if sums else None


def levy_of(question: str) -> float | None:
    """Dollars for a tonne of carbon dioxide."""
    match = _LEVY.search(question) if re.search(r"co2|carbon|emission|tonne|\bton\b", question) else None
    return float(match["number"]) if match else None
