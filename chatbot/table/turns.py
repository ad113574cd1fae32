"""Read what a turn asks of a table of instance types, completed from the turns before it."""

import re
from dataclasses import replace
from functools import lru_cache, partial
from math import inf

from chatbot.language.glossary import in_english
from chatbot.question.query import Query
from chatbot.table.bounds import DECIMAL, NUMBER, Bound, value_of
from chatbot.table.columns import HEADERS, OTHER_TABLES, Column
from chatbot.table.filters import ANY, ROWS, Request, read_change, read_list, read_request
from chatbot.table.instances import Instances, Row
from chatbot.table.ratios import next_ratio
from chatbot.table.selection import OF_HOST, columns_of, select, with_summary

TURNS = 4
_OF_MEMORY: tuple[Column, ...] = ("each", "total", "memory")
# "Do they have EFA?" asks about each; "with EFA" selects those that have it.
_OF_EACH = re.compile(r"\b(?:does|do|is|are|has|have) (?:it|they|each|all of (?:them|those|these)|those|these)\b")
_OF_ROWS = re.compile(rf"\b{ROWS}\b")
_ADDS = re.compile(
    r"^(?!\W*(?:and |but )?(?:does|do|is|are|has|have)\b).*\b(?:too|also|as well|in the same (?:table|list)|add|include|beside (?:it|them|those))\b"
    r"|^\W*(?:(?:and|now|ok|but) )*(?:with|show)\b(?!.*\b(?:they|them|those|these|it)\b)"
)
_BARE = re.compile(rf"\W*(?:(?:and|or|but|with|what about|how about|only|ok|make (?:it|that)) )*(?P<number>{NUMBER})(?: ones| of them| each)?\W*")


def request_of(query: Query, known: Instances, *, sought: bool = False) -> Request | None:
    """Return the request of the last turn, or None.

    It comes from the turn's own words and the turns before it, otherwise from the standalone form of the question.
    `sought` says that a learned classifier found the question to ask for instance types.
    """
    found = partial(_found, known=known)
    turns = [" ".join(question.split()) for question in (*(turn.question for turn in query.history[-TURNS:]), query.typed)]
    *earlier, last = in_english("\n".join(turns)).split("\n")
    before: Request | None = None
    for question in earlier:
        # Earlier turns are not classified: one sought rows if it mentions them, or has a condition or an order.
        turn, anyhow = found(question), found(question, sought=True)
        sought_before = anyhow and (anyhow.order or any(bound != ANY for bound in anyhow.bounds) or _OF_ROWS.search(question))
        before = _leaning(question, turn, before, known) or (anyhow if sought_before else turn)
    own = found(last, sought=sought)
    return (_leaning(last, own, before, known) if before else None) or found(query.standalone, sought=sought)


# A question is read several times, and its turns are read again with each later one.
@lru_cache(maxsize=512)
def _found(question: str, known: Instances, *, sought: bool = False) -> Request | None:
    """Read the request of a question by itself. If it seeks rows, other words may stand beside its conditions."""
    names = (known.rows, known.families, known.accelerators)
    whole = read_request(question, *names)
    is_known = whole and (whole.seeks or whole.types or whole.order or (whole.families and whole.asked))
    return whole if is_known or not sought else read_list(question, *names) or whole


def priced(request: Request, known: Instances) -> tuple[Instances, str]:
    """Return the tables with the prices of the region asked for. If it has none, return its name as well."""
    if not OTHER_TABLES & {*columns_of(request), *(request.compared.columns if request.compared else ())}:
        return known, ""
    there = known.at(request.region, request.purchase)
    if request.region and not any(row.says("price") for row in there.newest):
        return known.at(purchase=request.purchase), request.region
    return there, ""


def largest(family: str, known: Instances) -> Row:
    """The largest size of a family: most accelerators, then most accelerator memory, vCPUs and memory."""
    columns: tuple[Column, ...] = ("accelerators", "total", "vcpus", "memory")
    return max((row for row in known.newest if row.family == family), key=lambda row: [row.number(column) or 0.0 for column in columns])


def _leaning(question: str, turn: Request | None, before: Request | None, known: Instances) -> Request | None:
    """Return the request of a turn that leans on the one before it; None for a turn that stands by itself."""
    if before is None:
        return None
    if before.per and (ratio := next_ratio(question, before.per)):
        return replace(before, per=ratio, leans=True)
    if before.bounds and (bare := _BARE.fullmatch(question.lower())):
        # It replaces a number that was said, before "a GPU" or "no GPU".
        *others, last = sorted(before.bounds, key=lambda bound: bool(_limit(bound)))
        number, limit = value_of(bare["number"]), _limit(last)
        changed = replace(last, low=last.low * number / limit, high=last.high * number / limit) if limit else Bound(last.column, number, number)
        return replace(before, bounds=(*others, changed), leans=True)
    if turn and turn.families and before.types and before.asked and not (turn.bounds or turn.asked or before.order):
        asked: tuple[Column, ...] = (*before.asked, *(("accelerators",) if turn.accelerators and "accelerators" not in before.asked else ()))
        return replace(before, types=tuple(_of_family(family, before.types[-1], known) for family in turn.families), asked=asked, leans=True)
    found = before.listed or before
    if not (found.seeks or found.order or (found.families and not found.types)):
        return None
    change, narrows = read_change(question, known.rows, known.families, known.accelerators) or (None, False)
    if change is None or (turn and _is_whole(turn, question) and not narrows):
        return None
    if change.traits and _OF_EACH.search(question.lower()):
        change = replace(change, traits=(), asked=tuple(columns_of(Request(asked=change.asked, traits=change.traits))))
    rows, replaces = select(found, priced(found, known)[0].newest), bool(re.search(r"\binstead\b", question.lower()))
    adds = bool(_ADDS.search(question.lower()))
    kept: tuple[Column, ...] = () if replaces else (*found.asked, *(column for column in (found.order or ())[:1] if change.order and column in HEADERS))
    if adds and rows and not (kept or replaces):
        kept = tuple(with_summary((), rows[0]))
    found = replace(found, asked=tuple(dict.fromkeys((*kept, *change.asked))))
    if adds or replace(change, asked=(), region="", purchase="") != Request():
        return _changed(change, narrows, found, bare=not OF_HOST.search(question.lower()), adds=adds)
    names = tuple(row.name for row in (rows[found.place - 1 : found.place] if found.order and not found.sorts else rows))
    return Request(types=names, asked=change.asked, region=change.region or found.region, purchase=change.purchase or found.purchase, listed=found, leans=True)


def _limit(bound: Bound) -> float:
    return bound.low if bound.high == inf else bound.high


def _is_whole(request: Request, question: str) -> bool:
    """Whether a turn stands by itself: it names types, or says which rows it asks about."""
    named = request.families or request.accelerators
    of_all = request.seeks and not re.match(r"\W*(?:which|what)(?: ones?| of)? (?:has|have|is|are|cost)", question.lower())
    return bool(request.types or (of_all and (named or request.bounds or request.traits)) or (named and request.asked))


def _of_family(family: str, like: str, known: Instances) -> str:
    """The type of a family that has the size of another type, or else its largest."""
    name = f"{family}.{like.partition('.')[2]}"
    return name if name in known.rows else largest(family, known).name


def _changed(change: Request, narrows: bool, before: Request, *, bare: bool, adds: bool) -> Request:
    """Add a turn's conditions to a list. They replace earlier ones of their kind, unless the turn narrows the list.

    A turn that `adds` families or accelerators keeps the earlier ones. An amount that is `bare`, without a kind of
    memory, is of the memory mentioned before.
    """
    said = (*(b.column for b in before.bounds), *(before.per.columns if before.per else ()))
    meant: Column = next((column for column in said if column in _OF_MEMORY), "memory") if bare else "memory"
    slack = 1.0 if meant == "memory" else DECIMAL
    bounds = tuple(replace(b, column=meant, low=b.low * slack) if b.column == "memory" else b for b in change.bounds)
    named = change.families or change.accelerators
    families = tuple(dict.fromkeys(name.partition(".")[0] for name in before.types)) if bounds else ()
    return replace(
        before,
        types=() if bounds or named else before.types,
        families=(*(before.families if adds and not before.accelerators else ()), *change.families) or (() if named and not narrows else before.families or families),
        accelerators=(*(before.accelerators if adds and not before.families else ()), *change.accelerators) or (() if named and not narrows else before.accelerators),
        bounds=(*(b for b in before.bounds if narrows or not any(_replaces(new, b) for new in bounds)), *bounds),
        traits=tuple(dict.fromkeys((*(t for t in before.traits if replace(t, denied=not t.denied) not in change.traits), *change.traits))),
        without=(*before.without, *change.without),
        region=change.region or before.region,
        purchase=change.purchase or before.purchase,
        order=change.order or before.order,
        place=change.place if change.order else before.place,
        per=change.per if change.order else before.per,
        sorts=change.sorts if change.order else before.sorts,
        seeks=before.seeks or bool(bounds),
        leans=True,
    )


def _replaces(new: Bound, old: Bound) -> bool:
    """Whether a condition replaces an earlier one: it limits the same column on the same side, or both cannot be met."""
    same_side = (new.low == -inf) == (old.low == -inf) and (new.high == inf) == (old.high == inf)
    return new.column == old.column and not (new.denied or old.denied) and (same_side or new.low > old.high or new.high < old.low or -inf < new.low == new.high or -inf < old.low <= old.high < inf)
