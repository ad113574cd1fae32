"""Index: lexical and dense search, one generation at a time, from files that may be missing or damaged."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import numpy as np
import pytest

from ingest import CorpusError, Index, Place, sync
from ingest.encoding.encoder import DEFAULT_ENCODER
from tests.marks import folder_first, one_of

PAGES = {
    "trn.md": "# Trn1\n\nTrn1 instances carry AWS Trainium chips and train models. trn1.32xlarge has 512 GB.\n",
    "inf.md": "# Inf2\n\nInf2 instances carry Inferentia2 chips to serve models.\n\n## Limits\n\nNo training.\n",
    "gpu.md": "# P5\n\nP5 instances carry H100 GPUs. The H100 is fast, and the training of models costs more.\n",
    "sum.md": '# Notes\n\nThe naïve café (a: b) AND "NOT" c* ^2 served models to Ångström.\n',
}


def write(folder: Path, pages: dict[str, str]) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in pages.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="module", params=["folder", "postgresql"])
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("index")
    place = folder / "index" if request.param == "folder" else request.getfixturevalue("postgres").database()
    sync([write(folder / "docs", PAGES)], place)
    return place


@pytest.fixture
def index(built: Place) -> Index:
    return Index.open(built)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return write(tmp_path / "docs", PAGES)


@pytest.fixture
def words_only(docs: Path, place: Place) -> Place:
    sync([docs], place, encoder="none")
    return place


def found(index: Index, text: str) -> list[str]:
    chunks = index.chunks([id for id, _ in index.lexical(text, 10)])
    return list(dict.fromkeys(chunk.document.id for chunk in chunks))


@pytest.mark.parametrize(
    ("question", "document"),
    [
        ("trn1.32xlarge", "docs/trn.md"),
        ("trn1.32xl", "docs/trn.md"),
        ("TRN1.32XL price", "docs/trn.md"),
        ("tranium", "docs/trn.md"),
        ("what is an inferntia2 chip", "docs/inf.md"),
        ("h 100", "docs/gpu.md"),
        ("h-100", "docs/gpu.md"),
        ("H100", "docs/gpu.md"),
        ("naive cafe angstrom", "docs/sum.md"),
        ("serving a model", "docs/inf.md"),
    ],
)
def test_misspelt_and_abbreviated_words_find_their_document(index: Index, question: str, document: str) -> None:
    assert found(index, question)[0] == document


@pytest.mark.parametrize(
    "text", ['"', "a:b^3 AND (", "NOT *", "title:x OR -y", "]{[", "\0", "body:/.*/", "'; DROP TABLE chunks"]
)
def test_no_sign_in_a_question_is_syntax(index: Index, text: str) -> None:
    assert isinstance(index.lexical(text, 5), list)


def test_hits_are_best_first_and_no_more_than_asked_for(index: Index) -> None:
    hits = index.lexical("instances that train models", 3)

    assert len(hits) == 3
    assert hits == sorted(hits, key=lambda hit: (-hit[1], hit[0]))
    assert index.lexical("instances", 0) == index.lexical("", 5) == index.lexical("xylophonist", 5) == []


@folder_first
def test_equal_scores_stand_in_the_order_of_ids(tmp_path: Path, place: Place) -> None:
    docs = write(tmp_path / "docs", {f"{n}.md": "# Same\n\nThe same words.\n" for n in range(60)})
    sync([docs], place)
    index = Index.open(place)
    vector = index.encode(["same words"])[0]

    for hits in (index.lexical("same words", 60), index.dense(vector, 60)):
        assert [id for id, _ in hits] == sorted(id for id, _ in hits)
        assert len(hits) == 60


def test_dense_search_is_by_cosine(index: Index) -> None:
    vector = index.encode(["What are Inferentia2 chips for?"])[0]
    hits = index.dense(vector, 3)
    ids = [id for id, _ in hits]
    (best, *_) = index.chunks(ids)

    assert best.document.id == "docs/inf.md"
    assert np.allclose([score for _, score in hits], index.similarities(vector, ids), atol=1e-5)
    assert index.similarities(vector, ids[::-1]) == index.similarities(vector, ids)[::-1]
    assert len(index.dense(vector, 1000)) == len(index)


def test_a_vector_of_another_size_is_refused(index: Index) -> None:
    with pytest.raises(CorpusError, match=r"holds vectors of 384 numbers .* has 3\. .*wattwise ingest --index"):
        index.dense(np.ones(3, dtype=np.float32), 5)


def test_encode_gives_each_text_its_vector_and_remembers_it(index: Index) -> None:
    first = index.encode(["one", "two", "one"])

    assert np.array_equal(first[0], first[2])
    assert np.array_equal(index.encode(["two", "one"]), first[[1, 0]])
    assert index.encode([]).shape == (0, 384)


def test_chunks_are_slices_of_a_document_that_they_share(index: Index) -> None:
    chunks = index.document_chunks("docs/inf.md")

    assert [chunk.text for chunk in chunks] == [chunk.document.text[chunk.start : chunk.end] for chunk in chunks]
    assert index.chunks([chunk.id for chunk in reversed(chunks)]) == chunks[::-1]
    assert len({id(chunk.document) for chunk in index.chunks([chunk.id for chunk in chunks])}) == 1
    assert index.document_chunks("docs/none.md") == []
    with pytest.raises(CorpusError, match="has changed"):
        index.chunks(["unknown"])


def test_the_index_tells_what_it_holds(index: Index, built: Place) -> None:
    assert [document.id for document in index.documents()] == sorted(f"docs/{name}" for name in PAGES)
    assert sorted(source.title for source in index.sources()) == ["Inf2", "Notes", "P5", "Trn1"]
    assert sum(len(index.document_chunks(document.id)) for document in index.documents()) == len(index)
    assert (index.generation, index.encoder_name, index.path) == (1, DEFAULT_ENCODER, built)
    assert index.updated.endswith("+00:00")


def test_document_frequency_counts_chunks_that_hold_the_word_as_spelt(index: Index) -> None:
    words = ("Trainium", "TRN1", "trn1.32xl", "h100", "h-100", "train", "trains", "café", "gaudi", "", "...")

    assert [index.document_frequency(word) for word in words] == [1, 1, 1, 1, 1, 1, 0, 1, 0, 0, 0]


@pytest.mark.parametrize(
    ("word", "suggestion"),
    [
        ("tranium", "trainium"),
        ("Trainum", "trainium"),
        ("rtainium", "trainium"),
        ("infernetia2", "inferentia2"),
        ("infernetia3", None),
        ("modles", "models"),
        ("gpus", "gpus"),
        ("cst", None),
        ("gaudi", None),
        ("trn2", None),
        ("", None),
    ],
)
def test_suggestions_are_near_and_never_change_a_digit(index: Index, word: str, suggestion: str | None) -> None:
    assert index.suggest(word) == suggestion


def test_an_index_without_vectors_is_searched_by_words(words_only: Place) -> None:
    index = Index.open(words_only)
    vector = index.encode(["trainium"])[0]

    assert found(index, "trainium") == ["docs/trn.md"]
    assert vector.shape == (0,)
    assert index.dense(vector, 5) == []
    assert index.similarities(vector, [id for id, _ in index.lexical("trainium", 5)]) == [0.0]


@pytest.mark.parametrize("damage", one_of(2, ["missing", "cut", "flipped", "older"]))
def test_derived_files_are_made_again_without_encoding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    sync([write(tmp_path / "docs", PAGES)], tmp_path / "index")
    before = Index.open(tmp_path / "index")
    vector, place = before.encode(["chips"])[0], tmp_path / "index" / "derived-1"
    expected = before.lexical("chips", 5), before.dense(vector, 5)
    damaged(place, damage)
    monkeypatch.setattr("ingest.encoding.encoder.load_encoder", None)

    index = Index.open(tmp_path / "index")

    assert (index.lexical("chips", 5), index.dense(vector, 5)) == expected
    assert [file.name for file in place.parent.glob("derived-*")] == ["derived-1"]


def test_lists_of_vectors_are_made_again_without_encoding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.storage.vectors.LISTED_FROM", 100)
    parts = "\n\n".join(f"## Part {number}\n\nChip {number} trains models." for number in range(200))
    sync([write(tmp_path / "docs", {"parts.md": f"# Parts\n\n{parts}\n"})], tmp_path / "index")
    before = Index.open(tmp_path / "index")
    vector = before.encode(["Which chip trains models?"])[0]
    expected = before.dense(vector, 20)
    damaged(tmp_path / "index" / "derived-1", "missing")
    monkeypatch.setattr("ingest.encoding.encoder.load_encoder", None)

    found = Index.open(tmp_path / "index").dense(vector, 20)

    assert len(found) == 20
    assert found == expected


def damaged(place: Path, damage: str) -> None:
    if damage == "missing":
        shutil.rmtree(place)
    elif damage == "older":
        manifest = place / "manifest.json"
        manifest.write_text(manifest.read_text().replace('"mark": "', '"mark": "0'))
    else:
        for file in (place / "vectors.faiss", *(place / "words").glob("*.idx")):
            content = bytearray(file.read_bytes())
            content[len(content) // 2] ^= 0xFF
            file.write_bytes(content if damage == "flipped" else content[:-9])


def test_a_reader_takes_up_a_new_generation_by_itself(words_only: Place, docs: Path) -> None:
    index = Index.open(words_only)
    old = index.snapshot()
    (docs / "new.md").write_text("# Gaudi\n\nGaudi chips train models as well.\n")
    (docs / "trn.md").unlink()

    sync([docs], words_only, encoder="none")

    assert (index.generation, found(index, "gaudi"), found(index, "trn1")) == (2, ["docs/new.md"], [])
    assert (old.generation, found(old, "gaudi"), found(old, "trn1")) == (1, [], ["docs/trn.md"])
    if isinstance(words_only, Path):
        assert [file.name for file in words_only.glob("derived-*")] == ["derived-2"]


@folder_first
def test_a_reader_takes_up_another_encoder_by_itself(words_only: Place, docs: Path) -> None:
    index = Index.open(words_only)
    assert index.encode(["a"]).shape == (1, 0)

    sync([docs], words_only)

    assert index.encode(["a"]).shape == (1, 384)
    assert index.dense(index.encode(["a"])[0], 1)


@folder_first
def test_a_snapshot_keeps_its_encoder(words_only: Place, docs: Path) -> None:
    index = Index.open(words_only)
    before = index.snapshot()
    sync([docs], words_only)

    assert [each.encode(["chips"]).shape for each in (index, before, index.snapshot())] == [(1, 384), (1, 0), (1, 384)]


@folder_first  # test_postgres covers replicas that read from PostgreSQL
def test_readers_in_many_threads_see_whole_generations(words_only: Place, docs: Path) -> None:
    index, done = Index.open(words_only), Event()

    def read() -> set[tuple[int, int]]:
        seen = set()
        while not done.is_set():
            now = index.snapshot()
            ids = [id for id, _ in now.lexical("counter", 5)]
            (chunk,) = now.chunks(ids)
            seen.add((now.generation, int(chunk.text.split()[-1])))
        return seen

    (docs / "count.md").write_text("# Counter\n\nThe counter is 2\n")
    sync([docs], words_only, encoder="none")
    with ThreadPoolExecutor(4) as pool:
        readers = [pool.submit(read) for _ in range(4)]
        for generation in range(3, 8):
            (docs / "count.md").write_text(f"# Counter\n\nThe counter is {generation}\n")
            sync([docs], words_only, encoder="none")
        done.set()

    pairs = set().union(*(reader.result() for reader in readers))
    assert len(pairs) > 1
    assert all(generation == counter for generation, counter in pairs)


def test_an_index_is_read_where_nothing_can_be_written(docs: Path, tmp_path: Path) -> None:
    sync([docs], tmp_path / "index", encoder="none")
    shutil.rmtree(tmp_path / "index" / "derived-1")
    (tmp_path / "index" / "derived-1").write_text("in the way")

    assert found(Index.open(tmp_path / "index"), "trainium") == ["docs/trn.md"]
