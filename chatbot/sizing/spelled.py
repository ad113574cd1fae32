"""Rewrite a question for the slot readers: numbers in digits, times in hours, some foreign phrases in English."""

import re
import tomllib
from collections.abc import Callable
from functools import cache
from importlib import resources

from chatbot.language.quantities import WORD_NUMBERS

_UNITS = {word: int(n) for word, n in WORD_NUMBERS.items() if word.isalpha() and 1 <= n <= 19}
_TENS = {word: int(n) for word, n in WORD_NUMBERS.items() if word.isalpha() and 20 <= n <= 90}
_WHOLE = "|".join((*_TENS, *_UNITS))
# Japanese, Chinese and Korean text often has no space next to a Latin name or a number; `_APART` finds where one
# belongs.
_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uff01-\uff0f"
_APART = re.compile(rf"(?<=[{_CJK}])(?=[a-z0-9$])|(?<=[a-z0-9%])(?=[{_CJK}])")
_TWICE = re.compile(rf"(?P<first>\b(?:\d+|{_WHOLE}))\s\((?:\d+|{_WHOLE})\)")
_COMPOUND = re.compile(rf"\b(?P<tens>{'|'.join(_TENS)})[\s-](?P<ones>{'|'.join(list(_UNITS)[:9])})\b")
_THOUSANDS = re.compile(
    rf"\b(?P<number>\d{{1,3}}|{_WHOLE}|a(?= hundred thousand))[\s-](?P<scale>hundred(?: thousand)?|thousand)\b(?:(?: and)? (?P<rest>\d{{1,2}}|{_WHOLE})\b(?=\s[a-z]))?"
)
_SPACED = re.compile(r"(?<![\w.,])\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?=\s?(?:[$€]|usd\b|dollars?\b|bucks\b|tok|k?wh\b|mwh\b|hours?\b|heures?\b|stunden\b|users?\b|requests?\b|euros?\b))")
# More tokens than any context has are an amount: "100,000,000 tokens".
_TOKENS = re.compile(r"(?<![\w.,$])(?:\d{2,3}(?:,\d{3}){2}|\d{1,3}(?:,\d{3}){3,4}|\d{8,15})(?= (?:training |input |output )?tok(?:en)?s?\b(?! of context| context))")
_GRAND = re.compile(r"(?<![\w$])\$?(?P<number>\d+(?:[.,]\d+)?)\s?(?:grand\b|g(?= (?:a|per) (?:month|year|week)))")
_SCALED = re.compile(rf"\b(?P<number>{_WHOLE})(?=\s(?:million|billion|trillion|per\s?cent|pct)\b|\s?%)")
_PERCENT = re.compile(r"(?<=\d)\s?(?:%|per\s?cent|pct\.?|prozent|pour\s?cent|por ciento|per cento|procent)(?!\w)")
_HOURS_AND_MINUTES = re.compile(r"(?<![\w.])(?P<hours>\d{1,4})\s?(?:h|hrs?|hours?)(?:(?:\s?and)?\s?(?P<minutes>\d{1,2})\s?(?:m|mins?|minutes?)\b|(?P<bare>[0-5]\d)(?!\w))")
_HUNDRED_MILLIONS = re.compile(r"(?P<number>\d{1,9}(?:\.\d{1,4})?) hundred million")
_PARTS = {"half": 0.5, "1/2": 0.5, "quarter": 0.25, "1/4": 0.25, "quarters": 0.75, "3/4": 0.75}
_HALF_MORE = re.compile(
    rf"\b(?:(?P<whole>\d+|{_WHOLE}|an?) )?(?P<unit>hour|day|week|month|year)s? and a half\b"
    rf"|\b(?P<number>\d+|{_WHOLE})(?: and (?:a |three )?(?P<part>half|quarters?)| (?:and )?(?P<fraction>[13]/[24])) (?P<units>hours|days|weeks|months|years)\b"
)
_HALF = re.compile(r"\bhalf (?:of )?(?:an?|the) (?P<unit>hour|day|week|month|year)\b")
_SHARES = {"half": 50, "quarter": 25, "third": 33.3, "fifth": 20, "tenth": 10, "quarters": 75, "thirds": 66.7}
_SHARE_OF_LOAD = re.compile(r"(?P<before>\b(?:utili[sz]ation|load|usage|busy|idles?|minus|less)(?: (?:is|of|at|about|only|just))*) (?:an?|one|two|three) (?P<share>quarters?|thirds?|half|fifth|tenth)\b|\b(?:an?|one|two|three) (?P<share_>quarters?|thirds?|half|fifth|tenth) (?P<after>load|utili\w+|busy|off|discount)\b")
_TEN_THOUSANDS = re.compile(r"(?P<number>\d{1,9}(?:\.\d{1,4})?) ?(?:万|萬|만)")
_QUARTERS = re.compile(r"\b(?P<number>a|one|three|1|3)[ -]quarters? of an? (?P<unit>hour|day|week|month|year)\b")
_OF_A_WEEK = re.compile(r"\b(?P<hours>\d{1,4} hours?) (?:(?:out )?of|from) (?:the|every|each|all)?\s?(?:24|168|730|8[,.]?760)(?: hours)?(?: (?:in|of|that))? (?:an?|the|each|every) (?P<each>day|week|month|year)(?: has)?")


def as_read(question: str) -> str:
    """Return the question in lower case, on one line, with spelled-out numbers in digits."""
    text = re.sub(r"\s+", " ", question.lower()).strip()
    text = _APART.sub(" ", text)
    for pattern, words in _phrases():
        text = pattern.sub(words, text)
    for pattern, rewrite in _REWRITES:
        text = pattern.sub(rewrite, text)
    return re.sub(r" +", " ", text)


def _whole(written: str) -> int:
    return int(written) if written.isdigit() else 1 if written in ("a", "an") else _UNITS.get(written) or _TENS[written]


def _thousands(match: re.Match[str]) -> str:
    scale = {"hundred": 100, "thousand": 1000, "hundred thousand": 100_000}[match["scale"]]
    return str(_whole(match["number"]) * scale + (_whole(match["rest"]) if match["rest"] else 0))


def _minutes(match: re.Match[str]) -> str:
    return f"{int(match['hours']) + int(match['minutes'] or match['bare']) / 60:.10g} hours"


def _half_more(match: re.Match[str]) -> str:
    if match["unit"]:
        return f"{_whole(match['whole'] or 'a') + 0.5:g} {match['unit']}s"
    return f"{_whole(match['number']) + _PARTS[match['part'] or match['fraction']]:g} {match['units']}"


# "trn1.32xl x4", but not "p5.48xlarge x 72 hours"
_COUNT_BEHIND = re.compile(r"\b(?P<type>[a-z]+\d[a-z\d-]*\.\d*x?(?:large|l|metal))\s?[x×]\s?(?P<count>\d{1,3})\b(?![.,]?\d| ?(?:h|d|hrs?|hours?|days?|weeks?|months?|years?|min\w*|gi?b|gpus?|tok\w*)\b| ?%)")
_REWRITES: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (_TWICE, r"\g<first>"),
    (_COMPOUND, lambda match: str(_TENS[match["tens"]] + _UNITS[match["ones"]])),
    (_THOUSANDS, _thousands),
    (_SPACED, lambda match: re.sub(r"\s", "", match.group())),
    (_TOKENS, lambda match: f"{int(match.group().replace(',', '')) / 1e6:.15g} million"),
    (_GRAND, r"$\g<number>k"),
    (_SCALED, lambda match: str(_whole(match["number"]))),
    (_PERCENT, "%"),
    (_HOURS_AND_MINUTES, _minutes),
    (re.compile(r"\s?½"), " 1/2"),
    (_HALF_MORE, _half_more),
    (_QUARTERS, lambda match: f"{0.75 if match['number'] in ('three', '3') else 0.25} {match['unit']}s"),
    (_HUNDRED_MILLIONS, lambda match: f"{float(match['number']) / 10:g} billion"),
    (re.compile(r"(?<!half )\ba (?=(?:billion|trillion) tok)"), "1 "),
    (_HALF, r"0.5 \g<unit>s"),
    (_SHARE_OF_LOAD, lambda match: f"{match['before']} {_SHARES[match['share']]}%" if match["share"] else f"{_SHARES[match['share_']]}% {match['after']}"),
    (_TEN_THOUSANDS, lambda match: f"{float(match['number']) * 10000:.0f}"),
    (_OF_A_WEEK, r"\g<hours> a \g<each>"),
    (_COUNT_BEHIND, r"\g<count> \g<type>"),
)


@cache
def _phrases() -> tuple[tuple[re.Pattern[str], str], ...]:
    wording = tomllib.loads(resources.files("chatbot.sizing").joinpath("wording.toml").read_text(encoding="utf-8"))
    return tuple((re.compile(written), words) for written, words in wording["phrases"].items())
