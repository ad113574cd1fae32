"""Whether the reason that a model gives for a letter speaks for another one."""

import re
from collections.abc import Iterator, Sequence

from chatbot.options import Option
from chatbot.words import content_words, stem, stems

_RULED_OUT = r"(?:wrong|incorrect|false|mistaken|ruled\s+out|eliminated|excluded|unsuitable|inappropriate)"
_NOT_RIGHT = r"(?:not|never|n['’]t)\s+(?:be\s+)?(?:(?:the|an?)\s+)?(?:\w+\s+)?(?:correct|right|suitable|appropriate|valid|answer|choice|option|fit)"
_IS = r"(?:is|are|was|would|cannot|can|could|must)"
_PUSHED_ASIDE = r"(?i:\b(?:not|rul(?:e[sd]?|ing)\s+out|eliminat\w+|exclud\w+|discard\w*|reject\w*|rather\s+than|instead\s+of)\s+(?:(?:option|choice)\s+)?[(\"“]?)"
# "A" before a word in small letters is the article.
_NO_ARTICLE = {"A": r"(?!\s+[a-z])"}


def contradicts(reason: str, choices: Sequence[str], options: Sequence[Option], *, negated: bool = False) -> bool:
    """Whether a reason speaks against a chosen option ("B is wrong because …", "not B"), or names the text of another one and
    nothing of those chosen. A question that asks what does not hold is left alone: the reason for its answer speaks against it."""
    if negated or not choices:
        return False
    taken = [o for o in options if o.letter in choices]
    return any(spoken_against(reason, option) for option in taken) or _names_another(reason, taken, options)


def spoken_against(reason: str, option: Option) -> bool:
    """Whether a text calls an option wrong or pushes it aside, by its letter or its text."""
    return any(re.search(pattern, reason, flags) for pattern, flags in _patterns(option))


def _patterns(option: Option) -> Iterator[tuple[str, re.RegexFlag]]:
    text = re.escape(option.text)
    for name, flags, tail in (
        (option.letter, re.RegexFlag(0), _NO_ARTICLE.get(option.letter, "")),
        (text, re.IGNORECASE, ""),
    ):
        yield (
            rf"(?<![\w-]){name}[)\"”]?(?:\s*\({text}\)|[.)]?\s+{text})?,?\s+{_IS}\s*(?:\w+\s+)?(?:{_RULED_OUT}|{_NOT_RIGHT})\b",
            flags,
        )
        yield rf"{_PUSHED_ASIDE}{name}(?![\w-]){tail}", flags


def _names_another(reason: str, taken: Sequence[Option], options: Sequence[Option]) -> bool:
    said = " ".join(content_words(reason))
    here = {stem(word) for word in content_words(reason)}
    others = [o for o in options if o not in taken]
    foreign = frozenset[str]().union(*(stems(o.text) for o in others))
    own = frozenset[str]().union(*(stems(o.text) for o in taken))
    named = [
        o
        for o in others
        if (text := " ".join(content_words(o.text))) and re.search(rf"(?<!\S){re.escape(text)}(?!\S)", said)
    ]
    # Of a chosen option that says no word of its own ("All of the above") nothing can be missed.
    return bool(named) and bool(own - foreign) and not (own - foreign) & here
