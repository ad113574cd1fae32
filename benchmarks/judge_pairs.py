"""Make what the judge learns from, out of benchmarks/labels.

    python benchmarks/judge_pairs.py INDEX PAIRS [--pages DIR]

INDEX is an index of `corpus`. Into the folder PAIRS go the shipped judge, to start from, and, with one JSON object a
line,

- `claims`: claims that people wrote beside evidence that supports them, contradicts them or is silent;
- `practice`: sentences of documents beside themselves, rephrased, or with one thing changed (`corruptions.py`);
  `--pages` names a folder of Markdown pages to practise on beside the project's own: more is better, none are needed;
- `asked`: questions beside what answers them and what does not, and exam options beside what proves or disproves them;
- `claims-held` and `asked-held`: a tenth, held out to look at on the way;
- `groups`: wordings of prepared questions, each with its own question and others near to it, or with proofs of these;
- `lists`: all that was found for a question or a turn, how good each is and, for what documents say, its `features`,
  from which `learn_weights.py` learns.

Then `learn_judge.py PAIRS JUDGED --folds 4` learns from all of that.
"""

import argparse
import json
import random
import re
import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from corruptions import corrupted, said_otherwise
from judge import is_held, lines
from numpy.typing import NDArray
from safetensors.numpy import save_file
from sklearn.feature_extraction.text import TfidfVectorizer

from chatbot import Chatbot, Turn
from chatbot.evidence import Unit, units
from chatbot.language.names import names
from chatbot.language.words import content_words, stem
from chatbot.question.query import understand
from chatbot.reader import proved_answers
from chatbot.reader.proved_answers import Book, conversation, load_book, matches, near_to, plain_answer
from chatbot.reader.scoring import probability, score_units
from chatbot.retrieval.searching import search
from chatbot.verification.judge import in_its_place, relevant
from ingest import Index, ProvedAnswer, sync
from ingest.encoding.minilm import JUDGE, adapted_weights, model_folder

LABELS = Path(__file__).parent / "labels"
REFERENCE = Path(__file__).parents[1] / "corpus" / "reference"
INVENTED = LABELS / "encoder" / "documents"
CLASSES = ("supports", "contradicts", "silent")
SUPPORTS, CONTRADICTS, SILENT = range(3)
# How many times claims and questions are drawn, each time with other evidence beside them.
CLAIMS_DRAWN, ASKED_DRAWN = 6, 4
PRACTISED, PAGES = 120_000, 6_000
# The longest exam claim (stem and option) in characters; a longer one leaves no room for the proof.
WHOLE = 380
# A group holds the right text, the NEAREST others, and FURTHER drawn from the rest of the NEAR nearest.
NEAREST, FURTHER, NEAR = 4, 3, 12
# The shares of wordings that come behind another question, as in a conversation, and that come with proofs, too.
BEHIND, PROVED = 0.3, 0.3
# More candidates than the program compares: what the judge puts first may be further down.
COMPARED = 16
TURNS_READ = 500
# Characters of an answer that are read.
ANSWER_READ = 330
FILES = {"turn": "asked.jsonl", "follow": "follow-ups.jsonl"}
FOLDS = 4
# How many questions of each of the encoder's files are asked of documents that do not answer them.
OF_OTHERS = 300
# Grades of what was found: it answers, or answers in part. BESIDE is the weight of a partial answer against a right
# one; ALONE is the share of the choice that partial answers get if nothing answers.
RIGHT, PARTLY = 2, 1
BESIDE, ALONE = 0.1, 0.5
# The features that only the judge gives (`chatbot.reader.scoring`), missing before it has read a text; and the position of its
# logit for answers.
READ = ("answers", "answers behind")
ANSWERS = 3
Line = dict[str, Any]


class Pair(NamedTuple):
    first: str
    second: str
    label: int
    question: bool = False


class Found(NamedTuple):
    """What was found for a question.

    Its line of `lists`, the features, (found, features), the grades, and the judge's log odds that each answers.
    """

    line: Line
    features: NDArray[np.float64]
    grades: NDArray[np.int64]
    odds: NDArray[np.float64]

    def read(self, likely: NDArray[np.float64], most: int) -> "Found":
        """Keep the likeliest, with two more features: what the judge says of them (READ)."""
        some = np.argsort(-likely, kind="stable")[:most]
        odds = self.odds[some]
        return Found(self.line, np.column_stack([self.features[some], odds, odds.max() - odds]), self.grades[some], odds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("index")
    parser.add_argument("pairs", type=Path, help="folder to write to")
    parser.add_argument("--pages", type=Path, help="a folder of Markdown pages to practise on")
    parser.add_argument("--most", type=int, help="write so many lines of each kind, to try whether all goes well")
    options = parser.parse_args()
    options.pairs.mkdir(parents=True, exist_ok=True)
    begin(options.pairs)
    draw, bot = random.Random(0), Chatbot.open(options.index)
    pages = sorted(options.pages.rglob("*.md")) if options.pages else []
    places = [REFERENCE, LABELS / "documents", INVENTED, *_some(pages, PAGES, draw)]
    asked = Asked()
    files: dict[str, list[Iterable[Pair | Line]]] = {
        "claims": [claims(draw) for _ in range(CLAIMS_DRAWN)],
        "claims-held": [claims(draw, held=True)],
        "asked": [asked.pairs(draw) for _ in range(ASKED_DRAWN)],
        "asked-held": [asked.pairs(draw, held=True)],
        "groups": [groups(load_book(bot.index), draw)],
        "lists": [turns(bot, "turn"), turns(bot, "follow"), on_labelled_documents(), on_documents("natural", labelled("natural.jsonl"), bot.index)],
        "practice": [islice(practice(places, draw), PRACTISED)],
    }
    for name, parts in files.items():
        count = 0
        with (options.pairs / f"{name}.jsonl").open("w", encoding="utf-8") as file:
            for line in (line for part in parts for line in islice(part, options.most)):
                file.write(json.dumps(line._asdict() if isinstance(line, Pair) else line, ensure_ascii=False) + "\n")
                count += 1
        print(f"{name}: {count}", flush=True)


def begin(folder: Path) -> None:
    """Copy the shipped judge and its tokenizer, for `learn_judge.py` to start from."""
    for file in (*model_folder().glob("*.json"), model_folder() / "vocab.txt"):
        shutil.copy(file, folder)
    weights = {name: tensor.astype(np.float16) for name, tensor in adapted_weights(JUDGE).items() if tensor.dtype == np.float32}
    save_file(weights, folder / "begin.safetensors")


def labelled(file: str) -> list[Line]:
    """Read one file of labels."""
    return lines(LABELS / file)


def judged_lists(pairs: Path, judged: Path, kind: str) -> Iterator[Found]:
    """Yield the lists of a kind, scored by judges that had not seen them, from `learn_judge.py PAIRS JUDGED --folds 4`."""
    odds, start = np.load(judged / "lists.npy")[:, ANSWERS].astype(np.float64), 0
    with (pairs / "lists.jsonl").open(encoding="utf-8") as file:
        for line in map(json.loads, file):
            end = start + len(line["texts"])
            if line["kind"] == kind and line["texts"]:
                features = np.array([list(f.values()) if isinstance(f, dict) else f for f in line["features"]])
                yield Found(line, features, np.array(line["grades"]), odds[start:end])
            start = end
    assert start == len(odds), f"{judged} was not learned from {pairs}"


def claims(draw: random.Random, *, held: bool = False) -> Iterator[Pair]:
    """Yield the claims to learn from or, with `held`, those held out, as they were written."""
    passages = {p["id"]: p["units"] for p in labelled("claims/passages.jsonl")}
    ids, everything = sorted(passages), labelled("claims/claims.jsonl")
    of_passage: defaultdict[str, list[Line]] = defaultdict(list)
    for claim in everything:
        of_passage[claim["passage"]].append(claim)
    for claim in everything:
        if is_held(claim["passage"], claim["writer"]) is not held:
            continue
        found = passages[claim["passage"]]
        used = [found[n - 1] for n in claim["units"]]
        text = f"{claim['question']} {claim['claim']}" if "question" in claim else claim["claim"]
        pair = Pair(text, joined(text, used), CLASSES.index(claim["label"]))
        yield pair
        if held:
            continue
        # Writers have recognisable habits in false claims. So a false claim also comes with a text that says the same,
        # which supports it, and a true claim with a false one, which contradicts it: the label must not show in the
        # claim alone.
        if draw.random() < (0.4 if claim["label"] == "contradicts" else 0.1):
            others = [u for n, u in enumerate(found, 1) if n not in claim["units"]]
            said = [said_otherwise(text, draw), *_some(others, draw.choice((0, 1, 1)), draw)]
            yield Pair(text, joined(text, draw.sample(said, len(said))), SUPPORTS)
        opposite = {"supports": "contradicts", "contradicts": "supports"}.get(claim["label"])
        twisted = [c for c in of_passage[claim["passage"]] if c["label"] == opposite and set(c["units"]) & set(claim["units"]) and "question" not in c]
        if twisted and draw.random() < 0.3:
            yield Pair(text, draw.choice(twisted)["claim"], CONTRADICTS)
        if draw.random() < 0.15:
            # Evidence that has nothing to do with a claim is silent on it.
            yield Pair(text, joined(text, _some(passages[draw.choice(ids)], draw.choice((1, 1, 2, 3)), draw)), SILENT)
        # Of the rest of the passage, verification will try what shares most words with the claim.
        words = _stems(text)
        others = sorted((u for u in found if u not in used), key=lambda u: -len(words & _stems(u)))[:3]
        if others and draw.random() < 0.6:
            # The rest of the passage is silent on the claim, true or false; added to the evidence, it changes nothing.
            beside = _some(others, draw.choice((1, 1, 2)), draw)
            if draw.random() < 0.5:
                yield Pair(text, joined(text, beside), SILENT)
            else:
                yield Pair(text, joined(text, draw.sample([*used, *beside[:1]], len(used) + 1)), pair.label)
        if claim["label"] == "supports" and draw.random() < 0.4 and (changed := corrupted(text, draw, _names(" ".join(found)))):
            yield Pair(changed[0], pair.second, CONTRADICTS)


def joined(claim: str, evidence: Sequence[str]) -> str:
    return " // ".join(relevant(claim, text) for text in evidence)


def _some(of: Sequence[Any], count: int, draw: random.Random) -> list[Any]:
    return draw.sample(of, min(len(of), count))


def _stems(text: str) -> set[str]:
    return {stem(word) for word in content_words(text)}


def _names(text: str) -> list[str]:
    return [name.text for name in names(text)]


def practice(places: Sequence[Path], draw: random.Random) -> Iterator[Pair]:
    """Yield sentences beside themselves, rephrased or with one thing changed, without end."""
    sentences = list(_sentences(places))
    known = [name for text, *_ in _some(sentences, 3_000, draw) for name in _names(text)] or ["P5", "Trn1"]
    while True:
        text, passage, number = draw.choice(sentences)
        beside = [p for n, p in enumerate(passage) if n != number]
        context = [passage[number], *_some(beside, draw.choice((0, 0, 1, 2)), draw)]
        draw.shuffle(context)
        otherwise = said_otherwise(text, draw)
        near = [*_names(" ".join(passage)), *draw.sample(known, 3)]
        kind = draw.random()
        if kind < 0.42:
            yield Pair(otherwise, joined(otherwise, context), SUPPORTS)
        elif kind < 0.85:
            if changed := corrupted(otherwise, draw, near):
                yield Pair(changed[0], joined(changed[0], context), CONTRADICTS)
        elif beside:
            yield Pair(otherwise, joined(otherwise, _some(beside, 2, draw)), SILENT)


def _sentences(places: Sequence[Path]) -> Iterator[tuple[str, list[str], int]]:
    """Yield every sentence of the documents that says something.

    With each come all sentences of its passage in their places, and its number among them.
    """
    for passage in _passages(places):
        found = [u for u in passage if len(u.plain) > 30]
        in_place = [in_its_place(u) for u in found]
        for number, unit in enumerate(found):
            if unit.kind != "row" and 40 < len(unit.plain) < 300 and " " in unit.plain and unit.plain[0].isupper():
                yield re.sub(r"\\([^\w\s])", r"\1", unit.plain), in_place, number


def _passages(places: Sequence[Path]) -> Iterator[Sequence[Unit]]:
    """Yield the units of each passage of some documents."""
    with TemporaryDirectory() as folder:
        sync(list(places), Path(folder) / "index", encoder="none")
        index = Index.open(Path(folder) / "index")
        for document in index.documents():
            for chunk in index.document_chunks(document.id):
                yield units(chunk)


class Asked:
    """Questions beside what answers them and what does not; exam options beside what proves or disproves them."""

    def __init__(self) -> None:
        self.units = [unit for passage in _passages([INVENTED, REFERENCE]) for unit in passage]
        self.by_document: defaultdict[str, list[int]] = defaultdict(list)
        for number, unit in enumerate(self.units):
            self.by_document[Path(unit.chunk.document.id).name].append(number)
        self.in_place = [in_its_place(unit) for unit in self.units]
        self.words = TfidfVectorizer(sublinear_tf=True)
        self.vectors = self.words.fit_transform(self.in_place)

    def pairs(self, draw: random.Random, *, held: bool = False) -> Iterator[Pair]:
        for file in ("reference", "invented", "exam", "exam-reference"):
            for line in labelled(f"encoder/{file}.jsonl"):
                if is_held(line["document"]) is not held:
                    continue
                if "options" not in line:
                    yield from self._question(line, draw, everywhere=file == "invented")
                elif held or draw.random() < 0.5:
                    yield from self._options(line, draw)

    def _question(self, line: Line, draw: random.Random, *, everywhere: bool) -> Iterator[Pair]:
        """Yield an answer, and two texts that share many words with the question and do not answer it.

        With `everywhere`, the second one is from any document; otherwise others may answer too, so both are from the
        question's own.
        """
        question = line["question"]
        own = self.by_document[line["document"]]
        answers = [n for n in own if overlaps(self.units[n], line["answers"])]
        if answers:
            yield Pair(question, relevant(question, self.in_place[draw.choice(answers)]), SUPPORTS, question=True)
        known = {*answers, *(n for n in own if overlaps(self.units[n], line["partial"]))}
        near = np.asarray((self.vectors @ self.words.transform([question]).T).todense()).ravel()
        for others in (own, range(len(self.units)) if everywhere else own):
            wrong = sorted((n for n in others if n not in known), key=lambda n: -near[n])[:8]
            if wrong:
                yield Pair(question, relevant(question, self.in_place[draw.choice(wrong)]), SILENT, question=True)

    def _options(self, line: Line, draw: random.Random) -> Iterator[Pair]:
        proofs = line.get("proofs") or [[line["proof"]] if n in line["answer"] else [] for n in range(len(line["options"]))]
        key = [p for n in line["answer"] for p in proofs[n]]
        for number in (draw.choice(line["answer"]), draw.choice([n for n in range(len(line["options"])) if n not in line["answer"]])):
            proof = [n for n in self.by_document[line["document"]] if overlaps(self.units[n], proofs[number] or key)]
            claim = f"{line['question']} {line['options'][number]}"
            # The option stands last, so it would be cut off behind a long stem.
            if proof and len(claim) < WHOLE:
                yield Pair(claim, joined(claim, [self.in_place[n] for n in proof[:2]]), SUPPORTS if number in line["answer"] else CONTRADICTS)


def groups(book: Book, draw: random.Random) -> Iterator[Line]:
    """Yield each wording that nobody asked, with the text of its own question first, then those of others near to it.

    Nearness leaves out the wording itself. Some wordings come a second time, with the proofs instead.
    """
    texts = [read_as(question.answer) for question in book.questions]
    proofs = [[f"{p.document.replace('-', ' ')} | {p.quote}" for p in question.answer.proofs.values()] for question in book.questions]
    for row in made_rows(book):
        own = int(book.owners[row])
        near = near_to(book.vectors[row][None], book, frozenset({row}))
        others = [book.questions.index(one.question) for one in near if one.question is not book.questions[own]][:NEAR]
        wording = book.questions[own].wordings[book.questions[own].rows.index(row)]
        before = f"{draw.choice(book.questions[draw.choice(others)].wordings)} / " if draw.random() < BEHIND else ""
        some = [*others[:NEAREST], *draw.sample(others[NEAREST:], FURTHER)]
        yield {"question": before + wording, "texts": [texts[n] for n in (own, *some)]}
        elsewhere = [proof for n in others for proof in proofs[n] if proof not in proofs[own]]
        if draw.random() < PROVED and proofs[own] and len(elsewhere) >= NEAREST + FURTHER:
            yield {"question": wording, "texts": [draw.choice(proofs[own]), *draw.sample(elsewhere[: 2 * (NEAREST + FURTHER)], NEAREST + FURTHER)]}


def made_rows(book: Book) -> list[int]:
    """Return the rows of the wordings that nobody asked."""
    return sorted(set(range(len(book.owners))).difference(*asked_rows(book).values()))


def asked_rows(book: Book) -> dict[str, frozenset[int]]:
    """Return, for each writer, the rows of the wordings that are turns of that writer."""
    rows: defaultdict[str, set[int]] = defaultdict(set)
    own: defaultdict[str, set[int]] = defaultdict(set)
    for question in book.questions:
        for row, wording in zip(question.rows, question.wordings, strict=True):
            rows[_plain(wording)].add(row)
    for label in labelled("asked.jsonl"):
        own[label["writer"]] |= rows[_plain(label["turns"][-1])]
    return {writer: frozenset(found) for writer, found in own.items()}


def held_writers() -> frozenset[str]:
    """Return every fifth writer: what they asked teaches no encoder."""
    return frozenset(list(dict.fromkeys(label["writer"] for label in labelled("asked.jsonl")))[::5])


def history_of(turns: tuple[str, ...], bot: Chatbot, said: dict[tuple[str, ...], tuple[Turn, ...]]) -> tuple[Turn, ...]:
    """Return the turns with the bot's answers to them, which are kept in `said`."""
    if turns and turns not in said:
        before = history_of(turns[:-1], bot, said)
        said[turns] = (*before, Turn(turns[-1], bot.ask(turns[-1], before).text))
    return said[turns] if turns else ()


def read_as(answer: ProvedAnswer) -> str:
    """Return what the judge and the encoder of questions read of a question and its answer."""
    return f"{answer.question} {plain_answer(answer)[:ANSWER_READ]}"


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def turns(bot: Chatbot, kind: str) -> Iterator[Line]:
    """Yield what people asked ("turn") or followed up with ("follow"), with the prepared questions near to it.

    The bot answers the turns before it first. Most of what people asked is among the wordings, so a writer's turns are
    compared with all wordings but that writer's own.
    """
    proved_answers._COMPARED = COMPARED
    graded = {(*label["turns"],): {"grades": label["grades"]} for label in labelled("graded.jsonl")}
    labels = {some: [label | graded.get((*label["turns"],), {}) for label in labelled(file)] for some, file in FILES.items()}
    writers = sorted({label["writer"] for some in labels.values() for label in some})
    own = asked_rows(load_book(bot.index))
    said: dict[tuple[str, ...], tuple[Turn, ...]] = {}
    for label in labels[kind]:
        *before, last = label["turns"]
        history = history_of(tuple(before), bot, said)
        standalone = understand(last, history, bot.index).standalone
        found = matches(standalone, last, history, bot.index, own.get(label["writer"], frozenset()))
        grades = {label.get("section"): RIGHT} | label.get("grades", {})
        yield _line(
            kind, conversation(label["turns"])[-TURNS_READ:], [read_as(match.question.answer) for match in found],
            [grades.get(match.question.answer.question, 0) for match in found], writers.index(label["writer"]), answerable=label.get("answer", "section") == "section",
            settled="grades" in label,
        )  # fmt: skip


def _line(kind: str, question: str, texts: list[str], grades: list[int], number: int, *, answerable: bool, settled: bool = False, **more: Any) -> Line:
    """Make a list for the judge.

    If what answers is not in the list, nothing is wanted of it (all 0), unless people `settled` that. What documents
    answer in part is not used.
    """
    used = [grade != PARTLY or kind in FILES for grade in grades]
    share = wanted([grade * use for grade, use in zip(grades, used, strict=True)])
    known = settled or not answerable or share[-1] < 1
    given = {"kind": kind, "question": question, "texts": texts, "grades": grades, "used": used, "fold": number % FOLDS, "answerable": answerable}
    return given | {"wanted": (share * known).tolist()} | more


def wanted(grades: Sequence[int]) -> NDArray[np.float64]:
    """Return how the choice should fall on each and, last, on none: (grades + 1,)."""
    given, beside = np.array(grades, dtype=int), BESIDE if RIGHT in grades else 1.0
    share = np.append(np.select([given == RIGHT, given == PARTLY], [1.0, beside]), 0.0)
    if RIGHT not in grades:
        share[-1] = share.sum() * (1 - ALONE) / ALONE or 1.0
    return np.asarray(share / share.sum())


def on_labelled_documents() -> Iterator[Line]:
    """Yield the labelled questions over their documents.

    Questions on other documents and on other matters are asked of these, too: nothing here answers them, and the scorer
    must learn to see that.
    """
    draw = random.Random(0)
    others = [q for file in ("reference", "invented") for q in draw.sample(labelled(f"encoder/{file}.jsonl"), OF_OTHERS)]
    beside = [{**q, "answers": [], "partial": [], "kind": "other documents"} for q in others]
    with TemporaryDirectory() as folder:
        sync([LABELS / "documents"], Path(folder) / "index")
        yield from on_documents("labelled", [*labelled("questions.jsonl"), *beside, *labelled("elsewhere.jsonl")], Index.open(Path(folder) / "index"))


def on_documents(kind: str, questions: Sequence[Line], index: Index) -> Iterator[Line]:
    """Yield questions with every unit found for them, in order of likelihood before the judge has read any."""
    for number, label in enumerate(questions):
        question = label["question"]
        query = understand(question, (), index)
        # Units that are not even compared by meaning teach nothing new.
        scored = [s for s in score_units(query, search(query, index), index) if s.features["meaning"] != 0.0]
        found = [(s.unit, {name: round(value, 4) for name, value in s.features.items() if name not in READ}) for s in scored]
        found.sort(key=lambda one: -probability(one[1], "found"))
        grades = [PARTLY if overlaps(u, label.get("partial", ())) else RIGHT if overlaps(u, label["answers"]) else 0 for u, _ in found]
        texts = [relevant(question, in_its_place(unit)) for unit, _ in found]
        yield _line(kind, question, texts, grades, number, answerable=bool(label["answers"]), features=[f for _, f in found], asks=label["kind"])


def overlaps(unit: Unit, labels: Sequence[str]) -> bool:
    """Whether a unit and a labelled string overlap by most of the shorter of the two."""
    text = unit.chunk.document.text
    for label in labels:
        start = text.find(label)
        shared = min(unit.end, start + len(label)) - max(unit.start, start)
        if start >= 0 and shared > 0.6 * min(len(label), unit.end - unit.start):
            return True
    return False


if __name__ == "__main__":
    main()
