"""A run that is written down as it goes, so that the same run goes on where it was cut off."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
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
    """What a run depends on, as hashes and in words. Two runs with the same `index` and `config` answer alike."""

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
    """The identity of a run; `settings` are what else its answers depend on, such as the environment's `WATTWISE_*`."""
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
    """Ask the questions, each result written to `folder/results.jsonl` as it comes.

    What an earlier run of the same index and configuration answered there is not asked again, errors are; `fresh` asks all.
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
            with (folder / FILE_NAME).open("a", encoding="utf-8") as file:
                file.write(row_line(result))
            yield result


def _earlier(folder: Path, identity: Identity, questions: Sequence[Question]) -> dict[str, Result]:
    """What the folder holds of the same run; a line that a kill cut off is asked again."""
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
    """Results first and then the identity that vouches for them: a kill in between loses a run, and mixes none."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / RUN_FILE).unlink(missing_ok=True)
        (folder / FILE_NAME).write_text("".join(map(row_line, earlier)), encoding="utf-8")
        (folder / RUN_FILE).write_text(json.dumps(asdict(identity), indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise ReaderError(f"{folder} cannot be written ({error.strerror}): give --report another folder.") from error


def _index_digest(index: Index) -> str:
    found = hashlib.sha256(f"{index.encoder_name} {len(index)}".encode())
    for document in index.documents():
        found.update(hashlib.sha256(f"{document.id}\0{document.text}".encode(errors="surrogatepass")).digest())
    return found.hexdigest()[:16]


@cache
def _program() -> str:
    """A digest of the program itself: after a change of its code, old answers are not those it would give."""
    found = hashlib.sha256()
    for package in (ingest, chatbot):
        folder = Path(str(package.__file__)).parent
        for file in sorted(p for p in folder.rglob("*") if p.suffix in (".py", ".toml", ".json")):
            found.update(file.read_bytes())
    return found.hexdigest()[:16]
