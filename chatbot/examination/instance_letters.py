"""What the letters of an instance type say: an r7a.xlarge is of the R family, and its processor is AMD's."""

import re
from functools import lru_cache

from chatbot.words import stem

# AWS's naming: family letters, generation, then attributes; the size follows a dot ("m7g", "c7gn.xlarge").
_TYPE = re.compile(r"(?<![\w.-])(?P<family>[a-z]|gr|im|is|inf|trn|dl|vt|hpc|mac)\d+(?P<attributes>[a-z]*)(?:-\w+)*(?:\.[\w-]+)?(?![\w-])", re.IGNORECASE)  # fmt: skip
# Codes of other things look like types: H100 and B200 are chips, v5e a TPU, L4 a card.
_NOT_FAMILIES = frozenset("abehlv")
# "The R family", "D and H instances": a capital by itself.
_FAMILY = re.compile(r"(?<![\w.-])(?P<family>[C-Z])(?=(?:, [A-Z],?)*(?: (?:and|or) [A-Z])? (?:family|families|series|instances?)\b)")  # fmt: skip
_AND_FAMILY = re.compile(
    r"(?<![\w.-])(?:[C-Z], )*[C-Z] (?:and|or) (?P<family>[C-Z])(?= (?:family|families|series|instances?)\b)"
)
_PROCESSORS = {"a": "amd", "g": "graviton", "i": "intel"}
# The families of accelerators and Apple machines have other letters behind their number.
_ATTRIBUTES_OF = frozenset("cdhimrtx")


@lru_cache(maxsize=8_192)
def families(text: str) -> frozenset[str]:
    """The instance families that a text names or has types of, as the stems of "r family"."""
    named = [*_FAMILY.finditer(text), *_AND_FAMILY.finditer(text), *_types(text)]
    return frozenset(f"{match['family'].lower()} {stem('family')}" for match in named)


def said_by_letters(text: str) -> list[str]:
    """Words for what the types in a text say by their letters: the family, and whose processor it is."""
    said = []
    for match in _types(text):
        family = match["family"].lower()
        makers = [_PROCESSORS[a] for a in match["attributes"].lower() if a in _PROCESSORS and family in _ATTRIBUTES_OF]
        said += [f"{family} family", *makers]
    return list(dict.fromkeys(said))


def _types(text: str) -> list[re.Match[str]]:
    return [match for match in _TYPE.finditer(text) if match["family"].lower() not in _NOT_FAMILIES]
