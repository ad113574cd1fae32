"""Answer keys as people write them: "A, C", "AC", "A y D", "B. text", "Option B", an option's whole text."""

import re
from collections.abc import Sequence

_MARKUP = re.compile(r"[*_`\u200b]|</?(?:b|strong|em|i|p|u)>", re.IGNORECASE)
_LEAD = re.compile(r"^\s*+(?:(?:options?|choices?|letters?)\b\s*+(?::\s*+)?)+(?=\W*[A-Ha-h]\b)", re.IGNORECASE)
_TOKEN = re.compile(r"[^\W\d_]+|\S")
_ALTERNATIVES = frozenset({"/", "or", "oder", "ou"})
_BETWEEN = _ALTERNATIVES | {*",;&+()[].", "and", "und", "et", "y", "e"}
_MARKED = re.compile(r"^\W*?[(\[]?(?P<letter>[A-Ha-h])[)\]]?(?:\s*[.:)–—-]+\s*|\s+[(])(?P<rest>.*)$", re.DOTALL)
_NEXT = re.compile(r"^[\s,;&|.]*(?:and\s+)?(?=[(\[]?[A-H][)\]]?\s*[.:)–—-])")
_ANOTHER = re.compile(r"[,;&\n]\s*[(\[]?[A-H][.)]\s")
_NOTHING = re.compile(r"\W*(?:(?:unknown|n/?a|none|not (?:known|given)|tbd|todo)\W*|see (?:image|exhibit|explanation).*)?", re.IGNORECASE)


class KeyProblem(ValueError):
    """An answer key that cannot be used; the message is shown beside the question."""


def read_key(written: str, options: Sequence[str]) -> tuple[int, ...]:
    """Return the indexes of the right options, ascending; raises KeyProblem for an empty, unknown or ambiguous key."""
    text = _LEAD.sub("", _MARKUP.sub("", written)).strip()
    by_text = tuple(i for i, option in enumerate(options) if plain(option) == plain(text))
    if len(by_text) > 1:
        raise KeyProblem(f"the answer {short(text)!r} is the text of several options")
    if not by_text and _NOTHING.fullmatch(text):
        raise KeyProblem("no answer is given")
    by_letters = _letters(text, len(options))
    if by_text and by_letters and by_text != by_letters:
        raise KeyProblem(f"the answer {short(text)!r} is one option's letter and another option's text")
    found = by_text or by_letters or _lettered_texts(text, options)
    if not found:
        raise KeyProblem(f"the answer {short(text)!r} is none of the options")
    return found


def plain(text: str) -> str:
    """Normalise a text for comparison: no case, markup, repeated spaces or final full stop."""
    return " ".join(_MARKUP.sub("", text).casefold().split()).rstrip(". ")


def short(text: str, limit: int = 60) -> str:
    """Return a text on one line, cut to at most `limit` characters."""
    words = " ".join(text.split())
    return words if len(words) <= limit else words[: limit - 1] + "…"


def _letters(text: str, offered: int) -> tuple[int, ...]:
    """Return the option indexes of a key that is nothing but letters; () for any other text.

    Capitals may be joined ("AC"). Lower-case letters count only singly and if there are no capitals; an "e" never counts.
    """
    tokens = _TOKEN.findall(text)
    small = "" if any(t.isupper() for t in tokens) else "abcdfgh"
    letters = {t for t in tokens if (t.isupper() and set(t) <= set("ABCDEFGH")) or (len(t) == 1 and t in small)}
    found = "".join(t for t in tokens if t in letters).upper()
    between = {t.casefold() for t in tokens if t not in letters}
    if not found or not between <= _BETWEEN:
        return ()
    # "e" is "and" in Italian and Portuguese, but may also mean option E if there is one.
    if "e" in tokens and offered >= 5:
        raise KeyProblem(f'in the answer {short(text)!r} "e" may be an option or mean "and"')
    if between & _ALTERNATIVES:
        raise KeyProblem(f"the answer {short(text)!r} leaves open which option is meant")
    if len(set(found)) < len(found):
        raise KeyProblem(f"the answer {short(text)!r} names an option twice")
    places = tuple(sorted(ord(one) - ord("A") for one in found))
    if places[-1] >= offered:
        raise KeyProblem(f"the answer {short(text)!r} names an option that is not there")
    return places


def _lettered_texts(text: str, options: Sequence[str]) -> tuple[int, ...]:
    """Return the option indexes of letters followed by their option's text, or of one letter with an explanation."""
    found: list[int] = []
    rest = text
    while match := _MARKED.match(rest):
        place = ord(match["letter"].upper()) - ord("A")
        if place >= len(options) or place in found:
            raise KeyProblem(f"the answer {short(text)!r} names an option twice or one that is not there")
        behind = _behind(match["rest"], options[place])
        if behind is None and found:
            return ()
        found.append(place)
        if behind is None:
            if any(plain(match["rest"]) == plain(option) for option in options):
                raise KeyProblem(f"the answer {short(text)!r} gives one option's letter and another's text")
            if _ANOTHER.search(match["rest"]):  # a second letter further on may be a second answer
                raise KeyProblem(f"the answer {short(text)!r} cannot be told from its explanation")
            break
        if not (following := _NEXT.match(behind)):
            break
        rest = behind[following.end() :]
    return tuple(sorted(found))


def _behind(text: str, option: str) -> str | None:
    """Return the rest of a text that starts with an option's text; None if it does not."""
    wanted = plain(option).rstrip(",;)")
    # Markup and spaces may make the text longer than the option; the slice bounds the search.
    ends = [m.end() for m in re.finditer(r"\S+", text[: 2 * len(option) + 20])]
    return next((text[end:] for end in ends if plain(text[:end]).rstrip(",;)") == wanted), None)
