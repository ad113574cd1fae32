"""Read how long something runs: durations, times of the day, days of the week, and schedules made of these."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from chatbot.sizing.reading.numerals import NUMBER, NUMBERS, compiled, value_of
from chatbot.sizing.reading.text import Reading

MONTH_HOURS = 730.0
# Years that no data covers. 2048 is excluded because it is usually a number of tokens.
_FUTURE = compiled(r"20(?:2[7-9]|3\d|40|45|50)(?=\W*(?:$|[?!.,;)]|\b(?:be|cost|for|in|on|and|or|with|than|if|when)\b))")
# Hours by the beginning of a unit of time; the first match counts.
_HOURS = (("ni", 24.0), ("na", 24.0), ("nu", 24.0), ("no", 24.0), ("gi", 24.0), ("fo", 336.0), ("min", 1 / 60), ("h", 1.0), ("st", 1.0), ("or", 1.0), ("d", 24.0), ("ta", 24.0), ("tä", 24.0), ("tri", 3 * MONTH_HOURS), ("jo", 24.0), ("w", 168.0), ("se", 168.0), ("m", MONTH_HOURS), ("y", 8760.0), ("ja", 8760.0), ("jä", 8760.0), ("an", 8760.0), ("añ", 8760.0), ("q", 3 * MONTH_HOURS))
_UNIT = r"min(?:utes?|uten)|hours?|h|hrs?|days?|d|weeks?|fortnights?|months?|quarters?|years?|stunden?|tagen?|tage?|wochen?|monaten?|monate?|monat|jahre?n?|heures?|jours?|semaines?|mois|ans?(?! h)|horas?|d[ií]as?|semanas?|mes(?:es|i)?|años?|or[ae]|giorn[oi]|settiman[ae]|ann[oi]"
_DURATION = compiled(
    rf"(?:(?:for|over|during|in|within|throughout|takes?|running|runs|pendant|während|für|en|durante|em|num|numa|per(?= \d)|por(?= \d)|an(?= ein)|über|przez|w ciągu) )?(?P<number>{NUMBER}|an?|one|(?:an? |the )?(?:full|whole|entire)|the (?:last|next)|all|last|une?|einen?|eine[rm]?|una?)(?:[\s-](?:(?P<kind>work(?:ing)?|business|week|school|full|whole|straight|consecutive|entire|calendar|such|of (?:these|those|such))[\s-]?)?|(?<=\d))"
    rf"(?P<unit>{_UNIT})(?:\s?(?:/|an?\b|per|each|every|am|pro|par|al|por|cada|jeden|jede|chaque|ogni|elke)\s?(?P<working>work(?:ing)?[\s-]?|business |week|school )?(?P<each>day|night|nacht|nuit|noche|notte|giorno|tag|jour|d[ií]a|weekend|week|woche|semaine|semana|month|monat|mois|mes|year|jahr|an|año)|\s?(?P<adverb>daily|weekly|monthly))?(?!\w)"
)
# Seconds that machines run. Others are those of a request or a file.
_SECONDS = compiled(rf"(?:for|during|runs|running) (?P<number>{NUMBER})\s?(?:s|sec|seconds)(?!\w|\s?(?:of|per|each|every|an?)\b|\s?/)")
# "21 days of 10 hours a month", "8 h × 250 d".
_DAYS_OF_HOURS = compiled(
    rf"(?:(?P<days>{NUMBER})[\s-](?:\w+ )?days? (?:of|at|with|x|×|\*) (?P<hours>{NUMBER})\s?h(?:ours?|rs?)?|(?P<hours_>{NUMBER})\s?h(?:ours?|rs?)?\s?[x×*]\s?(?P<days_>{NUMBER})\s?d(?:ays?)?)(?: each)?"
    r"(?:\s?(?:/|an?\b|per|each|every)\s?(?P<each>week|month|year))?(?!\w)"
)
_TO = r"\s?(?:-|–|to|until|till?|through|thru|bis|à|a|do)\s?"
_TIME = r"(?P<{0}>\d{{1,2}})(?::(?P<{0}m>\d\d))?\s?(?P<{0}n>am|pm|uhr|h)?"
# "9 to 5", "8am-6pm", "von 8 bis 18 Uhr". Without a clock word, the text must mention days as well.
_CLOCK = compiled(rf"(?:from |von |de |between )?{_TIME.format('start')}(?:{_TO}| and ){_TIME.format('end')}(?![\w%]|[.,]\d)")
_DAY = r"(?:mon|tue|wed|thu|fri|sat|sun)(?:s|rs?|nes|ur)?(?:days?)?"
_SINCE = r"(?:,? (?:and |it |it['’]s |its |we |i )*(?:now|noticed|found|stopped|killed|back|until|till|today)(?: (?:it['’]?s|is|it|on|at|out|this))*,? )"
_DAY_TO_DAY = compiled(rf"(?:from )?(?P<first>{_DAY})(?: at|,)? {_TIME.format('start')}(?:{_TO}|{_SINCE})(?P<last>{_DAY})(?: at|,)? {_TIME.format('end')}(?!\w)")
_NAMED_DAYS = compiled(rf"(?:(?P<first>{_DAY}){_TO}(?P<last>{_DAY})|(?P<list>{_DAY}(?:\s?(?:,|\+|&|/|and|plus)\s?{_DAY})+))(?!\w)")
_DAYS_OF_WEEK = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DAILY = re.compile(r"\b(?:(?:work\w*|office|business|shop|opening|store) hours|days (?:a|per|each) week|daily|nightly|overnight|(?:every|each|per|a|work\w*|business|week|both|all)[ -]?(?:days?|nights?|evenings?|mornings?)|täglich|weekends?)\b")
# Days of the week without a number: "10 hours a day, Monday to Friday".
_WORKDAYS = compiled(r"(?:(?:work(?:ing)?|business|week)[\s-]?days?|werktags|werktagen|arbeitstagen|bürozeiten|montags? bis freitags?|(?:de )?lunes a viernes|(?:du )?lundi au vendredi|(?:da |dal )?lunedì (?:a|al) venerdì|maandag (?:tot|t/m) vrijdag|jours ouvrés|días laborables)(?!\w)")
_WEEKEND = compiled(
    r"(?:(?P<off>(?:off|down|not|no|without|except|but not|excluding|never|minus|skip\w*|out|closed|sleep\w*|stop\w*|rest\w*|paused?)(?: (?:at|on|over|for|during))?(?: the)? )|(?P<in>(?:including|incl\.?|even|also|and)(?: (?:at|on|over))?(?: the)? )|(?P<once>(?:for |over |this |next |last )(?:an?|one|the|this|next|last|whole)?\s?))?"
    r"(?P<word>weekends?|wochenende\w*)(?P<too> (?:included|too|as well|incl\.?)| (?P<off_>off|excluded|out|free))?(?!\w)"
)
_ALWAYS = compiled(r"(?:(?:nobody|no[ -]?one|don['’]?t|never|not)(?: ever| gets?| being| been| is| are)* (?:off|stops?|stopped|sleeps?|down|(?:switch|turn|shut|power)(?:es|ed|s|ing)?(?: (?:it|them|those|these|that|the \w+))? (?:off|down))|24/7|24x7|around the clock|all the time|always (?:on|up|running)|continuously|nonstop|non-stop|permanently|left (?:on|running)|leav(?:e|ing) (?:it|them|everything) (?:on|running|up)|(?:is|are) (?:on|up) all the time|day and night|round the clock|durchgehend|rund um die uhr|en continu|sin parar)(?!\w)")
_OFF_BEFORE = re.compile(r"\b(?:off|kill\w*|stop\w*|shut\w*|down|except|without|not|no|skip\w*|closed|sleep\w*)\b[^.,;]{0,20}$")
_STOPPED = re.compile(r"\b(?:off|stop\w*|shut\w*|down|clos\w+|sleep\w*)\b[^.?!]*$")
_RATE = re.compile(r"\b(?:per|pro|par|por|each|every|in a)[ -](?:calendar )?(?:day|week|year|annum|tag|woche|jahr|jour|semaine|an|d[ií]a|semana|año)\b|\b(?:daily|weekly|yearly|annual(?:ly)?)\b|/ ?(?:day|week|year)\b")
_A_YEAR = re.compile(r"\b(?:an?|per|each|every|this|pro|im|par|por|al) (?:\w+ )?(?:year|annum|jahr|an|año)\b|\b(?:yearly|annual\w*)\b|/ ?year\b")
_FOR = re.compile(r"(?:for|over|during|in|within|throughout|running|runs|pendant|während|für|en|durante|em|num|numa|per|por|an(?= ein)|über|przez|w ciągu)\s")
# "Four runs, each 6 hours".
_RUNS = compiled(rf"(?P<count>{NUMBER})\s(?:[a-z-]+\s)?(?:runs|jobs|trainings|sessions|experiments|rounds|times)(?=[ ,]*(?:\(|each|of|at|that (?:each )?take|taking|lasting|every one))")
# "A week" at the start of a clause is a duration too; in "the price a week" it is not.
_APART = re.compile(r"(?:^|[,:;(]|\b(?:now|then|and|say|is|of|all|same))\s*$")
# Time that no machine runs: "an hour of delay is fine", "900 hours of audio".
_NOT_RUN = re.compile(r"\s(?:of|more|extra) (?:[^\W\d]+ ){0,2}?(?:delay|latency|wait\w*|lag|downtime|audio|speech|video|footage|recordings?|calls|music|talk)\b")
# The term of a commitment is not a time that machines run.
_COMMITMENT = compiled(r"(?:1|3)[\s-]?(?:years?|yrs?|y)(?=[,\s-]+(?:\w+\s){0,2}(?:savings?|reserv\w+|commit\w*|ris?|plan|no upfront|all upfront|partial)\b)|(?<=reserved )(?:1|3)[\s-]?(?:years?|yrs?|y)(?!\w)")
_ONE = frozenset({"a", "an", "one", "une", "un", "ein", "eine", "einen", "einer", "einem", "una", "uno"})
_DAYS_OF_MONTH = {"jan": 31, "feb": 28, "mar": 31, "apr": 30, "mai": 31, "may": 31, "jun": 30, "jul": 31, "aug": 31, "ago": 31, "sep": 30, "oct": 31, "okt": 31, "ott": 31, "nov": 30, "dec": 31, "dez": 31}
_MONTHS = compiled(
    r"(?:(?:for|during|over|throughout|in|all|whole|entire|full|of|tutto|todo|ganzen|tout|im) (?:of |the )?)(?:(?P<month>jan(?:uary)?|feb(?:ruary)?|march|april|may|june?|july?|aug(?:ust)?|agosto|sept(?:ember)?|oct(?:ober)?|oktober|ottobre|nov(?:ember)?|dec(?:ember)?|dezember)|(?P<quarter>q[1-4]))(?! (?:be|i|we|have|not|also|cost|need|well|run)\b)(?!\w)"
)
_ONE_NIGHT = re.compile(r"\b(?:one|a|per|une|eine|single|pro|par) (?:single )?(?:night|nuit|nacht|evening|shift|noche|notte)\b")
# Running on some days, at all their hours.
_KEPT_UP = re.compile(r"\b(?:during|only|just|keep|kept|up|on)\s\|")
_WEEKLY = re.compile(r"\b(?:every|each|per|an?|the) (?:\w+ )?(?:week|month)\b|\b(?:weekly|monthly|month|weeks|months|usually|always)\b|woche|monat")


def hours_in(unit: str) -> float:
    """The hours in a unit of time, as written: "week", "mo", "jährlich"."""
    return next(hours for start, hours in _HOURS if unit.startswith(start))


def take_future(reading: Reading) -> None:
    """Mask a year that no data covers."""
    reading.take(_FUTURE)


@dataclass(slots=True)
class _Times:
    """The times that a text gives: `lengths` and `spans` between days in hours; `rates` of use; whether it is `off` on days.

    A rate is the hours used and the period in hours: 10 hours of a day, 21 days of a month.
    """

    lengths: list[float] = field(default_factory=list)
    rates: list[tuple[float, float]] = field(default_factory=list)
    spans: list[float] = field(default_factory=list)
    off: bool = False


def take_duration(reading: Reading) -> None:
    """Fill the hours that something runs: a duration, or those of a schedule in a month, a year or a given time."""
    reading.take(_COMMITMENT)
    always = bool(reading.take(_ALWAYS))
    yearly = bool(_A_YEAR.search(reading.text))
    times = _Times()
    _take_days_of_hours(reading, times)
    for match in reading.take(_DAY_TO_DAY):
        nights = _weekday(match["last"]) - _weekday(match["first"])
        times.spans.append((nights * 24.0 + _clock(match, "end") - _clock(match, "start")) % 168.0 or 168.0)
    named = _take_named_days(reading, times)
    _take_clock(reading, times, days_said=bool(named))
    for match in reading.take(_MONTHS):
        times.lengths.append(2190.0 if match["quarter"] else 24.0 * _DAYS_OF_MONTH[match["month"][:3]])
    if times.rates and _ONE_NIGHT.search(reading.text) and not _WEEKLY.search(reading.text):
        times.lengths.append(24.0)
    times.lengths += [value_of(match["number"]) / 3600 for match in reading.take(_SECONDS)]
    counted_days = _take_lengths(reading, times, always=always)
    # A few named days are just those days, unless the text mentions a longer time.
    weekly = bool(times.off or yearly or _WEEKLY.search(reading.text) or any(length > 168.0 for length in times.lengths))
    days = [*named, *(5 for _ in reading.take(_WORKDAYS) if not counted_days)]
    days += _take_weekends(reading, times, weekly=weekly)
    whole_days = bool(always or times.off or _KEPT_UP.search(reading.text))
    _put_on_days(times, days, named=bool(named), weekly=weekly, whole_days=whole_days)
    if times.rates:
        rates = sorted(times.rates, key=lambda rate: rate[1])
        times.lengths = [_scheduled(rates, times.lengths, 8760.0 if yearly else MONTH_HOURS)]
    elif times.lengths and (runs := reading.take(_RUNS)):
        times.lengths[0] *= value_of(runs[0]["count"])
    reading.fill("hours", times.lengths[:1])
    if always and not _RATE.search(reading.text):
        reading.fill("hours", [MONTH_HOURS])


def _take_days_of_hours(reading: Reading, times: _Times) -> None:
    """Take days with a number of hours each: "21 days of 10 hours a month"."""
    for match in reading.take(_DAYS_OF_HOURS):
        days = 24.0 * value_of(match["days"] or match["days_"])
        times.rates.append((value_of(match["hours"] or match["hours_"]), 24.0))
        if match["each"]:
            times.rates.append((days, hours_in(match["each"])))
        else:
            times.lengths.append(days)


def _take_named_days(reading: Reading, times: _Times) -> list[int]:
    """Return on how many days of the week it runs, if days are named: "Mon-Fri", "off on Sat and Sun"."""
    named: list[int] = []
    for match in reading.take(_NAMED_DAYS):
        times.off = bool(_OFF_BEFORE.search(reading.text[max(0, match.start() - 40) : match.start()]))
        named.append(7 - _days_named(match) if times.off else _days_named(match))
    return named[:1]


def _take_clock(reading: Reading, times: _Times, *, days_said: bool) -> None:
    """Take times of the day: "9 to 5", "fire it up at 8pm and kill it at 2am"."""
    days_said = days_said or bool(_WORKDAYS.search(reading.text) or _DAILY.search(reading.text))
    for match in list(_CLOCK.finditer(reading.text)):
        start, end = int(match["start"]), int(match["end"])
        by_clock = match["endn"] in ("am", "pm", "uhr") or (match["startn"] == match["endn"] == "h" and start > 12)
        if start <= 24 and end <= 24 and (days_said or by_clock or (start, end) == (9, 5)):
            reading.mask(match.start(), match.end())
            plain = not (match["startn"] or match["endn"]) and start > end and end <= 12
            hours = (_clock(match, "end") - _clock(match, "start")) % (12 if plain else 24)
            times.rates.append((hours or 24.0, 24.0))
    apart = list(re.finditer(_TIME.format("start") + r"(?<=m)", reading.text))
    if len(apart) == 2 and not times.rates and not times.spans:
        begin, until = (int(m["start"]) % 12 + (12 if m["startn"] == "pm" else 0) for m in apart)
        times.rates.append((float((until - begin) % 24 or 24), 24.0))


def _take_lengths(reading: Reading, times: _Times, *, always: bool) -> bool:
    """Take durations, and hours or days of a longer time ("8 hours a day"). Return whether days of a kind are counted."""
    counted_days = False
    units = {hours_in(match["unit"]) for match in _DURATION.finditer(reading.text) if match["number"] in _ONE}
    for match in list(_DURATION.finditer(reading.text)):
        if (len(units) > 1 and match["number"] in _ONE) or _NOT_RUN.match(reading.text, match.end()):
            continue  # "for an hour, a day and a month" asks for three prices
        once = not re.match(r"\d", match["number"]) and match["number"] not in NUMBERS
        if once and not _is_length(reading.text, match, always=always):
            continue  # "per hour", "a month": a unit of price
        reading.mask(match.start("number"), match.end("unit") if match["working"] else match.end())
        hours = (1.0 if once else value_of(match["number"])) * hours_in(match["unit"])
        counted_days = counted_days or bool(not once and match["kind"] and match["unit"].startswith("d"))
        period = "d" if match["adverb"] == "daily" else match["each"] or match["adverb"]
        if period:
            times.rates.append((min(hours, hours_in(period)), hours_in(period)))
        else:
            times.lengths.append(hours)
    return counted_days


def _is_length(text: str, match: re.Match[str], *, always: bool) -> bool:
    """Whether a single unit of time is a duration: "for a week", "the whole day"."""
    whole = re.search(r"full|whole|entire", match.group()) or re.search(r"last|next|all", match["number"])
    apart = _APART.search(text[: match.start()]) or re.match(r"\s(?:lang|long|of (?:it|that|this))\b", text[match.end() :])
    return bool(whole or (always and hours_in(match["unit"]) > 1) or apart or _FOR.match(match.group()))


def _take_weekends(reading: Reading, times: _Times, *, weekly: bool) -> list[int]:
    """Return on how many days of the week it runs, as weekends tell it: 5 without them, 2 on them alone."""
    days: list[int] = []
    for match in reading.take(_WEEKEND):
        if match["once"] and not weekly:
            times.lengths.append(48.0)
        elif match["in"] and _STOPPED.search(reading.text[: match.start()]):
            days.append(5)  # "stopped outside 8:00-19:00 and on weekends"
        elif not (match["in"] or (match["too"] and not match["off_"])):
            off = bool(match["off"] or match["off_"])
            times.off = times.off or off
            days += [] if times.spans else [5 if off else 2]
    return days


def _put_on_days(times: _Times, days: Sequence[int], *, named: bool, weekly: bool, whole_days: bool) -> None:
    """Let the times of a day, or whole days, hold on some days of the week."""
    if times.spans and not any(length <= 168.0 for length in times.lengths):
        if weekly:
            times.rates.append((times.spans[0], 168.0))
        else:
            times.lengths.append(times.spans[0])
        return
    if named and days[0] <= 3 and not weekly and not any(length > 24.0 for length in times.lengths):
        times.lengths.append(24.0 * days[0])
        return
    if not days or not (times.rates or times.lengths or whole_days) or any(each > 24.0 for _, each in times.rates):
        return
    if not times.rates and times.lengths and times.lengths[0] <= 24.0:
        times.rates.append((times.lengths.pop(0), 24.0))
    if times.rates and list(days[:2]) == [5, 2]:
        times.rates = [(5 * times.rates[0][0] + 48.0, 168.0)]  # "8pm to 7am on weekdays and all weekend"
    elif times.rates or whole_days or named:
        times.rates.append((days[0] * 24.0, 168.0))


def _clock(match: re.Match[str], which: str) -> float:
    """The time of day in hours."""
    hour, half = float(match[which]), match[f"{which}n"]
    if half in ("am", "pm"):
        hour = hour % 12 + (12 if half == "pm" else 0)
    return hour + float(match[f"{which}m"] or 0) / 60


def _weekday(written: str) -> int:
    return _DAYS_OF_WEEK.index(written[:3])


def _days_named(match: re.Match[str]) -> int:
    if match["list"]:
        return len(set(re.findall("|".join(_DAYS_OF_WEEK), match["list"])))
    return (_weekday(match["last"]) - _weekday(match["first"])) % 7 + 1


def _scheduled(rates: Sequence[tuple[float, float]], lengths: Sequence[float], usual: float) -> float:
    """The hours of a schedule: "2 hours a day, 20 days a month, 10 months".

    `rates` are pairs of hours used and period, the shortest period first. Without `lengths`, the schedule lasts for the
    `usual` time.
    """
    used, span = rates[0]
    for days, each in rates[1:]:
        used, span = used * days / span, each
    return used * (max(lengths, default=max(usual, span)) / span)
