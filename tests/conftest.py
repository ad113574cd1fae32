"""Fixtures shared by several test files."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any, cast

import pytest
from filelock import FileLock
from hypothesis import HealthCheck, settings
from prompt_reading import cited

from chatbot import Chatbot
from ingest import Database, Place, sync
from tests.servers.postgres import Server, Unavailable, running

ROOT = Path(__file__).resolve().parents[1]
# The time of one example depends more on the machine's load than on the code; Hypothesis's CI profile does the same.
settings.register_profile("untimed", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


@pytest.fixture(scope="session")
def corpus_index(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Path:
    """A copy of the shipped corpus's index. The original is cached between runs, so only changes are encoded."""
    assert pytestconfig.cache
    kept = pytestconfig.cache.mkdir("corpus")
    with FileLock(kept / "lock"):
        sync([ROOT / "corpus"], kept / "index")
        return Path(shutil.copytree(kept / "index", tmp_path_factory.mktemp("corpus") / "index"))


@pytest.fixture(scope="session")
def bot(corpus_index: Path) -> Chatbot:
    return Chatbot.open(corpus_index)


@pytest.fixture(scope="session")
def five(tmp_path_factory: pytest.TempPathFactory) -> Chatbot:
    """A chatbot over the five sources alone, which contain no prepared answers."""
    folder = tmp_path_factory.mktemp("five")
    sync(sorted((ROOT / "corpus").glob("*.md")), folder)
    return Chatbot.open(folder)


@pytest.fixture(scope="session")
def good(bot: Chatbot) -> str:
    """A correct, cited model reply to the question how many Trainium chips a trn1.32xlarge has."""
    return cited(bot, "How many Trainium chips are in a trn1.32xlarge?", "A trn1.32xlarge has 16 Trainium chips")


@pytest.fixture
def streaming_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Send Slack each piece of an answer at once; in production, an answer ready within two seconds is posted whole."""
    monkeypatch.setattr("chatbot.slack.delivery._QUICK", 0.0)
    monkeypatch.setattr("chatbot.slack.delivery._PACE", 0.0)


@pytest.fixture(scope="session")
def aws_data() -> Any:
    """One botocore loader for all sessions, so that its megabytes of JSON are read only once."""
    from botocore.loaders import create_loader

    return create_loader()


@pytest.fixture
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, aws_data: Any) -> None:
    """Set test credentials for AWS and hide this machine's own settings for every provider."""
    openai = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE")
    regions = ("AWS_REGION", "AWS_DEFAULT_REGION")
    for name in (*openai, *regions, "AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("boto3.DEFAULT_SESSION", None)  # a session left by another test file keeps its credentials
    monkeypatch.setattr("botocore.session.create_loader", lambda paths: aws_data)
    for name, value in {"ACCESS_KEY_ID": "test", "SECRET_ACCESS_KEY": "test", "EC2_METADATA_DISABLED": "true"}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A PostgreSQL server with pgvector; tests that use it are skipped where none can start."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        try:
            with running() as server:
                yield server
        except Unavailable as error:
            pytest.skip(str(error))


@pytest.fixture(params=["folder", "postgresql"])
def new_place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Place]]:
    """A factory of empty places for an index; a test that uses it runs once with each store."""
    if request.param == "folder":
        numbers = count(1)
        yield lambda: tmp_path / f"index{next(numbers)}"
        return
    server = cast(Server, request.getfixturevalue("postgres"))
    with ExitStack() as stack:

        def database() -> Database:
            made = server.database()
            stack.callback(server.take_back, made)
            return made

        yield database


@pytest.fixture
def place(new_place: Callable[[], Place]) -> Place:
    return new_place()
