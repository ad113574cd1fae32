"""Turn documents into a searchable index: `sync` builds it, `Index` reads it."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ingest.answers import ProvedAnswer, read_answers
    from ingest.document import Chunk, CorpusError, Document, Source
    from ingest.encoding.encoder import Encoder, Remembered, load_encoder
    from ingest.encoding.minilm import (
        Sentence,
        known_words,
        load_exam_encoder,
        load_judge,
        load_question_encoder,
        load_sentence_encoder,
    )
    from ingest.reading import read_document
    from ingest.rows import Row, load_tables, read_rows
    from ingest.storage.index import Index, check
    from ingest.storage.place import Database, Place, address_of, place_at
    from ingest.storage.postgres import Records
    from ingest.syncing import SyncReport, sync

# `sync` lives in `syncing.py`: importing a submodule named `ingest.sync` would replace the function with the module.
__all__ = [
    "Chunk", "CorpusError", "Database", "Document", "Encoder", "Index", "Place", "ProvedAnswer", "Records", "Remembered", "Row", "Sentence",
    "Source", "SyncReport", "address_of", "check", "known_words", "load_encoder", "load_exam_encoder", "load_judge", "load_question_encoder", "load_sentence_encoder",
    "load_tables", "place_at", "read_answers", "read_document", "read_rows", "sync",
]  # fmt: skip
_HOMES = {
    name: f"ingest.{module}"
    for module, names in {
        "answers": "ProvedAnswer read_answers",
        "document": "Chunk CorpusError Document Source",
        "encoding.encoder": "Encoder Remembered load_encoder",
        "storage.index": "Index check",
        "encoding.minilm": "Sentence known_words load_exam_encoder load_judge load_question_encoder load_sentence_encoder",
        "storage.place": "Database Place address_of place_at",
        "storage.postgres": "Records",
        "reading": "read_document",
        "rows": "Row load_tables read_rows",
        "syncing": "SyncReport sync",
    }.items()
    for name in names.split()
}


def __getattr__(name: str) -> object:
    """Import a public name on first access (PEP 562), so that `import ingest` itself costs nothing."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'ingest' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
