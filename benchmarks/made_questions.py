"""Questions made from documentation pages, each with the page that answers it, in the forms in which people ask.

    python benchmarks/made_questions.py PAGES [--count N] > questions.jsonl

PAGES is a folder of GUIDE/doc_source/PAGE.md. A sentence, a heading or a table row that stands on one page alone becomes a
question ("You can't stop a DB instance that …" -> "Can I stop a DB instance that …?"); some of its words are dropped, some
replaced by a synonym, and mostly the service is named, so that a question seldom repeats its page word for word. Which half a
guide belongs to depends on its name alone: what is tuned on one half is checked on the other.
"""

import argparse
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

from ingest.lines import clean_title
from ingest.minilm import known_words

SYNONYMS = {
    "create": ("make", "set up", "add"), "creating": ("setting up",), "delete": ("remove", "get rid of"), "modify": ("change",),
    "configure": ("set up",), "view": ("see", "look at"), "specify": ("set", "give"), "enable": ("turn on", "activate"),
    "disable": ("turn off",), "launch": ("start",), "retrieve": ("get",), "obtain": ("get",), "quota": ("limit",),
    "maximum": ("max", "highest"), "permissions": ("rights",), "monitor": ("watch", "track"), "purchase": ("buy",),
    "automatically": ("by itself",), "troubleshoot": ("fix",), "errors": ("problems",), "multiple": ("several", "many"),
    "existing": ("current",), "additional": ("more", "extra"), "provide": ("give",), "requires": ("needs",), "require": ("need",),
    "ensure": ("make sure",), "restrict": ("limit",), "attach": ("connect",), "terminate": ("stop", "end"), "invoke": ("call",),
    "storage": ("disk space",), "cost": ("price",), "supported": ("available",), "verify": ("check",), "update": ("change",),
}  # fmt: skip
_NAMED, _DROPPED, _REPLACED = 0.55, 0.12, 0.35
_SHORTEST, _LONGEST = 4, 16
_PER_GUIDE, _PER_PAGE = 80, 2
_STOPS = frozenset(
    ["a", "an", "and", "are", "as", "at", "be", "by", "can", "do", "does", "for", "from", "how", "i", "in", "is", "it", "my", "of", "on", "or", "that", "the", "to", "what", "when", "which", "with"]
)
_GUIDE = re.compile(r"-(?:(?:user|developer|dev|administrator|administration|admin|management|getting-started|release|application|network-administrator)-)?(?:guide|docs|documentation)(?:-v\d)?$", re.IGNORECASE)  # fmt: skip
_SENTENCE = re.compile(r"(?<=[.!?:])\s+(?=[A-Z])")
_VAGUE = re.compile(r"\b(?:this|these|those|it|its|they|them|following|above|below|example|see|also)\b", re.IGNORECASE)
_MODAL = re.compile(
    r"^You (?P<can>can|can't|cannot|can not|must|need to|have to) (?:also |then |now )?(?P<rest>[a-z].*)\.$"
)
_SUPPORT = re.compile(
    r"^(?P<who>(?:[A-Z]\S+|a|an|the)(?: \S+){0,4}?) (?P<does>supports|requires|uses|includes|provides|allows|creates|doesn't support|does not support) (?P<rest>.+)\.$"
)
_IS = re.compile(r"^(?:An? |The )?(?P<what>[A-Z]?[\w-]+(?: [\w-]+){0,4}) (?:is|are) (?:an? |the |used )")
_BOUND = re.compile(r"^The (?P<what>(?:default|maximum|minimum)\b.{8,90}?) (?:is|are) (?!not)")
_ADVICE = re.compile(r"^We (?:strongly )?recommend (?P<rest>(?:that|using|creating) .+)\.$")
_IF = re.compile(r"^If you (?P<rest>(?!are|have|want|need|don't)[a-z][^,]{15,90}),")
_TO = re.compile(r"^To (?P<rest>[a-z][^,]{12,80}), (?:use|choose|you|set|run|call|specify|add|open|select)\b")
_SUPPORTS_LIST = re.compile(
    r"^(?P<who>[A-Z].{2,40}?) (?:supports|provides|offers|has|includes) the following (?P<what>[a-z][\w -]{3,50}?)[:.]$"
)
_GERUND = re.compile(r"^(?P<verb>[A-Z][a-z]+ing) (?P<rest>.{6,80})$")
_FIGURE = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Made:
    """A question, the page that answers it as GUIDE/PAGE.md, and the form it has."""

    question: str
    page: str
    kind: str

    @property
    def guide(self) -> str:
        return self.page.split("/")[0]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("pages", type=Path)
    options.add_argument("--count", type=int, default=6_000, metavar="N", help="how many at most (%(default)s)")
    given = options.parse_args()
    for made in questions(given.pages, given.count):
        print(json.dumps(asdict(made)))


def is_for_tuning(guide: str) -> bool:
    """Whether questions on a guide may be tuned on; those on the others check the result."""
    return sha256(guide.encode()).digest()[0] % 2 == 0


def questions(pages: Path, count: int) -> list[Made]:
    """The same questions each time: as many of each form, few of one guide and one page."""
    draw = random.Random(0)
    by_kind: dict[str, list[Made]] = defaultdict(list)
    for made in _unique(pages):
        by_kind[made.kind].append(made)
    chosen: list[Made] = []
    guides, pages_met = Counter[str](), Counter[str]()
    for kind in sorted(by_kind):
        draw.shuffle(by_kind[kind])
        wanted = count // len(by_kind)
        for made in by_kind[kind]:
            if wanted and guides[made.guide] < _PER_GUIDE and pages_met[made.page] < _PER_PAGE:
                asked = _reworded(made, draw)
                if asked:
                    chosen.append(asked)
                    wanted, guides[made.guide], pages_met[made.page] = (
                        wanted - 1,
                        guides[made.guide] + 1,
                        pages_met[made.page] + 1,
                    )
    return chosen


def _unique(pages: Path) -> Iterator[Made]:
    """Every question that one page alone gives."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for file in sorted(pages.rglob("*.md")):
        guide = file.relative_to(pages).parts[0]
        for kind, text in _asked(file.read_text(encoding="utf-8", errors="replace")):
            found[kind, text].add(f"{guide}/{file.name}")
    for (kind, text), where in found.items():
        if len(where) == 1 and _SHORTEST <= len(text.split()) <= _LONGEST and "|" not in text:
            yield Made(text, next(iter(where)), kind)


def _asked(page: str) -> Iterator[tuple[str, str]]:
    lines = page.splitlines()
    for number, line in enumerate(lines):
        if line.startswith("|"):
            yield from _of_table(lines, number)
        elif line.startswith("#"):
            yield from _of_heading(clean_title(line.lstrip("# ")))
        else:
            for sentence in _SENTENCE.split(clean_title(line.strip().lstrip("+*- "))):
                yield from _of_sentence(sentence.strip())


def _of_heading(heading: str) -> Iterator[tuple[str, str]]:
    gerund = _GERUND.match(heading)
    verb = _base(gerund["verb"].lower()) if gerund else None
    if gerund and verb:
        yield "how", f"How do I {verb} {_mine(gerund['rest'])}?"


def _of_table(lines: Sequence[str], number: int) -> Iterator[tuple[str, str]]:
    """What a row says in its second column, where that is a figure; the delimiter and the header are no rows."""
    top = number
    while top and lines[top - 1].startswith("|"):
        top -= 1
    header, row = (
        ([clean_title(cell) for cell in line.strip("| ").split("|")]) for line in (lines[top], lines[number])
    )
    if number - top < 2 or len(row) < 2 or len(header) < 2 or not _FIGURE.search(row[1]) or len(row[1]) > 60:
        return
    if re.search(r"quota|limit|maximum|default value", header[1], re.IGNORECASE):
        name = row[0] if re.match(r"max|min|default|number", row[0], re.IGNORECASE) else f"maximum {row[0]}"
        yield "limit", f"What is the {name[0].lower()}{name[1:]}?"
    elif 2 <= len(header[1].split()) + len(row[0].split()) <= 9:
        yield "cell", f"What is the {header[1]} of {row[0]}?"


def _of_sentence(sentence: str) -> Iterator[tuple[str, str]]:
    bound, condition, purpose, listed = (p.match(sentence) for p in (_BOUND, _IF, _TO, _SUPPORTS_LIST))
    if listed:
        yield "list", f"What {listed['what']} does {listed['who'].removeprefix('The ')} have?"
    if bound and not re.search(r"\b(?:that|each|you|if|value)$", bound["what"]) and not _VAGUE.search(bound["what"]):
        yield "bound", f"What is the {_mine(bound['what'])}?"
    if condition and not _VAGUE.search(condition["rest"]):
        yield "if", f"What happens if I {_mine(condition['rest'])}?"
    if purpose and not _VAGUE.search(purpose["rest"]):
        yield "how to", f"How can I {_mine(purpose['rest'])}?"
    if _VAGUE.search(sentence):
        return
    modal, support, definition, advice = (p.match(sentence) for p in (_MODAL, _SUPPORT, _IS, _ADVICE))
    if modal:
        yield "can", f"{'Can' if modal['can'].startswith('can') else 'Must'} I {_mine(_first_clause(modal['rest']))}?"
    if support and not support["who"].startswith(("In ", "For ", "On ", "If ")):
        verb = support["does"].split()[-1]
        who = re.sub(r"^(?:An?|The)\b", lambda article: article.group().lower(), support["who"])
        yield "does", f"Does {who} {verb if verb == 'support' else verb[:-1]} {_mine(_first_clause(support['rest']))}?"
    if definition and not re.match(r"There|You|If |Here|\w+ing ", definition["what"]):
        yield "what", f"What is {definition['what']} used for?"
    if advice:
        yield "advice", f"Is it recommended {_mine(_first_clause(advice['rest']))}?"


def _first_clause(text: str) -> str:
    return re.split(r"[,;:(]|\. | (?:so that|because|but|by using|as long as)\b", text)[0].strip()


def _mine(text: str) -> str:
    """Your things as those of who asks."""
    text = re.sub(r"\byourself\b", "myself", re.sub(r"\b[Yy]our\b", "my", text))
    return re.sub(r"\b[Yy]ou\b", "I", re.sub(r"\byou are\b", "I am", text)).rstrip(" .:")


@cache
def _base(gerund: str) -> str | None:
    stem = gerund.removesuffix("ing")
    candidates = (stem[:-1] if stem[-2:-1] == stem[-1:] else "", f"{stem}e", stem)
    return next((word for word in candidates if len(word) > 2 and word in known_words()), None)


def _reworded(made: Made, draw: random.Random) -> Made | None:
    kept: list[str] = []
    opening = 2 if made.kind not in ("how", "how to", "if", "advice") else 3
    for position, word in enumerate(made.question.rstrip("?").split()):
        telling = position >= opening and word.lower() not in _STOPS
        if telling and word.lower() in SYNONYMS and draw.random() < _REPLACED:
            kept.append(draw.choice(SYNONYMS[word.lower()]))
        elif not telling or word[:1].isupper() or draw.random() >= _DROPPED:
            kept.append(word)
    text = " ".join(kept)
    service = _service(made.guide)
    if not set(service.lower().split()) <= set(text.lower().split()) and draw.random() < _NAMED:
        service = draw.choice((service, service.split(" ", 1)[-1]))
        text = f"In {service}, {text[0].lower()}{text[1:]}" if draw.random() < 0.3 else f"{text} in {service}"
    if sum(word.lower() not in _STOPS for word in text.split()) < 3:
        return None
    return Made(f"{text}?", made.page, made.kind)


def _service(guide: str) -> str:
    """amazon-rds-user-guide as Amazon RDS; the case of letters does not matter to a search by words."""
    name = _GUIDE.sub("", guide).replace("-", " ")
    return re.sub(r"^(amazon|aws)\b", lambda maker: {"amazon": "Amazon", "aws": "AWS"}[maker.group()], name)


if __name__ == "__main__":
    main()
