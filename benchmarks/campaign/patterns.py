"""Run every regular expression of the program on texts that make it backtrack: none may take long.

    python benchmarks/campaign/patterns.py

`growth.py` tries functions on texts of one kind; here each pattern meets what leads it on: one of its words, then two
thousand dashes, dots, spaces, … or the word again and again. A search that takes over a second of CPU time is reported
with its place. Some hundredths of a second are what quadratic time takes, which the bounds on questions, words and
lines allow. The exit code is 1 if there is such a search.
"""

import importlib
import pkgutil
import re
import signal
import sys
import time
from collections.abc import Iterator
from functools import _lru_cache_wrapper
from types import ModuleType

import chatbot
import ingest

SECONDS = 1.0
LENGTH = 2_000
_RUNS = ("-", ".", " ", "a", "1", ",", "/", "_", "?", "a ", "1,", "- ", "a-", "x. ", "(", "|", "\n", "\n- ")


class _Late(Exception):
    pass


def patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    """Yield the compiled patterns of all modules, also those in tables and behind caches, with where they are."""
    seen: set[tuple[str, int]] = set()
    for module in _modules():
        for name, value in vars(module).items():
            for pattern in _within(value):
                if (key := (pattern.pattern, pattern.flags)) not in seen:
                    seen.add(key)
                    yield f"{module.__name__}.{name}", pattern


def _modules() -> Iterator[ModuleType]:
    for package in (chatbot, ingest):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not found.name.endswith("__main__"):
                yield importlib.import_module(found.name)


def _within(value: object, depth: int = 3) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
    elif isinstance(value, _lru_cache_wrapper) and depth == 3:
        try:
            made = value()
        except Exception:
            return
        yield from _within(made, depth - 1)
    elif depth and isinstance(value, (tuple, list, set, frozenset)):
        for item in value:
            yield from _within(item, depth - 1)
    elif depth and isinstance(value, dict):
        for item in (*value.keys(), *value.values()):
            yield from _within(item, depth - 1)


def texts(pattern: re.Pattern[str]) -> Iterator[str]:
    words = dict.fromkeys(re.findall(r"[a-zA-Z]{3,}", re.sub(r"\\.|\(\?[^)]*?[:=!>]", " ", pattern.pattern)))
    for word in dict.fromkeys(["", *list(words)[:4], *list(words)[-2:]]):
        for run in _RUNS:
            yield f"{word} {run * (LENGTH // len(run))}"
            yield f"{word}{run * (LENGTH // len(run))}!{word}"
        yield f"{word} " * (LENGTH // (len(word) + 1))


def slowest(pattern: re.Pattern[str]) -> tuple[float, str]:
    """Return the CPU seconds of the slowest search, at most twice the bound, and the beginning of its text.

    For the main thread only.
    """
    worst = (0.0, "")
    before = signal.signal(signal.SIGVTALRM, _late)
    try:
        for text in texts(pattern):
            began = time.process_time()
            signal.setitimer(signal.ITIMER_VIRTUAL, 2 * SECONDS)
            pattern.search(text)
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            worst = max(worst, (time.process_time() - began, text[:40]))
    except _Late:
        worst = (2 * SECONDS, text[:40])
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    return worst


def _late(*_: object) -> None:
    raise _Late


def main() -> int:
    count, slow = 0, 0
    for place, pattern in patterns():
        count += 1
        seconds, text = slowest(pattern)
        if seconds > SECONDS:
            slow += 1
            print(f"  {place}: {seconds:.1f} s for {text!r}: {pattern.pattern[:120]}", flush=True)
    print(f"{count} patterns, {slow} over {SECONDS} s")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
