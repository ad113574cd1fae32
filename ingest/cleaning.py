"""Small idempotent str -> str functions for the texts that loaders make; files quoted as they stand skip them."""

import re
import unicodedata
from functools import reduce

# Form feeds stay: they end the pages. Zero-width joiners stay: some scripts and emoji need them.
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f\u200b\u2060\ufeff\ufffe\ud800-\udfff]")
_LINE_BREAK = re.compile("\r\n?|[\x85\u2028\u2029]")
_ODD_SPACE = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
# Looked for at the beginning of each run of spaces only, so that a long run inside a line is passed once.
_LINE_END = re.compile(r"(?<![^\S\n\f])[^\S\n\f]++(?=[\n\f]|\Z)")
_BLANK_LINES = re.compile(r"\n{4,}")


def unify_line_breaks(text: str) -> str:
    return _LINE_BREAK.sub("\n", text)


def drop_control_characters(text: str) -> str:
    """Also drops zero-width spaces and lone surrogates, which no UTF-8 file can hold."""
    return _CONTROL.sub("", text)


def drop_soft_hyphens(text: str) -> str:
    return text.replace("\u00ad", "")


def compose_characters(text: str) -> str:
    """Unicode NFC: an accent and its letter become one character. NFKC would turn "10²" into "102"."""
    return unicodedata.normalize("NFC", text)


def unify_spaces(text: str) -> str:
    return _ODD_SPACE.sub(" ", text)


def strip_line_ends(text: str) -> str:
    return _LINE_END.sub("", text)


def limit_blank_lines(text: str) -> str:
    """At most two blank lines in a row."""
    return _BLANK_LINES.sub("\n\n\n", text)


# Each one leaves intact what those before it did, so that the whole is idempotent too.
CLEANERS = (
    unify_line_breaks,
    drop_control_characters,
    drop_soft_hyphens,
    compose_characters,
    unify_spaces,
    strip_line_ends,
    limit_blank_lines,
)


def clean(text: str) -> str:
    return reduce(lambda cleaned, cleaner: cleaner(cleaned), CLEANERS, text)
