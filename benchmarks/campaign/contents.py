"""What the campaigns against an index share: a small corpus in two versions, what an index says, and the command line."""

import argparse
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import astuple, dataclass, field
from pathlib import Path

from ingest import Index, Place

CORPUS = Path(__file__).resolve().parents[2] / "corpus"
QUESTIONS = (
    "How many Trainium chips are in a trn1.32xlarge?",
    "Which instance has the lowest energy use for training?",
    "What does the c in c7g.8xlarge mean?",
)


@dataclass(frozen=True, slots=True)
class Campaign:
    """How often each outcome occurred, and the breaches in words."""

    outcomes: Counter[tuple[str, ...]] = field(default_factory=Counter)
    breaches: list[str] = field(default_factory=list)


def launch(description: str, run: Callable[[Path, int, int, str], Campaign], count: int) -> int:
    """Run a campaign in an empty folder, as the command line says, and print its results; return 1 at a breach."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--count", type=int, default=count, help="%(default)s where it is not given")
    parser.add_argument("--encoder", default="none", metavar="NAME", help="of the index (%(default)s)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        campaign = run(Path(folder), options.seed, options.count, options.encoder)
    print(f"{campaign.outcomes.total()} trials, seed {options.seed}, encoder {options.encoder}")
    for outcome, times in sorted(campaign.outcomes.items()):
        print(f"{times:5}  {', '.join(outcome)}")
    print(f"{len(campaign.breaches):5}  breaches", *campaign.breaches, sep="\n       ")
    return 1 if campaign.breaches else 0


def write_corpus(folder: Path) -> Path:
    """Copy the five documents and the table of instances, as they are shipped."""
    folder.mkdir()
    for file in (*CORPUS.glob("*.md"), *CORPUS.glob("*.csv")):
        shutil.copy(file, folder)
    return folder


def change_corpus(folder: Path) -> None:
    """Add a document, remove one, and change one."""
    (folder / "more.md").write_text("# More\n\nGraviton runs everything else.\n\n## Limits\n\nA vCPU has one thread.\n")
    (folder / "hardware-selection-pattern.md").unlink()
    notes = folder / "trainium-exam-notes.md"
    notes.write_text(notes.read_text().replace("Trainium", "Trainium2", 3) + "\n## Added\n\nTrn3 comes later.\n")


def contents(place: Place) -> dict[str, object]:
    """Return all that an index says: its documents with their passages, and what some questions find, with the scores.

    Raises CorpusError if the index cannot be used.
    """
    index = Index.open(place).snapshot()
    documents = index.documents()
    return {
        "documents": [astuple(document) for document in documents],
        "passages": [[astuple(chunk) for chunk in index.document_chunks(document.id)] for document in documents],
        "tables": [document.id for document in index.tables()],
        "searched": len(index),
        "words": [index.lexical(question, 20) for question in QUESTIONS],
        "meaning": [index.dense(vector, 20) for vector in index.encode(QUESTIONS)],
    }
