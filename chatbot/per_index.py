"""Cache what is read from an index, until the index is synced again."""

from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import TypeVar

from ingest import Index

_Read = TypeVar("_Read")
# Index generations kept for each function.
_KEPT = 4


def per_index(read: Callable[[Index], _Read]) -> Callable[[Index], _Read]:
    """Cache a function of an index: it runs once for each generation of the index, for all threads."""
    found: OrderedDict[tuple[str, int, str], _Read] = OrderedDict()
    lock = Lock()

    @wraps(read)
    def load(index: Index) -> _Read:
        key = (str(index.path), index.generation, index.updated)
        with lock:
            if key not in found:
                found[key] = read(index)
                while len(found) > _KEPT:
                    found.popitem(last=False)
            found.move_to_end(key)
            return found[key]

    return load
