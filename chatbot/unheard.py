"""What a question names and no document has: hardware and other names."""

import re
from collections.abc import Sequence

from chatbot.names import Name, proper_names
from chatbot.words import STOP_WORDS, words
from ingest import Index, known_words

# Of so many words a smaller share of stop words is not English; terse questions have few as well.
_ENOUGH, _ENGLISH = 7, 0.2


def unknown_names(found: Sequence[Name], index: Index) -> tuple[str, ...]:
    """The hardware, instance types, regions and other codes that no document names."""
    return tuple(
        n.name for n in found if not any(_in_corpus(form, index) for form in (n.name, n.text, n.text.removesuffix("s")))
    )


def strangers(text: str, index: Index) -> tuple[str, ...]:
    """The proper names that neither a document nor what is known of a source has; abbreviations ("our CTO") name no product.

    None in a text that is not English: what is written with a capital there may be any word.
    """
    if _is_foreign(text):
        return ()
    unseen = [
        w for w in _capitalised(text) if not w.removesuffix("s").isupper() and not index.document_frequency(w.lower())
    ]
    known = " ".join(f"{s.title} {s.publisher or ''}" for s in index.sources()).lower() if unseen else ""
    return tuple(w for w in unseen if w.lower() not in known)


def _is_foreign(text: str) -> bool:
    said = [w for w in words(text) if w.isalpha()]
    return len(said) >= _ENOUGH and sum(w in STOP_WORDS for w in said) < _ENGLISH * len(said)


def _capitalised(text: str) -> list[str]:
    """The proper names of a text, and the word that it begins with where that is none of English."""
    first = re.match(r"\W*([A-Z][a-z]{3,})\b", text)
    begins = [first[1]] if first and first[1].lower() not in known_words() else []
    return list(dict.fromkeys([*begins, *proper_names(text)]))


def _in_corpus(name: str, index: Index) -> bool:
    """Whether a name stands in the corpus as it is written or, for a name of several words, all of its words do."""
    parts = words(name.replace("-", " "))
    return index.document_frequency(name) > 0 or (
        len(parts) > 1 and "." not in name and all(index.document_frequency(p) > 0 for p in parts)
    )
