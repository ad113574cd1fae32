"""The wording of a text: its words without Markdown marks, its label, and its sentences."""

import re

SEPARATOR = re.compile(r"(?<!\s)\s*+(?:→|->|=>|⇒|:\*\*|\*\*:|:)\s+|(?<!\s)\s++[–—]\s+|(?<!\s)\s++β\s+")
SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)\]β\\]*\s+(?=[\"'“‘(\[*_\\]*[A-Z0-9])")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|vs|etc|approx|incl|fig|eq|vol|al|dr|mr|mrs|prof|inc|ltd|co|st|sr|jr|cf)|(?<![\d\s]\s)(?<!\d)(?<!\d\s)(?<![/'’°])\b[A-Z])\.$",
    re.IGNORECASE,
)
# Markdown escapes. While marks are removed, a private-use character stands in for each escaped character.
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_LINE_BREAK = re.compile(r"\\$", re.MULTILINE)
_SHIFT = 0xE000
_RESTORED = {_SHIFT + ord(sign): sign for sign in "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"}
_FOOTNOTE = re.compile(r"\s?(?:\[\[\d{1,3}\]\]|\[\d{1,3}(?:\s?[,–-]\s?\d{1,3})*\])(?:\([^()\s]*\))?")
# "No." in "No. 4" ends no sentence. A short answer ("Yes.") belongs to the next sentence, which gives the reason.
_NUMBER_SIGN = re.compile(r"\bno\.$", re.IGNORECASE)
_SHORT_ANSWER = re.compile(r"\W*(?:yes|no)\.", re.IGNORECASE)
# No abbreviation is longer than this.
_ABBREVIATED = 12
# A sentence that begins like this refers back to what the sentence before it names.
LEANS_BACK = re.compile(
    r"^(?:(?:in|for|with) (?:such|these|this|those|that)|it|they|these|this|those|that|its|their|such|both|each|the (?:chips?|instances?|accelerators?|hardware|sdk|results?))\b",
    re.IGNORECASE,
)


def plain(text: str) -> str:
    """Return a text without Markdown (escapes, emphasis, code, links, list and footnote marks); collapse white space."""
    escaped = "\\" in text
    if escaped:
        text = _LINE_BREAK.sub("", _ESCAPED.sub(lambda sign: chr(_SHIFT + ord(sign[1])), text))
    # The text between two marks is bounded, so that an unclosed mark does not start a long search.
    text = re.sub(r"^\s*(?:>\s*)*(?:#{1,6}\s+|[-*+•]\s+|\d{1,2}[.)]\s+)?", "", text)
    text = _FOOTNOTE.sub("", text)
    text = re.sub(r"\[!\[[^\]]{0,500}\]\([^()]{0,500}\)\]\([^()]{0,500}\)", "", text)
    text = re.sub(r"!?\[([^\]]{0,500})\]\((?:[^()\s]|\([^()]{0,500}\)){0,2000}\)", r"\1", text)
    text = re.sub(r"(\*\*|__|``?)(?=\S)(.{1,1000}?)(?<=\S)\1", r"\2", text)
    text = re.sub(r"(?<![\w*])[*_](?=\S)([^*_]{1,1000}?)(?<=\S)[*_](?![\w*])", r"\1", text)
    text = re.sub(r"\*\*|</?[a-zA-Z][^>]{0,500}>", "", text)
    text = re.sub(r"(?<!\s)\s++β\s+|(?<!\s)\s*+(?:→|⇒)\s*", ": ", text)
    if escaped:  # an escaped "[1]" must not look like a citation either
        text = _FOOTNOTE.sub("", text.translate(_RESTORED))
    return re.sub(r"\s+", " ", text).strip()


def label_of(text: str) -> tuple[str, str]:
    match = SEPARATOR.search(text)
    if match and 0 < match.start() <= 70 and len(text[: match.start()].split()) <= 8 and text[match.end() :].strip():
        return text[: match.start()].strip(" *_`"), text[match.end() :].strip()
    return "", text


def lead_of(text: str) -> str:
    """Return what to call a parent item: its label, or its first words."""
    label, _ = label_of(text)
    return (label or text).rstrip(":")[:90]


def sentences(text: str) -> list[tuple[int, int]]:
    """Return the trimmed spans of the sentences in a text. An abbreviation or an initial does not end a sentence."""
    spans, start = [], 0
    for match in SENTENCE_END.finditer(text):
        if not _goes_on(text, start, match):
            spans.append((start, match.start() + len(match.group().rstrip())))
            start = match.end()
    spans.append((start, len(text)))
    return [(s + len(t) - len(t.lstrip()), s + len(t.rstrip())) for s, e in spans if (t := text[s:e]).strip()]


def _goes_on(text: str, start: int, end: re.Match[str]) -> bool:
    """Whether the sentence that began at `start` continues after what looks like its end."""
    last = text[max(start, end.start() - _ABBREVIATED) : end.start()].replace("\\", "")
    return bool(
        _ABBREVIATION.search(last)
        or (_NUMBER_SIGN.search(last) and text[end.end() : end.end() + 1].isdigit())
        or _SHORT_ANSWER.fullmatch(text, start, end.start())
    )
