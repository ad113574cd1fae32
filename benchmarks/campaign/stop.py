"""Stops of a PostgreSQL server in the middle of a sync, as in a power cut: nothing that was committed may be lost.

    python -m benchmarks.campaign.stop [--seed N] [--count N] [--encoder NAME]

`pg_ctl stop -m immediate` comes at a random moment of a sync that makes an index, or that brings one to another version
of its corpus and the next time back. After the restart there must be the old index or the new one, the next sync must
make the new one of it, and the interrupted sync must have ended with a sentence. The exit code is 1 otherwise.
"""

import random
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.campaign.contents import Campaign, change_corpus, contents, launch, write_corpus
from ingest import CorpusError, Database, check, sync
from tests.servers.postgres import Server, running

_SYNC = """
import sys
from pathlib import Path
from ingest import CorpusError, Database, sync
try: sync([Path(sys.argv[1])], Database(sys.stdin.readline().strip()), encoder=sys.argv[2])
except CorpusError as error: print(error)
"""


def run(folder: Path, seed: int, count: int, encoder: str) -> Campaign:
    """Stop the server in `count` syncs, in turn from nothing to a first version, on to another one and back."""
    chance, campaign = random.Random(seed), Campaign()
    versions = ("old", "new")
    corpora = {name: _corpus(folder / name) for name in versions}
    change_corpus(corpora["new"])
    with running(options="") as server:
        fresh = {name: server.database() for name in versions}
        for name in versions:
            began = time.monotonic()
            sync([corpora[name]], fresh[name], encoder=encoder)
            seconds = time.monotonic() - began + 1.0  # plus the start of a process
        known: dict[str, object] = {name: contents(fresh[name]) for name in versions}
        database, before = server.database(), "none"
        for number in range(count):
            wanted = versions[number % 2]
            moment = 1.5 * chance.random() * seconds  # some stops come after the end of the sync
            said = _stopped(server, [str(corpora[wanted]), encoder], database.address, moment)
            after = next((name for name, held in known.items() if _contents(database) == held), "none")
            campaign.outcomes[f"before: {before}", f"after: {after}"] += 1
            how = f"after {moment:.2f} s from {before} to {wanted}"
            if after not in {before, wanted}:
                campaign.breaches.append(f"{how}: there is {after}")
            if "Traceback" in said:
                campaign.breaches.append(f"{how}: {said[-300:]}")
            sync([corpora[wanted]], database, encoder=encoder)
            if contents(database) != known[wanted] or check(database):
                campaign.breaches.append(f"{how}: after the next sync it is not as a fresh one")
            before = wanted
    return campaign


def _corpus(folder: Path) -> Path:
    folder.mkdir()
    return write_corpus(folder / "corpus")


def _contents(database: Database) -> object:
    try:
        return contents(database)
    except CorpusError:
        return None


def _stopped(server: Server, arguments: list[str], address: str, moment: float) -> str:
    """Stop and restart the server in the middle of a sync; return what the sync printed."""
    process = subprocess.Popen(
        [sys.executable, "-c", _SYNC, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdin
    print(address, file=process.stdin, flush=True)
    time.sleep(moment)
    server.stop("immediate")
    server.start()
    return process.communicate(timeout=300)[0]


if __name__ == "__main__":
    sys.exit(launch(__doc__, run, 20))
