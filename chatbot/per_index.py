"""What is read of an index once, and kept until the index is synced again."""

from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import TypeVar

from ingest import Index

_Read = TypeVar("_Read")
# So many indexes are asked at a time at most.
_KEPT = 4


def per_index(read: Callable[[Index], _Read]) -> Callable[[Index], _Read]:
    """Read each generation of an index once, however many threads ask."""
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
