"""Which unit a price is asked for: the whole machine, each GPU, or each GB of GPU memory."""

import re

from chatbot.sizing.spelled import as_read

_CARD = r"(?:gpu|card|chip|accelerator|(?![gp]\d)[a-z]{1,2}\d{1,3}\w?|inferentia ?\d?)"
EACH = re.compile(
    rf"(?:(?<!than )\b(?:per|each)|\$ ?/) ?(?:single )?{_CARD}\b(?!\.)|\b(?:price|cost|rate)\b[^.?]*\b{_CARD}[ -]hours?\b"
    rf"|\b(?:one|an?|does one|\*?useful\*?) {_CARD}(?: (?:per|an|and) |[ -]| cost per )hour\b|\bdivided by (?:\w+ )?gpus\b"
)
PER_GB = re.compile(r"(?:\bper|/|\ban?|\beach|\bevery) ?(?:gi?b|gigs?|gigabytes?)(?= |\b)(?! ?/ ?s)")


def asks_unit(question: str) -> bool:
    """Whether a price per GPU or per GB of GPU memory is asked for; the price in a row is for the whole machine."""
    return bool(EACH.search(as_read(question)) or PER_GB.search(as_read(question)))
