"""Read Moodle's GIFT format: `::name:: text {=right ~wrong}`, with weights, feedback, escapes and comments."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from chatbot.exam.question import ExamQuestion
from chatbot.exam.settling import Found, settle, skipped

_CATEGORY = re.compile(r"^\s*\$CATEGORY:\s*(?P<path>\S.*)$")
_ITEM = re.compile(
    r"\s*(?:::(?P<name>(?:\\.|[^\\:]|:(?!:))*)::\s*)?(?:\[(?:html|markdown|plain|moodle)\]\s*)?"
    r"(?P<before>(?:\\.|[^\\{])*)(?:\{(?P<inside>(?:\\.|[^\\}])*)\}(?P<after>.*))?",
    re.DOTALL,
)
_PIECE = re.compile(r"(?<!\\)(?P<sign>[=~])(?:\s*%(?P<weight>-?\d+(?:\.\d+)?)%\s*)?(?P<body>(?:\\.|[^\\=~])*)", re.DOTALL)
_TRUTH = re.compile(r"\s*(?P<said>T|TRUE|F|FALSE)\s*(?:#.*)?", re.DOTALL)
_LOOKS = re.compile(r"(?<!\\)\{[^{}]*?(?<!\\)[=~#][^{}]*\}|\{\s*(?:T|F|TRUE|FALSE)\s*\}|^[^\S\n]*::.+?::|^\$CATEGORY:", re.DOTALL | re.MULTILINE)  # fmt: skip


def looks_like_gift(text: str) -> bool:
    """Whether a text has marks of GIFT: answers in braces, a `::name::` or a category line."""
    return bool(_LOOKS.search(text))


def read_gift(text: str) -> list[Found]:
    """Return the questions of a GIFT file; items that are not multiple choice or true/false are skipped, with their kind."""
    found: list[Found] = []
    topic = ""
    for line, block in _blocks(text):
        if category := _CATEGORY.match(block):
            topic = category["path"].rstrip("/").rpartition("/")[2].strip()
        else:
            found.append(_read(block, line, topic))
    return found


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    """Yield blocks separated by blank lines, each with its first line number, without comments.

    A category line is a block of its own. A blank line between braces ends no block, unless the next item begins below it.
    """
    begun, gathered, opened = 0, list[str](), 0
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        if line.lstrip().startswith("//"):
            continue
        is_category = bool(_CATEGORY.match(line))
        plain = re.sub(r"\\.", "", line)
        is_next = bool(gathered) and not gathered[-1].strip() and (line.startswith("::") or "{" in plain)
        if gathered and (is_category or is_next or (not line.strip() and opened <= 0)):
            yield begun, "\n".join(gathered)
            gathered, opened = [], 0
        if is_category:
            yield number, line
        elif line.strip() or gathered:
            begun = begun if gathered else number
            gathered.append(line)
            opened += plain.count("{") - plain.count("}")
    if gathered:
        yield begun, "\n".join(gathered)


def _read(block: str, line: int, topic: str) -> Found:
    item = _ITEM.match(block)
    assert item is not None  # the pattern matches any text
    question = ExamQuestion(_unescaped(item["name"] or ""), _unescaped(item["before"]), topic=topic, line=line)
    if item["inside"] is None:
        return skipped(question, "it has no answers in braces")
    if after := _unescaped(item["after"]):
        question = replace(question, text=f"{question.text} _____{'' if after[0] in '.,;:?!' else ' '}{after}")
    inside, explanation = _cut(item["inside"], "####")
    return _choice(replace(question, explanation=_unescaped(explanation)), inside)


def _choice(question: ExamQuestion, inside: str) -> Found:
    """Return the question with the options and the key from its braces."""
    if truth := _TRUTH.fullmatch(inside):
        return settle(replace(question, options=("True", "False")), [(0 if truth["said"].startswith("T") else 1,)])
    pieces = list(_PIECE.finditer(inside))
    if kind := _other_kind(inside, pieces):
        return skipped(question, f"it is {kind} item, which has no options to choose from")
    # An option marked "=" without a weight is the full answer: 100 %.
    weights = [float(m["weight"] or 100 * (m["sign"] == "=")) for m in pieces]
    right = tuple(i for i, m in enumerate(pieces) if m["sign"] == "=" or weights[i] > 0)
    if flaw := _weights_flaw([weights[i] for i in right]):
        return skipped(question, flaw)
    options = tuple(_unescaped(_cut(m["body"], "#")[0]) for m in pieces)
    return settle(replace(question, options=options), [right] * bool(right))


def _other_kind(inside: str, pieces: Sequence[re.Match[str]]) -> str:
    """Return the kind of an item that is not multiple choice, "" for one that is."""
    if not inside.strip():
        return "an essay"
    if inside.lstrip().startswith("#"):
        return "a numerical"
    if any(m["sign"] == "=" and re.search(r"(?<!\\)->", m["body"]) for m in pieces):
        return "a matching"
    return "a short-answer" if all(m["sign"] == "=" for m in pieces) else ""


def _weights_flaw(weights: Sequence[float]) -> str:
    """Return why the weights of the right options do not add up to one full answer, "" if they do.

    Several options of 100 % each are alternatives, which is another kind of question.
    """
    if len(weights) > 1 and 100 in weights:
        return "several of its options are each the whole answer"
    if weights and not 99 <= sum(weights) <= 101:
        return f"the weights of its right options add up to {sum(weights):g} %, not 100 %"
    return ""


def _cut(text: str, mark: str) -> tuple[str, str]:
    """Return the text before and after the first unescaped mark."""
    before, *behind = re.split(rf"(?<!\\){mark}", text, maxsplit=1)
    return before, "".join(behind)


def _unescaped(text: str) -> str:
    lines = text.replace("\\n", "\n").split("\n")
    return re.sub(r"\\([~=#{}:\\])", r"\1", "\n".join(line.strip() for line in lines)).strip()
