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
_NOTHING = re.compile(
    r"^\W*(?:unknown|n/?a|none|not (?:known|given)|tbd|todo|see (?:image|exhibit|explanation).*)?\W*$", re.IGNORECASE
)


class KeyProblem(ValueError):
    """Why a key cannot be taken; the text is shown beside the question."""


def read_key(written: str, options: Sequence[str]) -> tuple[int, ...]:
    """The places of the right options, ascending; KeyProblem where the key says nothing, or could mean two things."""
    text = _LEAD.sub("", _MARKUP.sub("", written)).strip()
    by_text = _whole_text(text, options)
    if by_text is None and _NOTHING.match(text):
        raise KeyProblem("no answer is given")
    by_letters = _letters(text, len(options))
    if by_text is not None and by_letters is not None and by_text != by_letters:
        raise KeyProblem(f"the answer {short(text)!r} is one option's letter and another option's text")
    found = by_text or by_letters or _lettered_texts(text, options)
    if found is None:
        raise KeyProblem(f"the answer {short(text)!r} is none of the options")
    return found


def plain(text: str) -> str:
    """A text as it is compared: without case, markup, further spaces and a final full stop."""
    return " ".join(_MARKUP.sub("", text).casefold().split()).rstrip(". ")


def short(text: str, limit: int = 60) -> str:
    """A text on one line, cut behind a limit of characters."""
    words = " ".join(text.split())
    return words if len(words) <= limit else words[: limit - 1] + "…"


def _whole_text(text: str, options: Sequence[str]) -> tuple[int, ...] | None:
    found = tuple(i for i, option in enumerate(options) if plain(option) == plain(text))
    if len(found) > 1:
        raise KeyProblem(f"the answer {short(text)!r} is the text of several options")
    return found or None


def _letters(text: str, offered: int) -> tuple[int, ...] | None:
    """The letters of a text that is nothing but letters; None where it is anything else."""
    tokens = _TOKEN.findall(text)
    has_capitals = any(t.isupper() for t in tokens)
    found: list[str] = []
    for token in tokens:
        if _is_letters(token, has_capitals):
            found += token.upper()
        elif token.casefold() not in _BETWEEN:
            return None
    # "e" is "and" in Italian and Portuguese; where an option E is offered it may be that one.
    if found and "e" in tokens and offered >= 5:
        raise KeyProblem(f'in the answer {short(text)!r} "e" may be an option or mean "and"')
    if found and any(t.casefold() in _ALTERNATIVES for t in tokens):
        raise KeyProblem(f"the answer {short(text)!r} leaves open which option is meant")
    if len(set(found)) < len(found):
        raise KeyProblem(f"the answer {short(text)!r} names an option twice")
    places = tuple(sorted(ord(one) - ord("A") for one in found))
    if places and places[-1] >= offered:
        raise KeyProblem(f"the answer {short(text)!r} names an option that is not there")
    return places or None


def _is_letters(token: str, has_capitals: bool) -> bool:
    """Capitals may stand together; small letters count alone and where there are no capitals, an "e" among others never."""
    if token.isupper():
        return set(token) <= set("ABCDEFGH")
    return not has_capitals and len(token) == 1 and token in "abcdfgh"


def _lettered_texts(text: str, options: Sequence[str]) -> tuple[int, ...] | None:
    """Letters with the text of their options, or one letter with an explanation behind it."""
    found: list[int] = []
    rest = text
    while match := _MARKED.match(rest):
        place = ord(match["letter"].upper()) - ord("A")
        if place >= len(options) or place in found:
            raise KeyProblem(f"the answer {short(text)!r} names an option twice or one that is not there")
        behind = _behind(match["rest"], options[place])
        if behind is None and found:
            return None
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
    return tuple(sorted(found)) or None


def _behind(text: str, option: str) -> str | None:
    """What follows an option's text where a text starts with it; None where it does not."""
    wanted = plain(option)
    for match in re.finditer(r"\S+", text):
        # Markup and spaces make a text longer than the option, but not without end.
        if match.end() > 2 * len(option) + 20:
            break
        if plain(text[: match.end()]).rstrip(",;)") == wanted.rstrip(",;)"):
            return text[match.end() :]
    return None
