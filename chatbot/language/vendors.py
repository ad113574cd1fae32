"""Find the makers whose hardware a question rules out, and texts that argue for them."""

import re
from functools import lru_cache

from chatbot.language.names import maker, makers, names

# Parts of a sentence that only concede or compare. A sentence does not argue for what stands in them.
_CONCEDED = re.compile(
    r"\b(?:whereas|while|although|though|unlike|instead of|rather than|than|vs\.?|versus|compared (?:to|with)|against|competitive with|compet(?:es?|ing) with)\b[^,;.:]*",
    re.IGNORECASE,
)
_LISTED = r"(?:(?:\s*,\s*|\s+)(?:(?:and|or|nor)\s+)?\w+)"
_IS_OUT = r"\s+(?:both\s+|all\s+|now\s+)?(?:out|off|banned|excluded|not|no|an option|options|forbidden|ruled)\b"
_OUT = rf"\b{{}}\b(?:(?:\s+\w+)?\s+(?:is|isn['’]t)|{_LISTED}{{{{0,3}}}}?\s+(?:are|aren['’]t)){_IS_OUT}"
_DEPENDENCE = r"(?:dependen\w+|relian\w+|lock-?in|depend|depends|rely|relies)"
_TOO_MUCH = rf"(?:(?:reduc|cut|lower|end|break|escap)\w*|no more|less|fewer|too|single|sole)[\s-]+(?:[\w-]+\s+)?{_DEPENDENCE}|{_DEPENDENCE}\s+(?:too|so)\s+(?:much|heavily)"
_AGAINST = rf"\b(?:bann?(?:ed|s)?|refus\w+|exclud\w+|forb\w+|off|leav\w+|drop\w*|anything but|nothing (?:of|from|by)|not|no|can['’]t|cannot|won['’]t|don['’]t|avoid\w*|without|except|other than|instead of|away from|non|besides|diversify\w*|alternatives? to|second source|less (?:dependent|reliant)|independen\w+|{_TOO_MUCH})\b[\s-]*(?:\w+\s+){{{{0,2}}}}{{}}\b"


@lru_cache(maxsize=1_024)
def refused_makers(question: str) -> frozenset[str]:
    """Return the makers that a question rules out ("no NVIDIA", "AMD is off the table")."""
    found = makers(question)
    return frozenset(m for m in found if any(re.search(p.format(m), question, re.IGNORECASE) for p in (_AGAINST, _OUT)))


def speaks_for_refused(text: str, question: str) -> bool:
    """Whether a text argues for a maker that the question rules out, and for no hardware that it allows."""
    refused = refused_makers(question)
    if not refused:
        return False
    said = _without_denials(text)
    made_by = {maker(n.name) for n in names(said)} - {None}
    return bool((set(makers(said)) | made_by) & refused) and not made_by - refused


def _without_denials(text: str) -> str:
    """Return a text without what it only concedes or compares with, and without the makers that it advises against."""
    kept = _CONCEDED.sub(" ", text)
    for name in makers(kept):
        kept = re.sub(_AGAINST.format(name), " ", kept, flags=re.IGNORECASE)
    return kept
