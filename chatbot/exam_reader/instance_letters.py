"""Decode the letters of an instance type: an r7a.xlarge is of the R family and has an AMD processor."""

import re
from functools import lru_cache

from chatbot.language.words import stem

# AWS's naming: family letters, generation, then attributes; the size follows a dot ("m7g", "c7gn.xlarge").
_TYPE = re.compile(r"(?<![\w.-])(?P<family>[a-z]|gr|im|is|inf|trn|dl|vt|hpc|mac)\d+(?P<attributes>[a-z]*)(?:-\w+)*(?:\.[\w-]+)?(?![\w-])", re.IGNORECASE)  # fmt: skip
# Other codes that look like types: H100 and B200 are chips, v5e is a TPU, L4 a card.
_NOT_FAMILIES = frozenset("abehlv")
# "The R family", "D and H instances": families named by a single capital letter.
_FAMILY = re.compile(r"(?<![\w.-])(?P<family>[C-Z])(?=(?:, [A-Z],?)*(?: (?:and|or) [A-Z])? (?:family|families|series|instances?)\b)")  # fmt: skip
_AND_FAMILY = re.compile(
    r"(?<![\w.-])(?:[C-Z], )*[C-Z] (?:and|or) (?P<family>[C-Z])(?= (?:family|families|series|instances?)\b)"
)
_PROCESSORS = {"a": "amd", "g": "graviton", "i": "intel"}
# The families whose attribute letters name the processor; those of accelerators and Apple machines use other letters.
_ATTRIBUTES_OF = frozenset("cdhimrtx")


@lru_cache(maxsize=8_192)
def families(text: str) -> frozenset[str]:
    """Return the instance families that a text names, directly or by a type, as "r family" with a stemmed "family"."""
    named = [*_FAMILY.finditer(text), *_AND_FAMILY.finditer(text), *_types(text)]
    return frozenset(f"{match['family'].lower()} {stem('family')}" for match in named)


def said_by_letters(text: str) -> list[str]:
    """Return words for what the letters of the types in a text mean: the family and the processor."""
    said = []
    for match in _types(text):
        family = match["family"].lower()
        makers = [_PROCESSORS[a] for a in match["attributes"].lower() if a in _PROCESSORS and family in _ATTRIBUTES_OF]
        said += [f"{family} family", *makers]
    return list(dict.fromkeys(said))


def _types(text: str) -> list[re.Match[str]]:
    return [match for match in _TYPE.finditer(text) if match["family"].lower() not in _NOT_FAMILIES]
