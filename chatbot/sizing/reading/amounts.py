"""Read shares of peak and load, compute, bandwidth, energy, speed, and money."""

import re

from chatbot.sizing.reading.numerals import NUMBER, compiled, scaled, value_of
from chatbot.sizing.reading.schedule import MONTH_HOURS, hours_in
from chatbot.sizing.reading.text import Reading

_SHARE = rf"(?P<number>\.\d+|{NUMBER})(?P<percent>\s?%|\s?percent| prozent)?"
_MFU_WORD = r"(?:mfu|that(?: rate| peak| figure)?(?=[ ,.;:?]|$)(?= ?[,:?]| rate| peak| figure|$)|model flops utili[sz]ation|(?:utili[sz]ation of )?(?:the |its )?peak(?! (?:power|draw|load|memory)))"
_MFU = compiled(
    rf"(?:{_MFU_WORD}(?:\s?[:=]|\s(?:of|is|at|del?|von|di))?\s?{_SHARE}|{_SHARE.replace('<number>', '<before>').replace('<percent>', '<of>')}\s(?:of |de )?{_MFU_WORD})(?!\w)"
)
_LOAD_WORD = r"(?:load|loaded|utili[sz]ed|in use|carico|utili[sz]ation|util|usage|busy|last|auslastung|charge|carga)"
_PERCENT = r"\s?(?:%|percent|prozent)"
_LOAD = compiled(
    rf"(?:(?:at |under |à |bei |unter )?(?:(?P<number>\d{{1,3}}(?:[.,]\d+)?){_PERCENT} (?:gpu |average |of |de )?{_LOAD_WORD}"
    rf"|{_LOAD_WORD}(?: factor| rate)?(?:\s?[:=]|\s(?:of|at|is|von|de|around|about|only|just|like|for|roughly|some|zu|nur))*\s(?P<behind>\d{{1,3}}(?:[.,]\d+)?){_PERCENT}"
    rf"|(?P<word>half|full|maximum|max|halber|voller|voll|mi|pleine|metà|media|mezzo|meia|pieno|plena|half[- ])[\s-]?(?:(?:gpu|card|chip|accelerator)[\s-])?{_LOAD_WORD}"
    r"|(?:half|fully) (?:busy|loaded|utili[sz]ed|used|occupied)|busy(?= for \d+ (?:hour|day|week|month)s?\b| all day| non-?stop)|half (?:of )?the time"
    r"|(?:flat out|full (?:tilt|blast|power|throttle)|pegged|(?<=at )(?:its |their |the )?max(?:imum)?(?: power|(?=\s?[,.;?!)]|$| for| over))|maxed out|vol?llast|vollauslastung|plein régime|pleno rendimiento|pełn\w+ obciążeni\w+))"
    rf"|{_LOAD_WORD}\b[^.,;:%\d]{{1,40}}?\b(?:is|at|of|around|about) (?:an? )?(?:\w+ )?(?P<away>\d{{1,3}}(?:[.,]\d+)?){_PERCENT}"
    rf"|(?<!idle )(?P<time>\d{{1,3}}){_PERCENT} of (?:the |its |each |every )(?:time|day|hours?|month)(?! (?:off|idle))"
    rf"|(?:at|around|about|@|for|only) (?P<bare>\d{{1,3}}){_PERCENT}(?! of| mfu| off| discount| less| more))(?!\w)"
)
_IDLES = compiled(rf"(?:idl(?:e|es|ing)|unused|sits? (?:there )?(?:idle|unused))(?: (?:for|about|around|roughly|the other))* (?P<number>\d{{1,3}}){_PERCENT}")
# Figures of an accelerator that the question gives in place of its data sheet.
_TFLOPS = compiled(rf"(?:{_SHARE.replace('number', 'share').replace('percent', 'of')} of )?(?P<number>{NUMBER})\s?(?P<scale>tf|tera|peta|pf)(?:lops?)?(?:\s?/\s?s|ps)?(?P<reached>(?: \w+){{0,2}} (?:achieved|sustained|reached|measured|effective|delivered|in practice))?(?!\w)")
_BANDWIDTH = compiled(rf"(?P<number>{NUMBER})\s?(?P<scale>[gt])i?b(?:ytes?)?\s?(?:/\s?s(?:ec(?:ond)?)?|ps|(?:per|a|each) second)(?!\w)")
_ENERGY = compiled(rf"(?P<number>{NUMBER})\s?(?P<unit>[km])wh(?!\w)")
_SPEED = compiled(rf"(?P<number>{NUMBER})\s?(?P<scale>k)?\s?(?:(?:output|input|generated|decoded|prompt)\s)?(?:tokens?|tok|t)\s?(?:/|(?:per|a|each|every|por|pro|par|al) |p)\s?(?:s|sec|seconds?)(?!\w)")
_SPEED_ALONE = compiled(rf"(?P<number>{NUMBER})\s?(?P<scale>k)?\s?(?:/|(?:per|a|each|every) )\s?s(?:ec(?:ond)?)?(?!\w)")
_MONEY_IN_ALL = re.compile(rf"(?<![\w.])(?P<sign>\$|usd )?(?P<number>{NUMBER})(?![.,]?\d)\s?(?P<scale>k|m|thousand|million)?(?(sign)|\s?(?:dollars?|usd|bucks|dólares|dollari|\$|美元|美金|ドル|달러))(?![a-z0-9]|\.\d|\s?(?:/|per|an?|each|every|the|pro|monthly|hourly|daily|weekly|yearly)\b)")
_BUDGET_IN_ALL = re.compile(rf"\bbudget(?:\s?[:=]|\s(?:of|is|at|around|about|roughly))*\s(?P<number>{NUMBER})(?![.,]?\d)\s?(?P<scale>k|m|thousand|million)(?!\w|\s?(?:/|per|an?|each|every|the|pro|tok)\b)")
_BUDGET_NAMED_LAST = re.compile(rf"(?<![\w.])(?P<number>{NUMBER})\s?(?P<scale>k|m|thousand|million)\s(?:usd |dollar )?budget\b")
# The purchase price of one's own hardware, and a fraction or multiple of the hours or tokens before.
_PURCHASE = re.compile(rf"(?:\b(?:server|box|machine|hardware|node|rig|workstation|gpus?|cards?)\b|\|)[^.;?!|]{{0,30}}?\b(?:for|at|costs?|is|of)\s\$?(?P<number>{NUMBER})\s?(?P<scale>k|m)(?!\w)")
_SHARE_OF_BEFORE = compiled(r"(?P<share>halve|half|twice|double|a third|one third|a quarter|a fifth|a tenth|three times|triple)(?: of)?(?: the| as many| that many| those| its| as)(?: training)? (?:(?P<hours>hours|long|schedule|running time|uptime)|tokens|data)(?!\w)")
_TIMES_AS_MUCH = {"halve": 0.5, "half": 0.5, "twice": 2.0, "double": 2.0, "a third": 1 / 3, "one third": 1 / 3, "a quarter": 0.25, "a fifth": 0.2, "a tenth": 0.1, "three times": 3.0, "triple": 3.0}
_PER = r"(?:\s?(?:/|per|an?|each|every|the|por|pro|par|im|al)\s?(?P<unit>hours?|hr|h|day|weeks?|months?|mo|years?|yr|stunde|tag|woche|monat|jahr|jour|semaine|semana|mois|mes|año)|\s(?P<adverb>hourly|daily|weekly|monthly|yearly|annually))\b"
_MONEY = r"(?:usd|us dollars?|dollars?|bucks|\$)"
_BUDGET = compiled(
    rf"(?:(?P<bound>under|below|less than|at most|max(?:imum)?(?: of)?|up to|within|not more than|no more than|for|with|have|budget(?: is| of|:)?|<=?|≤)\s)?"
    rf"(?:(?P<sign>us\$|usd|\$)\s?)?(?P<number>{NUMBER})\s?(?P<scale>k|thousand)?(?:\s?(?P<word>{_MONEY}))?{_PER}"
)
_OF_MONEY_MET = re.compile(r"\b(?:budget|stretch|enough|afford\w*|spend\w*|cap(?:ped)?|allow\w*|limit|cut to|covers?|pays? (?:for|us)|they pay|buys?|(?:we|i) have|gave (?:us|me))\b")
# The price of a machine is not a budget: "a p4d at $21.96/h", "four of them, $0.80 an hour each".
_PRICED = re.compile(r"(?:(?:\b(?:at|à|a|zu)|@|\bcosts?|\bpay(?:ing)?|=)\s(?:about |around |roughly |~)?|\()$")
EUROS = re.compile(r"€\s?\d|\d\s?(?:k\s?)?(?:€|eur(?:os?)?(?!\w))|\b(?:in|en) (?:euros?|eur|gbp|cad|chf|yen|(?:canadian|australian) dollars|pounds sterling|british pounds|(?:swiss )?francs|rupees)\b")


def take_shares(reading: Reading) -> None:
    """Fill the fraction of peak compute that a training reaches (MFU), and the fraction of time that hardware is busy."""
    for match in reading.take(_MFU):
        written, percent = match["number"] or match["before"], match["percent"] or match["of"]
        share = value_of(written)
        reading.fill("mfu", [share / 100 if percent or share > 1 else share])
    for match in reading.take(_IDLES):
        reading.fill("load", [1 - value_of(match["number"]) / 100])
    for match in reading.take(_LOAD):
        half = re.search(r"half|halb|\bmi|met|med|mez|mei", match.group())
        percent = match["number"] or match["behind"] or match["bare"] or match["away"] or match["time"]
        reading.fill("load", [value_of(percent) / 100 if percent else 0.5 if half else 1.0])


def take_amounts(reading: Reading) -> None:
    """Fill energy, a speed, a sum of money, and the compute and bandwidth given for an accelerator."""
    if re.search(r"\b(?:buy|bought|used|second[- ]hand|offered|own|purchase\w*|colo\w*|on[- ]prem\w*)\b", reading.text):
        reading.take(_PURCHASE)
    for match in reading.take(_SHARE_OF_BEFORE):
        reading.fill("hours_share" if match["hours"] else "tokens_share", [_TIMES_AS_MUCH[match["share"]]])
    for match in reading.take(_TFLOPS):
        reading.fill("tflops", [value_of(match["number"]) * (1000.0 if match["scale"].startswith("p") else 1.0)])
        if match["share"] or match["reached"]:
            share = value_of(match["share"]) if match["share"] else 1.0
            reading.fill("mfu", [share / 100 if share > 1 or match["of"] else share])
    reading.fill("bandwidth_gbps", [value_of(m["number"]) * {"g": 1, "t": 1000}[m["scale"]] for m in reading.take(_BANDWIDTH)])
    reading.fill("kwh", [value_of(m["number"]) * {"k": 1, "m": 1000}[m["unit"]] for m in reading.take(_ENERGY)])
    speeds = [scaled(m) for m in reading.take(_SPEED)]
    if not speeds and "tok" in reading.text:
        speeds = [scaled(m) for m in reading.take(_SPEED_ALONE)]
    reading.fill("tokens_per_second", speeds)
    in_all = (_MONEY_IN_ALL, _BUDGET_IN_ALL, _BUDGET_NAMED_LAST)
    reading.fill("budget", [scaled(m) for pattern in in_all for m in reading.take(pattern)])


def take_budget(reading: Reading) -> None:
    for match in list(_BUDGET.finditer(reading.text)):
        bound = match["bound"] and match["bound"] not in ("for", "have")
        in_thousands = match["scale"] and (bound or _OF_MONEY_MET.search(reading.text))
        if not (match["sign"] or match["word"] or in_thousands):
            continue
        reading.mask(match.start(), match.end())
        money, hours = scaled(match), hours_in(match["unit"] or match["adverb"])
        is_price = _PRICED.search(reading.text, 0, match.start()) or re.match(r"\s(?:each|apiece)\b", reading.text[match.end() :])
        # With a given speed, the price of a machine without a name is kept, to compute the price of tokens.
        of_machine = is_price and ("instance_type" in reading.slots or "tokens_per_second" not in reading.slots)
        if of_machine and not match["bound"] and not _OF_MONEY_MET.search(reading.text):
            continue
        if hours == MONTH_HOURS:
            reading.fill("budget_per_month", [money])
        else:
            reading.fill("budget_per_hour", [money / hours])
