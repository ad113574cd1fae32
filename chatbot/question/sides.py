"""The sides of a comparison: hardware and makers."""

from functools import lru_cache

from chatbot.language.names import maker, makers, mentioned, names, relatives


def sides(text: str, entities: tuple[str, ...]) -> tuple[str, ...]:
    """Return what a question compares, at most four things: hardware first, then makers that made none of it."""
    found = _without_parts(entities)
    made = {maker(name) for name in found}
    return tuple(dict.fromkeys([*found, *(m for m in makers(text) if m not in made)]))[:4]


def _without_parts(entities: tuple[str, ...]) -> list[str]:
    """Keep one name for each side: a chip and the family that holds it are one side, two sizes of a family are two."""
    kept: list[str] = []
    for name in entities:
        if "." in name or not any(name in relatives(k) and not _siblings(name, k) for k in kept):
            kept.append(name)
    return kept


def _siblings(one: str, other: str) -> bool:
    """Whether two names are generations of one thing ("Inf1", "Inf2"): they share parts, but neither contains the other."""
    return one[:-1] == other[:-1] and one[-1:].isdigit() and other[-1:].isdigit()


@lru_cache(maxsize=4_096)
def _is_name(side: str) -> bool:
    return bool(names(side))


def speaks_of(side: str, text: str) -> bool:
    """Whether a text is about a side: it names the side or a relative of it or, for a maker, something that it made."""
    if _is_name(side):
        there = mentioned(text)
        if "." in side:
            return side.lower() in there
        return any(r.lower() in there for r in (side, *relatives(side))) or any(
            t.startswith(f"{side.lower()}.") for t in there
        )
    return side in makers(text) or any(maker(n.name) == side for n in names(text))


def names_side(side: str, text: str) -> bool:
    """Whether a text names the side itself, not only something related."""
    return side.lower() in mentioned(text) if _is_name(side) else speaks_of(side, text)
