"""Runs that save each result as it comes, so that an interrupted run can resume."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import chatbot
import ingest
from chatbot.answer import ReaderError
from chatbot.bot import Chatbot
from chatbot.exam.asking import ask_question, ask_questions
from chatbot.exam.golden import digest
from chatbot.exam.question import QuestionSet
from chatbot.exam.results import FILE_NAME, Question, Result, from_row, read_rows, row_line
from ingest import Index

RUN_FILE = "run.json"


@dataclass(frozen=True, slots=True)
class Identity:
    """What a run depends on. Runs with the same hashes `index` and `config` give the same answers."""

    index: str
    config: str
    questions: str
    model: str
    encoder: str
    documents: int
    chunks: int
    shuffle: int | None = None


def identify(
    bot: Chatbot, questions: QuestionSet, *, shuffle: int | None = None, settings: Mapping[str, str] | None = None
) -> Identity:
    """Return the identity of a run; `settings` is what else its answers depend on, such as `WATTWISE_*` variables."""
    index = bot.index
    return Identity(
        index=_index_digest(index),
        config=digest([str(bot.model), shuffle, _program(), sorted((settings or {}).items())]),
        questions=questions.fingerprint,
        model=str(bot.model),
        encoder=index.encoder_name,
        documents=len(index.documents()),
        chunks=len(index),
        shuffle=shuffle,
    )


def run(
    bot: Chatbot,
    questions: Sequence[Question],
    folder: Path | None = None,
    *,
    identity: Identity | None = None,
    shuffle: int | None = None,
    fresh: bool = False,
) -> Iterator[Result]:
    """Ask the questions and append each result to `folder/results.jsonl` as it comes.

    Answers of an earlier run there with the same index and configuration are reused; its errors are asked again. `fresh`
    asks everything.
    """
    if folder is None or identity is None:
        yield from ask_questions(bot, questions, shuffle=shuffle)
        return
    earlier = {} if fresh else _earlier(folder, identity, questions)
    _begin(folder, identity, [earlier[q.id] for q in questions if q.id in earlier])
    for question in questions:
        if question.id in earlier:
            yield earlier[question.id]
        else:
            result = ask_question(bot, question, shuffle=shuffle)
            with _writing(folder), (folder / FILE_NAME).open("a", encoding="utf-8") as file:
                file.write(row_line(result))
            yield result


def _earlier(folder: Path, identity: Identity, questions: Sequence[Question]) -> dict[str, Result]:
    """Return the results in the folder that can be reused; a question whose line was cut off is asked again."""
    try:
        before = json.loads((folder / RUN_FILE).read_bytes())
        rows = read_rows(folder)
    except (OSError, ValueError, ReaderError):
        return {}
    if [before.get("index"), before.get("config")] != [identity.index, identity.config]:
        return {}
    asked = {(q.id, q.fingerprint): q for q in questions}
    known = [row for row in rows if (row["id"], row["hash"]) in asked and row["verdict"] != "error"]
    return {row["id"]: from_row(row, asked[row["id"], row["hash"]]) for row in known}


def _begin(folder: Path, identity: Identity, earlier: Sequence[Result]) -> None:
    """Write the reused results, then the identity that vouches for them.

    In this order, a kill in between loses the results but never mixes those of two runs.
    """
    with _writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / RUN_FILE).unlink(missing_ok=True)
        (folder / FILE_NAME).write_text("".join(map(row_line, earlier)), encoding="utf-8")
        (folder / RUN_FILE).write_text(json.dumps(asdict(identity), indent=1) + "\n", encoding="utf-8")


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ReaderError(f"{folder} cannot be written ({error.strerror}): give --report another folder.") from error


def _index_digest(index: Index) -> str:
    found = hashlib.sha256(f"{index.encoder_name} {len(index)}".encode())
    for document in index.documents():
        found.update(hashlib.sha256(f"{document.id}\0{document.text}".encode(errors="surrogatepass")).digest())
    return found.hexdigest()[:16]


@cache
def _program() -> str:
    """Return a digest of the program's own files: after a change, earlier answers may no longer be the same."""
    found = hashlib.sha256()
    for package in (ingest, chatbot):
        folder = Path(str(package.__file__)).parent
        for file in sorted(p for p in folder.rglob("*") if p.suffix in (".py", ".toml", ".json", ".tsv", ".safetensors")):
            found.update(file.read_bytes())
    return found.hexdigest()[:16]
