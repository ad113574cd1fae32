"""Match model names as people write them to the names in a table: "llama3.1-70b-instruct" is Meta-Llama-3.1-70B."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from chatbot.language.words import STOP_WORDS

# Parts of names that do not identify the architecture, such as the maker, the training variant or the file format.
_NOISE = frozenset({"meta", "instruct", "base", "chat", "it", "hf", "thinking", "nvidia", "model", "ai"})
_ACTIVE = re.compile(r"a\d+(?:\.\d+)?b")
_SIZE = re.compile(r"(?:\d+x)?\d+(?:\.\d+)?b")
_RELEASE = re.compile(r"v[01](?:\.\d)?")
_VERSION = re.compile(r"[vrkmt]?\d+(?:\.\d+)*")
_TOKEN = re.compile(
    r"\d+x\d+b(?![a-z])|a\d+(?:\.\d+)?b(?![a-z0-9])|(?<![a-z])[vrkmt]\d+(?:\.\d+)*(?![a-z0-9])"
    r"|\d+(?:\.\d+)?[ -]?(?:b|bn|billion)(?![a-z0-9])|\d+(?:[._]\d)?(?![\d.]*\d)(?!\s?-?(?:bits?|[xk×]|g|gb|gib|gpus?|users?|tokens?|hours?)(?![a-z]))|[a-z]+"
)


@dataclass(frozen=True, slots=True)
class Named:
    """A span of text that names models: their rows, or a parameter count, or a name that matches no row or several."""

    start: int
    end: int
    models: tuple[str, ...] = ()
    parameters: float | None = None
    unknown: str | None = None


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    start: int
    end: int


def find_model(text: str, models: Sequence[str]) -> Named | None:
    """Return the models that a lower-case text names, or None. A size alone ("a 7B model") is not a name."""
    keys = _keys(tuple(models))
    vocabulary = {token for key in keys.values() for token in key} - STOP_WORDS
    joined = {t: name for name, key in keys.items() for t in key if re.fullmatch(r"\d+x\d+b", t)}
    tokens = list(_tokens(text))
    found: list[Named] = []
    position = 0
    while position < len(tokens):
        if tokens[position].text in joined:
            found.append(Named(tokens[position].start, tokens[position].end, (joined[tokens[position].text],)))
        elif tokens[position].text in heads(tuple(models)) and (named := _named(text, tokens, position, keys, vocabulary)):
            found.append(named)
            position = next((i for i, t in enumerate(tokens) if t.start >= named.end), len(tokens))
            continue
        position += 1
    if not found:
        return None
    rows = tuple(dict.fromkeys(name for named in found for name in named.models))
    first = found[0]
    return Named(first.start, found[-1].end, rows, first.parameters, None if rows else first.unknown)


@lru_cache(maxsize=16)
def heads(models: tuple[str, ...]) -> frozenset[str]:
    """The words that model names begin with: "llama", "qwen"."""
    return frozenset(key[0] for key in _keys(models).values())


def sibling(model: str, size: str, models: Sequence[str]) -> str | None:
    """The same model in another size ("what about the 8B?"); None unless exactly one name in the table matches."""
    key = _key(model)
    wanted = [size if token == _size(key) else token for token in key if not _ACTIVE.fullmatch(token)]
    found = _matches(wanted, _keys(tuple(models)))
    return found[0] if len(found) == 1 else None


def family(written: str, models: Sequence[str]) -> tuple[str, ...]:
    """The models whose names contain every word of an ambiguous name: "gpt oss"."""
    words = [t.text for t in _tokens(written.lower()) if t.text not in _NOISE]
    return tuple(name for name, key in _keys(tuple(models)).items() if words and all(w in key or any(_is_version_of(w, k) for k in key) for w in words))


def _named(
    text: str, tokens: Sequence[_Token], head: int, keys: Mapping[str, tuple[str, ...]], vocabulary: Collection[str]
) -> Named | None:
    """Resolve the run of words around a head; None if the head stands alone, as in ordinary text ("step", "super")."""
    last = head
    while last + 1 < len(tokens) and _continues(text, tokens, head, last, vocabulary):
        last += 1
    first = (
        head - 1
        if head and _SIZE.fullmatch(tokens[head - 1].text) and _adjoin(text, tokens[head - 1], tokens[head])
        else head
    )
    words = [t.text for t in tokens[first : last + 1] if t.text not in _NOISE and not _RELEASE.fullmatch(t.text)]
    sizes = [w for w in words if _SIZE.fullmatch(w)]
    release = next((float(t.text[1:]) for t in tokens[first : last + 1] if _RELEASE.fullmatch(t.text)), None)
    rows = _matches(words, keys, release)
    if len(words) == 1:
        return None
    start, end = tokens[first].start, tokens[last].end
    if len(rows) == 1:
        return Named(start, end, tuple(rows))
    parameters = float(sizes[0].rstrip("b")) * 1e9 if sizes and "x" not in sizes[0] else None
    return Named(start, end, (), parameters, None if parameters else text[start:end])


def _continues(text: str, tokens: Sequence[_Token], head: int, last: int, vocabulary: Collection[str]) -> bool:
    """Whether the next word belongs to the name: a size, a word that names contain, or a version right after the head."""
    token = tokens[last + 1]
    if not _adjoin(text, tokens[last], token):
        return False
    if _SIZE.fullmatch(tokens[last].text) and _RELEASE.fullmatch(token.text):
        return True
    if _SIZE.fullmatch(token.text) or _ACTIVE.fullmatch(token.text) or token.text in _NOISE:
        return True
    return (token.text.isalpha() and token.text in vocabulary) or (
        bool(_VERSION.fullmatch(token.text)) and last <= head + 1 and not _VERSION.fullmatch(tokens[last].text)
    )


def _adjoin(text: str, left: _Token, right: _Token) -> bool:
    return bool(re.fullmatch(r"[ \-_/:]{0,2}", text[left.end : right.start]))


def _matches(words: Sequence[str], keys: Mapping[str, tuple[str, ...]], release: float | None = None) -> list[str]:
    """The models that have all the words, limited to the best: fewest inexact versions, then fewest other words.

    Those of the release are preferred, if there are any.
    """
    ranked: dict[str, tuple[int, int]] = {}
    for name, key in keys.items():
        if all(w in key or any(_is_version_of(w, k) for k in key) for w in words):
            inexact = sum(w not in key for w in words)
            ranked[name] = (inexact, sum(1 for k in key if k not in words and not _ACTIVE.fullmatch(k)) - inexact)
    best = min(ranked.values(), default=None)
    found = [name for name, rank in ranked.items() if rank == best]
    found = [name for name in found if _release(name) == release] or found
    # If the names differ only in their version ("llama 70b"), the newest is meant. Names with the same key are files of
    # one architecture.
    if len({_without_version(keys[name]) for name in found}) == 1:
        return [max(found, key=lambda name: (_version(keys[name]), _release(name), -found.index(name)))]
    return found


def _release(name: str) -> float:
    """The release in a model's name: 0.3 in "Mistral-7B-v0.3"; 0 if there is none."""
    return max(map(float, re.findall(r"-v(\d+(?:\.\d+)?)\b", name)), default=0.0)


def _without_version(key: Sequence[str]) -> tuple[str, ...]:
    return tuple(t for t in key if not _VERSION.fullmatch(t))


def _version(key: Sequence[str]) -> float:
    return max((float(t) for t in key if re.fullmatch(r"\d+(?:\.\d+)?", t)), default=0.0)


def _is_version_of(written: str, version: str) -> bool:
    """Whether the written version is a short form of the other: 3 for 3.1."""
    return bool(_VERSION.fullmatch(written)) and version.startswith(f"{written}.")


def _size(key: Sequence[str]) -> str | None:
    return next((t for t in key if _SIZE.fullmatch(t)), None)


def _tokens(text: str) -> list[_Token]:
    return [_Token(_canonical(m.group()), m.start(), m.end()) for m in _TOKEN.finditer(text)]


def _canonical(written: str) -> str:
    written = written.replace("_", ".")
    return re.sub(r"[ -]?(?:bn?|billion)$", "b", written) if written[0].isdigit() else written


@lru_cache(maxsize=16)
def _keys(models: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """The words of each name without maker and noise: "meta-llama/Meta-Llama-3.1-70B" is llama, 3.1, 70b."""
    return {name: key for name in models if (key := _key(name))}


def _key(name: str) -> tuple[str, ...]:
    bare = re.sub(r"-(?:v0\.\d|v1|\d+e|\d+k|bf16|fp8)\b", "", name.split("/")[-1].lower())
    return tuple(t.text for t in _tokens(bare) if t.text not in _NOISE)


def display_name(name: str) -> str:
    """A name of the table as it is told: "meta-llama/Meta-Llama-3.1-8B-Instruct" is Llama-3.1-8B."""
    return re.sub(r"^Meta-(?=Llama)|-(?:hf|Instruct)$|-v0\.1$", "", name.rpartition("/")[2])
