"""Damage to the files of an index: answers must stay right, or one sentence must give the command that repairs it.

    python -m benchmarks.campaign.damage [--seed N] [--count N] [--encoder NAME]

Each file gets `count` flipped bits, a quarter as many truncations, its counterpart of an older generation and foreign
content, and is removed. After each damage, questions are asked at the command line, everything is read, and then
`status --check` and a sync are run. The exit code is 1 at a breach: an answer other than before, another sentence, text
that no source has, a check that overlooks what differs, or an index that is not the same as a fresh one after the sync.
"""

import io
import json
import random
import re
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from benchmarks.campaign.contents import QUESTIONS, Campaign, change_corpus, contents, launch, write_corpus
from chatbot.__main__ import main as wattwise
from ingest import CorpusError, Document, Index, sync

_FOREIGN = (b"", b"\0" * 5_000, b"no index\n" * 900, b'{"a": 1}')


@dataclass(frozen=True, slots=True)
class Damage:
    """One damage: the file's name without what varies between builds, the kind, and the function that does it."""

    file: str
    kind: str
    do: Callable[[Path], object]


@dataclass(frozen=True, slots=True)
class Truth:
    """What an undamaged index says: all its contents, and its answers at the command line."""

    contents: dict[str, object]
    answers: tuple[object, ...]


def run(folder: Path, seed: int, count: int, encoder: str, most: int | None = None) -> Campaign:
    """Damage the files one at a time, all of them or `most` times; `folder` is empty."""
    chance, campaign, corpus = random.Random(seed), Campaign(), write_corpus(folder / "corpus")
    index, older = folder / "index", folder / "older"
    log = _three_generations(corpus, index, older, encoder)
    truths = [_truth(index), _truth(older)]
    damages = list(_damages(index, older, log, count, chance))
    for number, damage in enumerate(chance.sample(damages, most) if most else damages):
        place = folder / "trials" / str(number)
        shutil.copytree(index, place)
        damage.do(place)
        outcome, breaches = _tried(place, corpus, encoder, truths)
        campaign.outcomes[damage.file, damage.kind, outcome] += 1
        campaign.breaches.extend(f"{damage.file}, {damage.kind}: {breach}" for breach in breaches)
        shutil.rmtree(place)
    return campaign


def _three_generations(corpus: Path, index: Path, older: Path, encoder: str) -> bytes:
    """Make an index in its third generation, and a copy of its first; return the log of the second."""
    sync([corpus], index, encoder=encoder)
    shutil.copytree(index, older)
    (corpus / "trn1-instances.md").write_text((corpus / "trn1-instances.md").read_text().replace("16 ", "17 "))
    with closing(sqlite3.connect(index / "store.sqlite", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM state").fetchall()  # keeps the log of the sync in place
        sync([corpus], index, encoder=encoder)
        log = (index / "store.sqlite-wal").read_bytes()
    change_corpus(corpus)
    sync([corpus], index, encoder=encoder)
    return log


def _damages(index: Path, older: Path, log: bytes, count: int, chance: random.Random) -> Iterator[Damage]:
    files = sorted(file.relative_to(index) for file in index.rglob("*") if file.is_file())
    counterparts = {_name(file): file for file in sorted(older.rglob("*")) if file.is_file()}
    for file in files:
        name, size = _name(index / file), (index / file).stat().st_size
        for _ in range(count if size else 0):
            yield Damage(name, "flipped bit", _flip(file, chance.randrange(size * 8)))
        for _ in range(count // 4 if size else 0):
            yield Damage(name, "cut off", _write(file, (index / file).read_bytes()[: chance.randrange(size)]))
        if name in counterparts:
            yield Damage(name, "older generation", _write(file, counterparts[name].read_bytes()))
        for content in (*_FOREIGN, chance.randbytes(5_000), _foreign_database()):
            yield Damage(name, "foreign", _write(file, content))
        yield Damage(name, "gone", _remove(file))
    store = Path("store.sqlite-wal")
    yield Damage(store.name, "older generation", _write(store, log))
    for _ in range(count):
        yield Damage(store.name, "older, flipped bit", _write(store, _flipped(log, chance.randrange(len(log) * 8))))
    for ending in ("-wal", "-shm", "-journal"):
        yield Damage(f"store.sqlite{ending}", "foreign", _write(Path(f"store.sqlite{ending}"), chance.randbytes(5_000)))


def _name(file: Path) -> str:
    """Return the file's name without what depends on the generation and the segment."""
    return re.sub(r"^[0-9a-f]{32}", "segment", file.name)


def _flip(file: Path, bit: int) -> Callable[[Path], object]:
    return lambda index: (index / file).write_bytes(_flipped((index / file).read_bytes(), bit))


def _flipped(content: bytes, bit: int) -> bytes:
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def _write(file: Path, content: bytes) -> Callable[[Path], object]:
    return lambda index: (index / file).write_bytes(content)


def _remove(file: Path) -> Callable[[Path], object]:
    return lambda index: (index / file).unlink()


def _foreign_database() -> bytes:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE documents (number INTEGER, text)")
        return connection.serialize()


def _truth(index: Path) -> Truth:
    return Truth(contents(index), tuple(_asked(index, question)[1] for question in QUESTIONS))


def _asked(index: Path, question: str) -> tuple[int, object, str]:
    """Return the exit code, the answer without its time, and what is on standard error."""
    code, out, error = _command(["ask", question, "--json", "--index", str(index)])
    return code, {**json.loads(out), "seconds": 0, "footprint": None} if out else None, error


def _command(arguments: Sequence[str]) -> tuple[int, str, str]:
    out, error = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(error):
        code = wattwise(arguments)
    return code, out.getvalue(), error.getvalue()


def _tried(place: Path, corpus: Path, encoder: str, truths: Sequence[Truth]) -> tuple[str, list[str]]:
    """Return the outcome of a damage, and the breaches in it."""
    breaches: list[str] = []
    checked = _command(["status", "--check", "--json", "--index", str(place)])
    problems = json.loads(checked[1])["problems"] if checked[1] else []
    if checked[0] != bool(problems) or checked[2] or not all(_is_sentence(f"{problem}\n") for problem in problems):
        breaches.append(f"status --check: {checked}")
    asked = [_asked(place, question) for question in QUESTIONS]
    for code, answer, error in asked:
        if code not in (0, 1) or (code == 1 and not _is_sentence(error)):
            breaches.append(f"said: {error!r}")
        elif code == 0 and not any(answer in truth.answers for truth in truths):
            breaches.append(f"answered otherwise: {answer}")
    held = _held(place, truths, breaches)
    if held == "other" and not problems:
        breaches.append("the check overlooks it")
    breaches.extend(_after_sync(place, corpus, encoder, truths[0]))
    codes = {code for code, _, _ in asked}
    answers = "right" if codes == {0} else "a sentence" if codes == {1} else "right or a sentence"
    return f"{answers}; the check: {'finds it' if problems else 'as written'}", breaches


def _is_sentence(error: str) -> bool:
    return error.count("\n") == 1 and "wattwise ingest" in error


def _held(place: Path, truths: Sequence[Truth], breaches: list[str]) -> str:
    """Read every document and passage; whatever can be read must be in a source."""
    try:
        index = Index.open(place)
        ids = [document[0] for truth in truths for document in truth.contents["documents"]]  # type: ignore[attr-defined]
        known = {(d[0], d[3]) for truth in truths for d in truth.contents["documents"]}  # type: ignore[attr-defined]
        for id in dict.fromkeys(ids):
            for document in _documents(index, id):
                if (document.id, document.text) not in known:
                    breaches.append(f"shows other text as {document.id}")
        now = contents(place)
    except CorpusError as error:
        if not _is_sentence(f"{error}\n"):
            breaches.append(f"said: {error}")
        return "other"
    if now not in [truth.contents for truth in truths]:
        breaches.append("holds something else behind ok")
        return "other"
    return "same"


def _documents(index: Index, id: str) -> Iterator[Document]:
    try:
        yield from (chunk.document for chunk in index.document_chunks(id)[:1])
    except CorpusError:
        return


def _after_sync(place: Path, corpus: Path, encoder: str, truth: Truth) -> Iterator[str]:
    try:
        sync([corpus], place, encoder=encoder)
        if contents(place) != truth.contents:
            yield "after the next sync it is not as a fresh one"
        code, out, error = _command(["status", "--check", "--index", str(place)])
        if code:
            yield f"after the next sync the check says: {out}{error}"
    except CorpusError as error:
        yield f"the next sync says: {error}"


if __name__ == "__main__":
    sys.exit(launch(__doc__, run, 20))
