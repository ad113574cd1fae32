"""check: whether an index still is what was written into it."""

from collections.abc import Iterator
from contextlib import closing

from ingest.derived import is_complete
from ingest.document import CorpusError
from ingest.opening import explained, mending, open_store
from ingest.place import Place, place_at


def check(index: Place | str) -> tuple[str, ...]:
    """A sentence for each thing that is not what was written, with what mends it; none where all is. Changes nothing.

    Reads every page, row and file, where opening an index and asking check only what they read.
    """
    folder = place_at(index)
    try:
        with explained(folder):
            return tuple(_problems(folder))
    except CorpusError as error:
        return (str(error),)


def _problems(folder: Place) -> Iterator[str]:
    store, state = open_store(folder)
    with closing(store):
        remedy = mending(folder, store.origins())
        flaw = store.flaw()
        if flaw:
            yield f"The store is damaged ({flaw}). {remedy}"
        damage = store.damage()
        for id in damage.documents.values():
            yield f"The document {id} does not match its checksums. {remedy}"
        if damage.vectors:
            yield f"Vectors do not match their checksums ({len(damage.vectors)}). {remedy}"
        if not is_complete(folder, store, state):
            yield f"The files for searching of generation {state.generation} do not match their checksums. {remedy}"
