"""Behaviour specific to an index in PostgreSQL: damage, migrations, many replicas, and error messages."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest

from benchmarks.campaign import stop
from chatbot import Chatbot, FeedbackStore, ReaderError
from chatbot.exam.golden import GoldenQuestion, load_questions
from chatbot.exam.golden_scoring import ask
from chatbot.history.conversations import KEPT, ConversationStore
from chatbot.retrieval.retriever import retrieve
from chatbot.slack.state import SlackState
from ingest import CorpusError, Database, Index, check, place_at, sync
from ingest.encoding.minilm import DIMENSION
from ingest.storage.derived import complete_derived
from ingest.storage.opening import open_store, writing
from ingest.storage.postgres import MIGRATIONS
from ingest.storage.store import UNENCODED
from tests.golden_scoring import failures
from tests.marks import left_to_evaluation
from tests.servers.postgres import Server, Unavailable, running, without_pgvector

GOLDEN = Path(__file__).parent / "golden"
ONE = "# One\n\nTrainium trains models.\n"
TWO = "# Two\n\nInferentia serves models.\n"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "one.md").write_text(ONE)
    (folder / "two.md").write_text(TWO)
    return folder


@pytest.fixture
def database(postgres: Server) -> Any:
    made = postgres.database()
    yield made
    postgres.take_back(made)


def spoil(server: Server, database: Database, statement: str) -> None:
    """Change the database directly, bypassing the program."""
    name = database.address.rpartition("/")[2]
    server.execute(name, f"SET session_replication_role = replica; SET search_path = wattwise, public; {statement}")


def everything(database: Database) -> list[object]:
    index = Index.open(database)
    vector = np.eye(1, 384, dtype=np.float32)[0]
    passages = [index.document_chunks(document.id) for document in index.documents()]
    return [passages, index.lexical("chips that train", 9), index.dense(vector, 9)]


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE chunks SET start = start + 1",
        "UPDATE vectors SET vector = array_fill(0, ARRAY[384])::halfvec",
        *left_to_evaluation(
            "DELETE FROM documents WHERE number = 2",
            "DELETE FROM files WHERE name LIKE '%.idx'",
            "DROP INDEX chunks_document",
            "UPDATE chunks SET headings = '[]' WHERE number = 1",
            "UPDATE chunks SET id = 'other' WHERE number = 1",
            "UPDATE chunks SET number = 99 WHERE number = 1",
            "UPDATE chunks SET document = 77 WHERE number = 1",
            "UPDATE chunks SET died = 1 WHERE number = 1",
            "UPDATE documents SET title = 'Two' WHERE number = 1",
            "UPDATE documents SET text = replace(text, 'Trainium', 'Trainiun')",
            "UPDATE sources SET published = '2033'",
            "DELETE FROM sources",
            "DELETE FROM vectors",
            "DELETE FROM chunks WHERE number = 1",
            "UPDATE generations SET generation = 7",
            "UPDATE files SET content = overlay(content PLACING '\\x00ff'::bytea FROM 9) WHERE name LIKE '%.term'",
        ),
    ],
)
def test_whatever_was_changed_in_the_database_the_check_finds_it_and_a_sync_mends_it(
    postgres: Server, database: Database, docs: Path, damage: str
) -> None:
    sync([docs], database)
    before = everything(database)
    spoil(postgres, database, damage)
    problems = check(database)

    sync([docs], database)

    assert problems
    assert all("wattwise ingest" in problem and "\n" not in problem for problem in problems)
    assert everything(database) == before
    assert check(database) == ()


def test_a_question_that_began_before_a_sync_is_answered_from_its_generation(database: Database, docs: Path) -> None:
    sync([docs], database, encoder="none")
    index = Index.open(database)
    before = index.snapshot()
    (docs / "one.md").write_text("# One\n\nTrainium trains nothing.\n")
    sync([docs], database, encoder="none")

    assert [document.text for document in before.documents()] == [ONE, TWO]
    assert [document.text for document in index.documents()] == ["# One\n\nTrainium trains nothing.\n", TWO]


def test_a_generation_that_nobody_can_need_is_deleted_and_one_who_still_asks_for_it_is_told(
    postgres: Server, database: Database, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync([docs], database, encoder="none")
    old = Index.open(database).snapshot()
    (docs / "one.md").write_text("# One\n\nSecond.\n")
    sync([docs], database, encoder="none")
    spoil(postgres, database, "UPDATE generations SET published = published - interval '1 hour'")
    assert [document.text for document in old.documents()] == [ONE, TWO]
    (docs / "one.md").unlink()
    sync([docs], database, encoder="none")
    monkeypatch.setattr("time.monotonic", lambda: float("inf"))

    with pytest.raises(CorpusError, match=r"The index has changed since these passages were found\. Ask again\."):
        old.documents()
    name = database.address.rpartition("/")[2]
    assert postgres.execute(name, "SELECT text FROM wattwise.documents ORDER BY text") == [
        ("# One\n\nSecond.\n",),
        (TWO,),
    ]


@pytest.mark.evaluation  # a pool waits ten seconds for an unreachable server
def test_a_question_goes_on_after_the_server_was_restarted(postgres: Server, database: Database, docs: Path) -> None:
    sync([docs], database, encoder="none")
    index = Index.open(database).snapshot()
    postgres.stop("immediate")
    try:
        with pytest.raises(CorpusError, match=rf"{database} cannot be read or written .* Check the address"):
            index.documents()
    finally:
        postgres.start()

    assert [document.text for document in index.documents()] == [ONE, TWO]


def test_replicas_see_whole_generations_and_share_votes_and_claims_while_a_sync_runs(
    database: Database, docs: Path
) -> None:
    (docs / "count.md").write_text("# Counter\n\nThe counter is 1\n")
    sync([docs], database, encoder="none")
    replicas = [subprocess.Popen([sys.executable, "-c", REPLICA], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                 env=None) for _ in range(2)]  # fmt: skip
    for replica in replicas:
        assert replica.stdin
        assert replica.stdout
        print(database.address, file=replica.stdin, flush=True)
        assert replica.stdout.readline() == "ready\n"
    slack = SlackState(database)
    for generation in range(2, 6):
        (docs / "count.md").write_text(f"# Counter\n\nThe counter is {generation}\n")
        sync([docs], database, encoder="none")
        assert slack.claim(f"event:{generation}")
    seen = [set(replica.communicate("stop\n", timeout=60)[0].split()) for replica in replicas]

    assert all(replica.returncode == 0 for replica in replicas)
    for pairs in seen:
        assert "5=5" in pairs
        assert all(pair.split("=")[0] == pair.split("=")[1] for pair in pairs)
    assert sorted(vote.voter for vote in FeedbackStore(database).all()) == ["replica", "replica"]
    assert not slack.claim("event:1")


REPLICA = """
import os, select, sys
from chatbot import Feedback, FeedbackStore
from chatbot.slack.state import SlackState
from ingest import Database, Index
database = Database(sys.stdin.readline().strip())
index = Index.open(database)
FeedbackStore(database).add(Feedback("app", str(os.getpid()), "replica", True, "", "?", "!", "offline", 1))
SlackState(database).claim("event:1")
print("ready", flush=True)
seen = set()
while True:
    now = index.snapshot()
    (chunk,) = now.chunks([id for id, _ in now.lexical("counter", 5)])
    seen.add(f"{now.generation}={chunk.text.split()[-1]}")
    if select.select([sys.stdin], [], [], 0)[0] and now.generation == 5:
        break
print(*seen)
"""


def test_conversations_are_kept_in_the_database_for_all_replicas(database: Database) -> None:
    one, other = ConversationStore(database), ConversationStore(database)
    for number in range(KEPT + 1):
        one.save("ada", f"c{number}", "First\nquestion", "[1]")
    other.rename("ada", "c1", "Mine?")
    other.save("ada", "c1", "First question", "[1, 2]")
    other.delete("ada", "c2")
    other.delete("eve", "c3")
    found = one.all("ada")
    assert ([(c.id, c.title) for c in found[:2]], found[-1].id, len(found)) == ([("c1", "Mine?"), (f"c{KEPT}", "First question")], "c3", KEPT - 1)
    assert (one.load("ada", "c1"), one.load("eve", "c1")) == ("[1, 2]", None)


def test_one_of_two_syncs_at_once_is_told_to_wait(database: Database, docs: Path) -> None:
    begun, go = Event(), Event()

    def hold(*_: object) -> None:
        begun.set()
        go.wait(60)

    with ThreadPoolExecutor(1) as thread:
        first = thread.submit(sync, [docs], database, encoder="none", progress=hold)
        assert begun.wait(60)
        try:
            with pytest.raises(CorpusError, match=rf"Another ingest is writing to the index in {database}\. Try again"):
                sync([docs], database, encoder="none")
        finally:
            go.set()
        assert first.result().added == ("docs/one.md", "docs/two.md")


@pytest.mark.evaluation
def test_many_vectors_are_found_by_an_index_and_rows_of_other_generations_do_not_crowd_them_out(
    postgres: Server, database: Database, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.storage.postgres.INDEXED_FROM", 100)
    numbers = np.random.default_rng(20)
    pages = "\n\n".join(f"## Part {n}\n\nPart {n} is about chip {numbers.integers(1_000)}." for n in range(150))
    (docs / "parts.md").write_text(f"# Parts\n\n{pages}\n")
    sync([docs], database)
    (docs / "parts.md").write_text(f"# Other parts\n\n{pages}\n")
    sync([docs], database)
    index = Index.open(database)
    vector = index.encode(["Part 7 is about a chip"])[0]
    every = [chunk.id for document in index.documents() for chunk in index.document_chunks(document.id)]
    exact = sorted(zip(every, index.similarities(vector, every), strict=True), key=lambda hit: (-hit[1], hit[0]))
    name = database.address.rpartition("/")[2]

    hits = index.dense(vector, 30)

    assert postgres.execute(name, "SELECT count(*) FROM pg_indexes WHERE indexname = 'vectors_384'") == [(1,)]
    assert len({id for id, _ in hits} & {id for id, _ in exact[:30]}) >= 29
    assert hits == [hit for hit in exact if hit in hits]


def test_prepared_questions_do_not_count_as_vectors_to_search(
    postgres: Server, database: Database, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.storage.postgres.INDEXED_FROM", 3)
    (docs / "answers.md").write_text(
        "# Questions and answers\n\n## What trains models?\n\nAlso asked: training chip\n\nTrainium [1].\n\n1. “Trainium trains models.” (one)\n"
    )
    name = database.address.rpartition("/")[2]
    found = []
    for _ in range(2):
        sync([docs], database)
        found += postgres.execute(name, "SELECT count(*) FROM pg_indexes WHERE indexname = 'vectors_384'")
        (docs / "three.md").write_text("# Three\n\nGraviton has no accelerator.\n")
    assert found == [(0,), (1,)]
    assert len(Index.open(database).questions()) == 1


def test_an_index_of_another_version_says_what_to_do(postgres: Server, database: Database, docs: Path) -> None:
    sync([docs], database, encoder="none")
    latest = len(MIGRATIONS)
    spoil(postgres, database, f"INSERT INTO migrations VALUES ({latest + 1}, now())")
    newer = (
        rf"^The index in {database} was made by a newer version of wattwise\. Upgrade: pip install --upgrade wattwise$"
    )
    for attempt in (lambda: Index.open(database), lambda: sync([docs], database), lambda: SlackState(database)):
        with pytest.raises((CorpusError, ReaderError), match=newer):
            attempt()
    spoil(postgres, database, "DELETE FROM migrations WHERE version > 1; DROP TABLE conversations, feedback, claims, asked, threads, answers, replies, work, messages;"
          " ALTER TABLE vectors DROP wordings")  # fmt: skip
    with pytest.raises(CorpusError, match=r"older version .* wattwise ingest --index postgresql://postgres@"):
        Index.open(database)

    sync([docs], database, encoder="none")

    assert [document.text for document in Index.open(database).documents()] == [ONE, TWO]
    assert FeedbackStore(database).all() == ()


def faulty(server: Server) -> dict[str, tuple[str, str]]:
    there = server.address("postgres")
    return {
        "password": (server.address("postgres", password="wrong%2Fsecret"), "does not take the user and password"),
        "name": (server.address("nowhere"), "There is no database of that name at .* createdb NAME"),
        "port": (there.replace(str(server.port), "9"), "cannot be read or written .*Check the address"),
        "escape": (there.replace("%2F", "%zz"), "none that PostgreSQL can read"),
        "slash": ("postgresql://me:sec/ret@127.0.0.1/x", "none that PostgreSQL can read.*%40 and %2F"),
        "at": ("postgresql://me:sec@ret@127.0.0.1/x", "none that PostgreSQL can read.*%40 and %2F"),
        "empty": (there, "There is no index in .* wattwise ingest --index"),
    }


@pytest.mark.parametrize("fault", ["password", "name", "port", "escape", "slash", "at", "empty"])
def test_each_fault_is_one_sentence_with_its_remedy_and_without_the_password(
    postgres: Server, docs: Path, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    address, words = faulty(postgres)[fault]
    attempts: list[Callable[[], object]] = [lambda: Chatbot.open(address)]
    if fault != "empty":
        attempts += [lambda: sync([docs], address), lambda: FeedbackStore(place_at(address))]
    for attempt in attempts:
        with pytest.raises((CorpusError, ReaderError), match=words) as refused:
            attempt()
        shown = f"{refused.value} {refused.value.__cause__} {caplog.text} {place_at(address)!r} {place_at(address)}"
        assert "\n" not in str(refused.value)
        assert not [secret for secret in ("s3cret", "secret", "sec/ret", "sec@ret", "w@rd") if secret in shown]


@pytest.mark.evaluation
def test_a_server_without_pgvector_is_named_with_the_package(docs: Path) -> None:
    try:
        with (
            running(without_pgvector()) as server,
            pytest.raises(CorpusError, match=r"has no pgvector\. Install its package there, version 0\.8 or later"),
        ):
            sync([docs], server.address("postgres"))
    except Unavailable as error:
        pytest.skip(str(error))


def test_a_user_without_rights_is_told_what_to_ask_for(postgres: Server, database: Database, docs: Path) -> None:
    name = database.address.rpartition("/")[2]
    postgres.execute(name, "DROP ROLE IF EXISTS guest; CREATE ROLE guest LOGIN PASSWORD 'guest'")
    guest = postgres.address(name, user="guest", password="guest")
    with pytest.raises(CorpusError, match=r"lacks a right .* GRANT CREATE ON DATABASE"):
        sync([docs], guest)
    sync([docs], database, encoder="none")
    postgres.execute(
        name, "GRANT USAGE ON SCHEMA wattwise TO guest; GRANT SELECT ON ALL TABLES IN SCHEMA wattwise TO guest"
    )

    assert len(Index.open(guest).documents()) == 2
    postgres.execute(name, "DROP OWNED BY guest; DROP ROLE guest")


def test_the_extra_is_named_where_its_packages_are_missing() -> None:
    code = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from ingest import Index, CorpusError\n"
        "try: Index.open('postgresql://me:secret@127.0.0.1/x')\n"
        "except CorpusError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == (
        "The index postgresql://me@127.0.0.1/x needs PostgreSQL's packages: pip install 'wattwise[postgres]'\n"
    )


@pytest.mark.evaluation
def test_the_packages_are_imported_only_where_the_address_asks_for_them(docs: Path, tmp_path: Path) -> None:
    code = (
        "import sys; from ingest import Index, sync\n"
        f"sync([{str(docs)!r}], {str(tmp_path / 'index')!r}, encoder='none'); Index.open({str(tmp_path / 'index')!r})\n"
        "print([name for name in ('psycopg', 'psycopg_pool', 'pgvector') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


@pytest.mark.evaluation
def test_the_command_line_takes_the_address_and_never_shows_its_password(database: Database, docs: Path) -> None:
    commands = (["ingest", str(docs), "--encoder", "none"], ["status", "--json"])
    shown = ""
    for command in commands:
        done = subprocess.run(
            [sys.executable, "-m", "chatbot", *command, "--index", database.address],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        shown += done.stdout + done.stderr

    assert f"{database} is up to date: 2 added" in shown
    assert f'"index": "{database}", "generation": 1' in shown
    assert "s3cret" not in shown


@pytest.mark.evaluation
def test_stops_of_the_server_in_the_middle_of_a_sync_lose_nothing(tmp_path: Path) -> None:
    try:
        campaign = stop.run(tmp_path, seed=1, count=2, encoder="none")
    except Unavailable as error:
        pytest.skip(str(error))

    assert campaign.breaches == []
    assert campaign.outcomes.total() == 2


@pytest.fixture(scope="module")
def both(corpus_index: Path, postgres: Server) -> Iterator[tuple[Index, Index]]:
    """Indexes of the shipped corpus, in a folder and in a database."""
    database = postgres.database()
    copy_index(corpus_index, database)
    yield Index.open(corpus_index), Index.open(database)
    postgres.take_back(database)


def copy_index(folder: Path, database: Database) -> None:
    """Copy documents, chunks and vectors to a database without encoding anything again."""
    source, state = open_store(folder)
    with closing(source), writing(database) as store:
        known, digests, questions = source.known(), dict[str, bytes](), set[str]()
        for document in source.documents():
            number = source.document_number(document.id)
            assert number
            entries = [entry for _, entry in source.entries(number, document)]
            store.replace(document, entries, known[document.id])
            digests |= {entry.chunk.id: entry.digest for entry in entries if entry.digest != UNENCODED}
            questions |= {entry.chunk.id for entry in entries if not entry.searched}
        vectors = {digests[id]: vector.reshape(-1, DIMENSION) if id in questions else vector for id, vector in source.vectors(list(digests)).items()}
        store.add_vectors(list(vectors), vectors.values())
        store.set_state(state)
        complete_derived(database, store, state)
        store.commit()


@pytest.mark.evaluation
def test_both_stores_find_the_same_passages_with_the_same_scores(both: tuple[Index, Index]) -> None:
    questions = [question.turns[-1] for question in golden("fresh-tuned")]
    for question in questions[:40]:
        found, again = (retrieve(index, question) for index in both)
        assert [passage.chunk for passage in found] == [passage.chunk for passage in again]
        assert [passage.score for passage in found] == pytest.approx([passage.score for passage in again], abs=1e-5)
        assert both[0].lexical(question, 60) == both[1].lexical(question, 60)


@pytest.mark.evaluation
@pytest.mark.parametrize("group", ["tuned", "fresh-tuned"])
def test_both_stores_pass_the_same_golden_questions(both: tuple[Index, Index], group: str) -> None:
    asked = [[ask(Chatbot(index), question) for question in golden(group)] for index in both]
    differing = [
        one.question.id for one, other in zip(*asked, strict=True) if bool(failures([one])) != bool(failures([other]))
    ]

    assert len(differing) <= 2, differing


def golden(group: str) -> list[GoldenQuestion]:
    return load_questions(GOLDEN / f"{group}.jsonl")


@pytest.mark.parametrize("damage", ["DELETE FROM files", "INSERT INTO files VALUES (1, 'unlisted', 0, '')"])
def test_a_reader_builds_its_files_if_those_in_the_database_do_not_match_their_manifest(
    postgres: Server, database: Database, docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    sync([docs], database, encoder="none")
    before = Index.open(database).lexical("chips that train", 9)
    spoil(postgres, database, damage)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    assert Index.open(database).lexical("chips that train", 9) == before
    [folder] = (tmp_path / "cache").glob("wattwise/*/derived-*")
    assert not (folder / "unlisted").exists()
