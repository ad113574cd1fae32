"""Which quantity a question asks for: its dimension, what it counts, and whether only such a quantity answers it."""

import re
from functools import lru_cache

from chatbot.language.quantities import UNITS

# Pattern in a question -> the dimensions that answer it. A strict pattern accepts no other answer; a loose one does.
_ASKED_STRICTLY = (
    # No unit has the dimension "weight" (kilograms and tons are read as emissions), so the power of a card is never
    # told as what it weighs.
    (r"\bhow (?:much|many (?:kilos?|kilograms?|kg|pounds?|grams?))\b.{0,40}\bweighs?\b|\bhow heavy\b|\bweight of (?:a|an|the|one)\b(?! (?:model|network|layer))", ("weight",)),
    (r"\b(?:what|which|as a) (?:factor|multiple)\b", ("times",)),
    (r"\b(?:memory|hbm) bandwidth\b", ("bytes/s", "bits/s")),
    (r"\bhow much (?:\w+ ){0,3}?(?:memory|hbm|vram|ram|storage|disk)\b|\b(?:memory|vram|ram|hbm|storage|disk) (?:size|capacity)\b|\bwhat\b.{0,40}\b(?:accelerator|gpu|host|device|hbm|local) (?:memory|storage|disk|ram)\b", ("bytes",)),
    (r"\b(?:network\w*|interconnect|efa)\b.{0,20}\b(?:bandwidth|speed|gbps)\b|\bgbps\b|\bhow fast\b.{0,30}\bnetwork", ("bits/s", "bytes/s")),
    (r"\b(?:tdp|thermal design power|wattage|board power|power (?:draw|envelope|rating|feed))\b|\bhow many (?:kilo)?watts?\b(?!-)|\bwhat (?:does|do|did|will|would|can) .{2,40}\bdraw\b", ("watts",)),
    (r"\b(?:hourly (?:price|cost|(?:rental )?rate(?! .{0,60}\b(?:hit|reach|meet|achieve|sustain|keep)))|rental (?:rate|price|cost)|(?:price|cost|costs|(?<!\w )rate|(?:rental|spot|list|usage|on-demand) rate|charged?|pay|dollars|monthly)\b.{0,40}\b(?:per|an|each|a|every) (?:hour|month|gpu|card|chip|instance|unit|(?:thousand |million )?tokens?|year|[gt]i?b|vcpu|request)\b|how much (?:does|do|is|are|would|will) (?!.{0,60}\b(?:sav|reduc|cut|lower|less|cheap)).{2,60} cost\b|what (?:does|do|did|would) (?!.{0,60}\b(?:sav|reduc|cut|lower|less|cheap)).{2,60} (?:cost|pay)\b|(?:list|unit|spot|on-demand|current|exact) price|price (?:of|for|tag)|how (?:expensive|pricey)|in (?:us )?(?:usd|dollars|euros?)|dollars per (?:hour|month|year))\b", ("money", "euros")),
    (r"\b(?:what|which) year\b|\bwhen (?:was|were|did|will)\b|\bwhen is .{2,40}\b(?:released|available|launched|due|coming|out)\b|\b(?:release|launch|announcement|availability) date\b", ("date",)),
    (r"\bhow much (?:power|energy|electricity) (?:does|do|is|will)\b", ("watts", "watt-hours", "percent")),
    (r"\bclock (?:speed|rate|frequency)\b|\bhow many [mg]hz\b", ("frequency",)),
    (r"\bhow (?:long|many (?:hours|days|weeks|months|minutes|seconds|years)|often)\b|\bhow much time\b|\bwall[ -]?clock\b", ("time",)),
    (r"\b(?:what|which) (?:percent\w*|share|fraction)|\bhow many percent\b|\b(?:in percent|in %|percentage)", ("percent",)),
    (r"\b(?:how (?:much|many).{0,30}|tons? of|tonnes? of) (?:co2|carbon dioxide)\b|\bhow many (?:metric )?(?:tons?|tonnes?)\b", ("mass",)),
)  # fmt: skip
_ASKED_LOOSELY = (
    (r"\b(?:memory|hbm|vram|ram|storage|disk|nvme|gigabytes)\b", ("bytes",)),
    (r"\b(?:network\w*|bandwidth|efa)\b", ("bits/s", "bytes/s")),
    (r"\b(?:watts?|power consumption|power|draws?)\b", ("watts",)),
    (r"\b(?:tflops|petaflops|flops|compute power|teraflops|pflops)\b", ("flops",)),
    (r"\b(?:per watt|/watt)\b", ("flops/watt", "times")),
    (r"\b(?:emit\w*|emissions|tons?|tonnes?)\b", ("mass",)),
    (r"\b(?:cost|price|costs|pay(?! off)|spend|bill|dollars?|usd)\b", ("money", "euros", "percent")),
    (r"\b(?:time|duration|days|hours|weeks)\b", ("time", "percent")),
    (r"\b(?:parameters?|model sizes?|how (?:big|large) .{0,20}models?|(?<!which )(?<!what )(?<!instance )size)\b", ("parameters",)),
    (r"\b(?:percent\w*|per cent|%|sav\w+|reduc\w+|discount|cut|cheaper|lower|less)\b", ("percent", "money")),
    (r"\b(?:times|throughput|faster|speed\w*|factor|multiple|fold|better|higher|greener|quicker|more)\b", ("times", "percent")),
)  # fmt: skip
_COUNTED = re.compile(
    r"\b(?:how many|number of|count of)\s+(?P<after>[\w-]+(?:\s(?!(?:is|are|was|were|do|does|did|has|have|can|could|will|would|should|for|in|of|on|at|to|per|with|from|by|the|an?|i|we|you|they|it)\b)[\w-]+)?)|(?<![\w-])(?P<before>[\w-]++) count\b",
    re.IGNORECASE,
)
# The question mentions a quantity but asks what it includes, what matters for it, or how it relates to another.
_OF_SOMETHING_ELSE = re.compile(
    r"\b(?:includ\w+|contain\w*|consists?|counts? when|matters?|relative to|in proportion to|should (?:i|we|they|one))\b",
    re.IGNORECASE,
)
_INSTANCE = re.compile(r"\b(?:machines?|box(?:es)?|servers?|vms?|nodes?|hosts?)\b")
_SAME_PHRASE = r"(?!(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|must|per|a|an|the|each|every|in|of|on|for|at|to|by|with|from|and|or)\b)"
_COUNT = re.compile(
    rf"\b(?:how many|number of|(?<!\w )count of)\s+(?P<what>[\w/-]+(?:\s+{_SAME_PHRASE}[\w/-]+){{0,2}})|^\W*(?P<head>\w[\w-]*) count\b",
    re.IGNORECASE,
)
# Questions for a person, a reason or a method: "who wrote about power draw?" does not ask for watts.
_NO_QUANTITY = re.compile(r"\W*(?:who|whose|whom|why|how (?:do|does|can|could)\b(?!.*\b(?:compare|differ|stack|rank|relate)))\b", re.IGNORECASE)
# A difference may also be given in percent or as a factor, whatever its dimension.
_DIFFERENCE = re.compile(
    r"\b(?:by how much|how (?:much|many) (?:more|less|fewer|lower|higher|bigger|larger|smaller)\b)", re.IGNORECASE
)
_RATIOS = frozenset({"percent", "times"})
# "Which counter gives the power in watts?" asks for the counter.
_INSTRUMENT = re.compile(
    r"\b(?:which|what)(?: [\w-]+){1,3} (?:gives|measures|reports|shows|reads|tells|counts|limits|caps)\b",
    re.IGNORECASE,
)
_SIZED = re.compile(
    r"\b(?:how (?:many|much|long|big|large|fast|expensive|often|high|far)|(?:what|which) (?:model )?sizes?|what (?:percent\w*|share|fraction|number|size|amount|bandwidth|factor)|percent\w*|by what(?! (?:names?|means|way|methods?|tools?|terms?)\b)|number of"
    r"|what (?:does|do|can|will|would) .{2,50} (?:save|cost|draw|reduce|cut)\b|what (?:\w+[ -]){0,3}(?:savings?|reduction|speed-?up|discount|improvement|increase|decrease)"
    r"|how\b.{0,12}\b(?:cheap|quick|efficient)\w*)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=1_024)
def asked_dimensions(question: str) -> tuple[frozenset[str], bool]:
    """Return the dimensions of the quantity that a question asks for, and whether nothing else can answer it.

    "How many X" asks for a count or, where X is a unit, for the dimension of X. The set is empty if no quantity is
    asked for.
    """
    if _NO_QUANTITY.match(question):
        return frozenset(), False
    count = _COUNT.search(question)
    if count and (units := [UNITS[w] for w in (count["what"] or "").lower().split() if w in UNITS]):
        return frozenset({units[-1][0]}), True
    named = re.search(r"\bin ([a-z]{2,}(?: per [a-z]+|/[a-z]+)?)(?![\w/])(?! \w+ (?:region|series))", question.lower())
    is_instrument = bool(_INSTRUMENT.search(question))
    if named and named[1] in UNITS and not is_instrument:
        return frozenset({UNITS[named[1]][0]}), True
    difference = _RATIOS if _DIFFERENCE.search(question) else frozenset[str]()
    strict = [d for pattern, found in _ASKED_STRICTLY if re.search(pattern, question, re.IGNORECASE) for d in found]
    if strict:
        return frozenset(strict) | difference, not is_instrument and not _OF_SOMETHING_ELSE.search(question)
    if count:
        return frozenset({"count"}) | difference, not difference
    loose = [d for pattern, found in _ASKED_LOOSELY if re.search(pattern, question, re.IGNORECASE) for d in found]
    return frozenset(loose) | difference, False


@lru_cache(maxsize=1_024)
def counted(question: str) -> tuple[str, ...]:
    """What a question counts: up to two words after "how many" and the like, or the word before "count". Machines,
    boxes and the like are returned as "instances"."""
    match = _COUNTED.search(question)
    return tuple(_INSTANCE.sub("instances", (match["after"] or match["before"]).lower()).split()) if match else ()


@lru_cache(maxsize=1_024)
def asks_quantity(question: str) -> bool:
    """Whether the question asks for a number."""
    return bool(_SIZED.search(question)) or asked_dimensions(question)[1]
