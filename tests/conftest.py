"""Fixtures that several test files share."""

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
# How long one example takes says more of what else the machine does than of the code; CI's own profile is alike.
settings.register_profile("untimed", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


@pytest.fixture(scope="session")
def corpus_index(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Path:
    """A copy of an index of the shipped corpus, which is kept between runs and brought up to date: only what changed is encoded."""
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
    """Over the five sources alone: nothing in them was proved beforehand."""
    folder = tmp_path_factory.mktemp("five")
    sync(sorted((ROOT / "corpus").glob("*.md")), folder)
    return Chatbot.open(folder)


@pytest.fixture(scope="session")
def good(bot: Chatbot) -> str:
    """What a good model writes when it is asked how many Trainium chips are in a trn1.32xlarge."""
    return cited(bot, "How many Trainium chips are in a trn1.32xlarge?", "A trn1.32xlarge has 16 Trainium chips")


@pytest.fixture
def streaming_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slack is sent each piece of an answer as it comes; in earnest what is there within two seconds is sent whole."""
    monkeypatch.setattr("chatbot.slack.delivery._QUICK", 0.0)
    monkeypatch.setattr("chatbot.slack.delivery._PACE", 0.0)


@pytest.fixture(scope="session")
def aws_data() -> Any:
    """What botocore has read of its megabytes of JSON, for all sessions."""
    from botocore.loaders import create_loader

    return create_loader()


@pytest.fixture
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, aws_data: Any) -> None:
    """Credentials of a test for AWS, and nothing of this machine's own for any provider."""
    openai = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE")
    regions = ("AWS_REGION", "AWS_DEFAULT_REGION")
    for name in (*openai, *regions, "AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("boto3.DEFAULT_SESSION", None)  # another file's session remembers its credentials
    monkeypatch.setattr("botocore.session.create_loader", lambda paths: aws_data)
    for name, value in {"ACCESS_KEY_ID": "test", "SECRET_ACCESS_KEY": "test", "EC2_METADATA_DISABLED": "true"}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A PostgreSQL server with pgvector; a test that asks for it is skipped where none starts."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        try:
            with running() as server:
                yield server
        except Unavailable as error:
            pytest.skip(str(error))


@pytest.fixture(params=["folder", "postgresql"])
def new_place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Place]]:
    """Makes places for an index: each test that asks for one runs over both stores."""
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
