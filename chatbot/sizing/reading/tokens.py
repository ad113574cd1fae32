"""Read tokens and users: what a training sees, how long a context is, and how many are served at once."""

import re

from chatbot.sizing.reading.numerals import NUMBER, compiled, scaled, value_of
from chatbot.sizing.reading.text import Reading
from chatbot.sizing.reading.wording import wording

# Stands for the longest context that the model supports.
ALL_CONTEXT = 10**12
_WHOLE = re.compile(r"\b(?:its|the|their|full|at) (?:(?:full|whole|entire|native|own) )?(?:max(?:imum|imal)?|longest|full|native|entire) (?:position|context|sequence|window|length)|\bas (?:long|much) (?:\w+ )?as (?:the model|it) (?:takes|supports|allows|can)\b|\bfull[- ](?:length )?context\b|\bfilled[- ]to[- ]the[- ](?:max|brim|limit)(?: context)?\b(?! \()")
_TOKENS = compiled(
    rf"(?P<number>half an?|{NUMBER})\s?(?P<scale>b|bn|billion|billionen|t|trillion|m|million|millionen|milliards?|milliarden?|mrd\.?|mil millones|millones)[\s-]?(?:de |of |training |output |input |generated )?tok(?:en)?s?(?! of context| context)(?!\w)|tokens?\s?[:=]\s?(?P<number_after>{NUMBER})\s?(?P<scale_after>b|bn|t|m)(?!\w)"
)
# "12.4M rows x 512 tok", "90k tickets of about 700 tokens each".
_ROWS = compiled(
    rf"(?P<number>{NUMBER})\s?(?P<scale>k|m|b|thousand|million|billion)?\s(?:[a-z]+\s){{0,2}}?(?P<noun>[a-z]{{3,}}s)\s?(?:[x×*,]|of|at|with|avg\.?|average|averaging|à|each|\()\s?(?:each )?(?:with |of |is |are |averaging |at )?(?:about |around |roughly |~|ca\.? |on average |avg\.? )?"
    rf"(?P<each>{NUMBER})\s?(?P<each_scale>k)?\s?tok(?:en)?s?(?: each| on average| apiece| long)?(?!\w|\s?(?:/|per))"
)
_CALLED = re.compile(r"users?|people|requests?|sequences?|sessions?|chats?|quer(?:y|ies)|prompts?|clients?|streams?|conversations?|gpus?|agents?|customers?|developers?|staff")
EPOCHS = compiled(rf"(?P<number>{NUMBER})\s(?:full )?(?:epochs?|epochen|épocas|époques|passes(?: over (?:it|the data))?)(?!\w)")
_TRAINS = re.compile(r"\b(?:train\w*|pre-?train\w*|fine-?tun\w*|how (?:long|many (?:hours|days|weeks|months)))\b[^.?!/]*\bfor $")
_CONTEXT_WORD = r"(?:max[-_ ](?:model|seq)[-_ ]len(?:gth)?|contexts?|ctx|seq(?![a-z])|context (?:window|length|size)|sequence[- ]lengths?|seq(?:uence)?[- ]?len|(?:input )?prompts?|kontext)"
_CONTEXT = compiled(
    rf"(?:(?:{_CONTEXT_WORD})(?: (?:window|length|size))?(?:\s?[:=]|\s(?:of|is|at|to|up to|with|von))?\s(?:of |the default,? (?:of |is )?)?)?"
    rf"(?P<number>\d{{1,9}}(?:[.,]\d{{1,3}}){{0,3}})\s?(?P<scale>k|m)?(?!\w|\.\d)(?P<after>[\s-]?(?:tokens?\b(?!\s?(?:per|/)))?(?:[\s-]?(?:of |long |token )?{_CONTEXT_WORD})?)"
)
_NO_CONTEXT = re.compile(r"[\s-]?(?:(?:in|of|worth of) (?:[a-z]+ ){0,3}(?:credits?|budget|funding)\b|(?!(?:does|is|this|fits|as|was|has|plus|vs|works|needs|takes|its|us|contexts|sequences|tokens)\b)(?:[a-z]{3,}\s)?(?!(?:does|is|this|fits|as|was|has|vs|its|us|contexts|sequences|tokens)\b)[a-z]{3,}s\b|\||users|people|requests|queries|calls|images|\$|€|usd|eur|dollars|euros|bucks|gpus?|of them|a (?:month|day|week|year)|per|/)")
_PEOPLE = r"(?:users?|people|persons?|developers?|employees?|engineers?|requests?|sequences?|sessions?|clients?|chats?|conversations?|streams?|queries|prompts|benutzer|nutzer|usuarios)"
_SEQUENCES = compiled(
    rf"(?:(?:micro[- ]?)?batch(?:es)?(?:[- ]size)?(?:\s?[:=]|\s(?:of|is|to))?(?:\s(?:about|around|roughly|up to))?\s?(?P<batch>{NUMBER})(?!\w|\.\d)|bs\s?=?\s?(?P<bs>\d+)(?![\w.])"
    rf"|concurrency(?: of|:)?\s(?P<concurrency>{NUMBER})"
    rf"|(?P<people>{NUMBER}|minus \d+)(?P<thousand>k)?[\s-](?:(?:concurrent|simultaneous|parallel|active|users?)[\s-])*{_PEOPLE}(?:\s(?:at once|at a time|at the same time|in parallel|concurrently|simultaneously))?(?!\w)(?!\s?(?:/|per|a) ?s)"
    rf"|(?P<once>{NUMBER})\s(?:[a-z]+ing\s)?(?:at once|at a time|in parallel|concurren(?:t(?:ly)?|cy)|parallel))"
)
# Counts that are not concurrent users: people served over a day ("200 daily users"), people who do the work ("a team of
# 4"), and training data ("20k chat examples").
_NOT_AT_ONCE = compiled(rf"(?:we(?:['’]re| are) (?:only |just )?{NUMBER} (?:people|persons|engineers|developers|devs)|(?:team|company|startup) of {NUMBER}|{NUMBER}[\s-](?:person|people|man|head) (?:team|startup|company|shop|firm|lab|office)|{NUMBER}k? (?:(?:daily|monthly|registered|beta|pilot|trial) (?:active )?)+(?:users|testers|people)|{NUMBER}k? (?:employees|users (?:a|per) (?:day|month)|people(?=,? (?:\||team|budget)))|{NUMBER}k? (?:[a-z]+ ){{0,2}}(?:examples|samples|pairs|rows|records))(?!\w)")
# "20k requests per day": how many at once is not said.
_OVER_A_TIME = re.compile(r"\s?(?:/|(?:an?|per|each|every|pro|par|por|al|am|ao)\s)\s?(?:min|hour|h\b|day|night|week|month|year|stunde|tag|woche|monat|heure|jour|hora|d[ií]a)")
# People served: what is left of "25 clinicians", "32 staff", "10 Kollegen" when all other counts have been taken.
_SERVED = compiled(rf"(?P<number>{NUMBER})[\s-](?:[^\W\d_]{{2,15}}[\s-])?(?P<noun>[^\W\d_]{{3,}}(?:s|en|ren|gen|nen|eurs|enti|anti)|people|staff|men|women|children|personnel)(?!\w)")
# "10 x 64k": the number of sequences, when the length of each has been masked.
_TIMES = compiled(rf"(?P<number>{NUMBER})\s?[x×*]\s?(?=\|)")


def take_all_context(reading: Reading) -> None:
    reading.fill("context", [ALL_CONTEXT for _ in reading.take(_WHOLE)])


def take_rows(reading: Reading) -> None:
    """Fill training tokens as the number of texts times their length, if the question is about training."""
    if not re.search(r"train|tun|epoch|\bft\b|pass(?:es)?\b|lora|sft", reading.text):
        return
    for match in list(_ROWS.finditer(reading.text)):
        if not _CALLED.fullmatch(match["noun"]):
            reading.mask(match.start(), match.end())
            epochs = next((value_of(m["number"]) for m in reading.take(EPOCHS)), 1.0)
            each = value_of(match["each"]) * (1000 if match["each_scale"] else 1)
            reading.fill("tokens", [scaled(match) * each * epochs])
            reading.fill("context", [int(each)])


def take_tokens(reading: Reading) -> None:
    """Fill the tokens that a training sees; "per million tokens" is a unit of price."""
    epochs = next((value_of(m["number"]) for m in reading.take(EPOCHS)), 1.0) if _TOKENS.search(reading.text) else 1.0
    for match in list(_TOKENS.finditer(reading.text)):
        tokens = scaled(match, "" if match["number"] else "_after")
        # If a speed is given, or a training asked for, other amounts are those that are meant; a million is the unit of price.
        amount = tokens != 1e6 and ("tokens_per_second" in reading.slots or _TRAINS.search(reading.text[: match.start()]))
        if amount or not re.search(r"(?:per|/|each|for)\s?$", reading.text[max(0, match.start() - 5) : match.start()]):
            reading.mask(match.start(), match.end())
            reading.fill("tokens", [tokens * epochs])


def take_context(reading: Reading) -> None:
    for match in list(_CONTEXT.finditer(reading.text)):
        before = reading.text[: match.start()]
        said = re.search(_CONTEXT_WORD, match.group()) or "token" in match["after"]
        if re.search(r"(?:\b(?:per|pro|par|por)|(?<!w)/)\s?$", before):
            continue  # "per 1M tokens" is a unit of price
        thousands = match["scale"] == "k" and "," not in match["number"]
        counts_others = _NO_CONTEXT.match(reading.text, match.end()) and not before.endswith("how many ")
        of_ours = re.search(r"(?:[$€-]|\b(?:of|from) (?:the|our|my|that))\s?$", before)
        if said or (thousands and not counts_others and not of_ours):
            below = -1 if re.search(r"(?<!\w)(?:-|minus |negative )$", reading.text[: match.start("number")]) else 1
            reading.mask(match.start(), match.end())
            reading.fill("context", [below * _binary(value_of(match["number"]), match["scale"] or "")])


def _binary(number: float, scale: str) -> int:
    """ "128k" is 131,072 and "1M" 1,048,576, as models are named; numbers that are not powers of two are decimal."""
    binary = number == int(number) and int(number) > 0 and (int(number) & (int(number) - 1)) == 0
    return int(number * ({"k": 1024, "m": 1024**2} if binary else {"k": 1e3, "m": 1e6}).get(scale, 1))


def tells_people(text: str) -> bool:
    """Whether a text counts people or data without saying how many are served at once."""
    return bool(_NOT_AT_ONCE.search(text.lower()))


def take_sequences(reading: Reading) -> None:
    reading.take(_NOT_AT_ONCE)
    found = [m for m in reading.take(_SEQUENCES) if not _OVER_A_TIME.match(reading.question, m.end())]
    written = [m["batch"] or m["bs"] or m["concurrency"] or m["people"] or m["once"] for m in found]
    counts = [value_of(number) * (1000 if m["thousand"] else 1) for m, number in zip(found, written, strict=True)]
    reading.fill("sequences", [int(count) for count in counts])


def take_people(reading: Reading) -> None:
    uncounted = wording()["words"]["uncounted"].split()
    people = (m for m in _SERVED.finditer(reading.text) if m["noun"] not in uncounted)
    served = next((m for m in people if not _OVER_A_TIME.match(reading.question, m.end())), None)
    if served:
        reading.mask(served.start(), served.end())
        reading.fill("sequences", [int(value_of(served["number"]))])
    reading.fill("sequences", [int(value_of(m["number"])) for m in reading.take(_TIMES)])
