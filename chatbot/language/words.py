"""Which words count as the same: tokens, stems, stop words and synonyms."""

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from importlib import resources
from threading import Lock
from typing import Any

import snowballstemmer

WORD = re.compile(r"[a-z0-9]+(?:\.[0-9]*[a-z0-9]+)*\+?%?", re.IGNORECASE)
_STOP_WORDS = """
a about according actually after again all also always am an and answer any anyone are article articles as at back
based be because been before being both but by called can case come comes corpus could did do doc docs document
documents does doing don done down each else even ever every exactly few first for from general get gets give given
gives go goes going good got guide guides had has have having he hello help her here hi him his how i if in instead
into is it its itself just kind know let like list listed lists ll look make makes many may me mean mention
mentioned mentions might mine more most much must my need needs no nor not notes now of off ok okay on one ones
only or other others our out over own page pages per please pretty put question quite rather re really regarding
right said same say says she should since so some someone something source sources still such sure take tell text
texts than thank thanks that the their them themselves then there these they thing things think this those though
through to too true two under until up upon us using ve versus very via vs want wants was way we well were what
whats when where whether which while who whom whose why will wish with within without wonder would yes yet you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())

# A page with fewer odd terms than this may mean them literally.
_SPUN_FROM = 8
_PLURAL_CODE = re.compile(r"^([a-z]+\d+)s$")
_PLURAL_UNIT = re.compile(r"[a-z]{1,2}pus")
_stemmer = snowballstemmer.stemmer("english")
# The stemmer stores its current word in itself. Two threads in it at once would cut each other's words, and the cache
# would keep the result.
_stemming = Lock()


def words(text: str) -> list[str]:
    """Return the words of a text in lower case. "trn1.32xlarge", "9.8" and "50%" are one word each; hyphens split words."""
    return [match.group().lower() for match in WORD.finditer(text)]


def content_words(text: str) -> list[str]:
    """Return the words that carry meaning, in order, without repeats."""
    return list(_content_words(text))


# Passages are read again and again. Cached texts share their words, which would otherwise take most of the memory.
@lru_cache(maxsize=8_192)
def _content_words(text: str) -> tuple[str, ...]:
    found = dict.fromkeys(w for w in words(text) if w not in STOP_WORDS and (len(w) > 1 or w.isdigit()))
    return tuple(map(sys.intern, found))


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return the English stem (Snowball). A word with digits only loses the s of a plural ("h100s")."""
    if any(c.isdigit() for c in word):
        return _PLURAL_CODE.sub(r"\1", word)
    # Snowball takes the ending of "vcpus" for that of "campus".
    if _PLURAL_UNIT.fullmatch(word):
        return word[:-1]
    with _stemming:
        return str(_stemmer.stemWord(word))


@lru_cache(maxsize=16_384)
def synonyms(word: str) -> frozenset[str]:
    """Return the names of the synonym groups that a word belongs to."""
    return frozenset(_groups().get(stem(word), ()))


def stems(text: str) -> frozenset[str]:
    """Return the stems of a text's content words."""
    return frozenset(stem(w) for w in content_words(text))


@lru_cache(maxsize=8_192)
def stems_and_groups(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the stems of a text's content words, and the synonym groups they belong to."""
    return stems(text), frozenset(g for w in content_words(text) for g in synonyms(w))


def covered(wanted: Iterable[str], text: str, *, synonym: float = 1.0) -> list[float]:
    """Return for each word 1 if a text has it, `synonym` if the text has a synonym of it, else 0."""
    there, groups = stems_and_groups(text)
    return [1.0 if stem(word) in there else synonym if synonyms(word) & groups else 0.0 for word in wanted]


def is_spun(text: str) -> bool:
    """Whether a text is word-spun: it has at least _SPUN_FROM of the odd terms in the vocabulary's table."""
    return len({match.group().lower() for match in _spun().finditer(text)}) >= _SPUN_FROM


@lru_cache(maxsize=4_096)
def unspun(text: str) -> str:
    """Return a word-spun text with its odd terms replaced by the usual ones; for reading only, never for quoting."""
    table = dict(vocabulary()["spun"])
    return _spun().sub(lambda match: str(table[match.group().lower()]), text)


@cache
def _spun() -> re.Pattern[str]:
    written = sorted((odd for odd, _ in vocabulary()["spun"]), key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(re.escape(w) for w in written)})\b", re.IGNORECASE)


@cache
def vocabulary() -> dict[str, Any]:
    """Load the data of `vocabulary.toml`."""
    return tomllib.loads(resources.files("chatbot.language").joinpath("vocabulary.toml").read_text(encoding="utf-8"))


@lru_cache(maxsize=8_192)
def entries_in(section: str, text: str) -> tuple[str, ...]:
    """Return the entries of a vocabulary section that a text names by any of their words, in the vocabulary's order."""
    lowered = text.lower()
    written = vocabulary()[section].items()
    return tuple(name for name, words_ in written if any(re.search(rf"\b{re.escape(w)}\b", lowered) for w in words_))


@cache
def _groups() -> dict[str, set[str]]:
    groups: dict[str, set[str]] = {}
    for name, member in _members():
        groups.setdefault(stem(member), set()).add(name)
    return groups


def _members() -> Iterator[tuple[str, str]]:
    for name, members in vocabulary()["synonyms"].items():
        for member in members:
            if len(parts := words(member)) == 1:
                yield name, parts[0]
