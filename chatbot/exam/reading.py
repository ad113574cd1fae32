"""Read exam files of every supported format, from paths, folders or uploads, into one set of questions."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from chatbot.answer import ReaderError
from chatbot.exam.gift import looks_like_gift, read_gift
from chatbot.exam.question import ExamQuestion, Half, QuestionSet, Skipped
from chatbot.exam.records import read_json, read_json_lines, read_table
from chatbot.exam.settling import Found, unique
from chatbot.exam.text_forms import read_text

Upload = tuple[str, bytes]

MAX_BYTES = 50_000_000
EXAMPLE = """\
1. Which purchase option suits a batch job that may be interrupted?
   A. On-Demand Instances
   B. Spot Instances
   C. Dedicated Hosts
   Answer: B"""
_TEXTS = (".md", ".markdown", ".mdx", ".txt", ".text", ".aiken")
_READERS: dict[str, Callable[[str, str], Sequence[Found]]] = {
    **dict.fromkeys(_TEXTS, lambda text, _: read_gift(text) if looks_like_gift(text) else read_text(text)),
    ".gift": lambda text, _: read_gift(text),
    ".csv": read_table,
    ".tsv": read_table,
    ".json": read_json,
    ".jsonl": lambda text, _: read_json_lines(text),
    ".ndjson": lambda text, _: read_json_lines(text),
}
ACCEPTED_SUFFIXES = tuple(_READERS)


def read_questions(sources: Iterable[str | Path | Upload], *, half: Half = "all") -> QuestionSet:
    """Read the questions of files, folders and uploads (name and bytes), and the items that cannot be asked.

    Duplicate questions are asked once. `half` keeps the odd questions of each file ("tuned") or the even ones ("kept"); a
    golden file is in one half as a whole. A file of a folder that cannot be read is among the skipped, as line 0. Raises
    ReaderError if another file cannot be read or a source holds no usable question.
    """
    settled = unique([item for source in sources for item in _read(source)])
    questions = tuple(q for q in settled if not isinstance(q, Skipped) and half in ("all", q.half))
    if not questions:
        raise ReaderError(f"None of the questions is in the half {half!r}. Use --half all.")
    return QuestionSet(questions, tuple(s for s in settled if isinstance(s, Skipped)))


def with_coverage(questions: QuestionSet, covered: frozenset[str]) -> QuestionSet:
    """Return the questions with the given ids marked as covered by the corpus, and all other exam questions as not."""
    marked = [replace(q, covered=q.id in covered) if isinstance(q, ExamQuestion) else q for q in questions]
    return replace(questions, questions=tuple(marked))


def _read(source: str | Path | Upload) -> list[Found]:
    """Read the items of one source; raises ReaderError if none of them can be asked."""
    found: list[Found] = []
    for file, data in _files(source):
        try:
            found += _settled(file, data)
        except ReaderError as error:
            if isinstance(source, tuple) or not Path(source).is_dir():
                raise
            found.append(Skipped(file, 0, str(error), ""))
    if all(isinstance(item, Skipped) for item in found):
        name = source[0] if isinstance(source, tuple) else source
        why = "".join(f"\n  line {s.line}: {s.reason}" if s.line else f"\n  {s.reason}" for s in found[:3] if isinstance(s, Skipped))
        reasons = f" What looks like one cannot be used:{why}" if why else ""
        raise ReaderError(f"{name} holds no question that can be asked.{reasons}\nAccepted is, for example:\n\n{EXAMPLE}")
    return found


def _files(source: str | Path | Upload) -> Iterator[tuple[str, bytes | Path]]:
    """Yield the name of a file, or of each file in a folder that may be an exam, with what it holds or where it is."""
    if isinstance(source, tuple):
        yield source
        return
    path = Path(source)
    for file in sorted(filter(lambda inside: _may_be_exam(inside, path), path.rglob("*"))) if path.is_dir() else [path]:
        yield str(file.relative_to(path.parent)), file


def _may_be_exam(file: Path, folder: Path) -> bool:
    """Whether a file may be an exam; a README only describes those beside it."""
    is_hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
    return file.suffix.lower() in _READERS and file.stem.lower() != "readme" and not is_hidden and file.is_file()


def _settled(name: str, data: bytes | Path) -> Iterator[Found]:
    """Yield the questions of one file, each with its file name and its position."""
    given = _bytes(data) if isinstance(data, Path) else data
    read = _READERS.get(Path(name).suffix.lower())
    if read is None:
        raise ReaderError(f"{name} has no form that is read here. Give {', '.join(ACCEPTED_SUFFIXES)}.")
    if len(given) > MAX_BYTES:
        raise ReaderError(f"{name} is larger than {MAX_BYTES // 1_000_000} MB: split it.")
    for position, item in enumerate(read(_decoded(name, given), name), start=1):
        yield replace(item, file=name) if isinstance(item, Skipped) else replace(item, file=name, position=position)


def _bytes(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            return opened.read(MAX_BYTES + 1)
    except OSError as error:
        raise ReaderError(f"{file} cannot be read ({error.strerror}): check the path.") from error


def _decoded(name: str, data: bytes) -> str:
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return data.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise ReaderError(f"{name} is not UTF-8 (byte {error.start}): save it as UTF-8.") from error
