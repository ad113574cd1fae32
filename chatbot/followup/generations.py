"""What came before a thing that was spoken of, or after it: "and the one before it?"."""

import re
from collections.abc import Iterable

from chatbot.words import vocabulary

# Who names so much else leans on nothing: "…, can be the previous generation".
_LONGEST = 10
_STEPS = {
    -1: re.compile(r"\b(?:(?:the|its) )?(?:(?:one|gpu|chip|card|generation) (?:right )?before(?: (?:it|that|this))?|(?:direct )?predecessors?|(?:previous|prior|preceding) (?:one|gpu|chip|card|generation))\b", re.IGNORECASE),
    1: re.compile(r"\b(?:(?:the|its) )?(?:(?:one|gpu|chip|card|generation) (?:right )?after(?: (?:it|that|this))?|successors?|(?:next|following) (?:one|gpu|chip|card|generation))\b", re.IGNORECASE),
}  # fmt: skip


def of_generation(question: str, earlier: Iterable[str]) -> str:
    """A turn with the name of the generation that it means of what was spoken of: "and the one before it" as "and Trainium"."""
    if len(question.split()) > _LONGEST:
        return question
    lines = [line for line in vocabulary()["generations"] if not _named(line, question)]
    for step, pattern in _STEPS.items():
        if (match := pattern.search(question)) is None or re.search(r"\b(?:what|which|who)(?:['’]s| is| was| are)? $", question[: match.start()], re.IGNORECASE):
            continue
        for text in earlier:
            for line, place in ((known, known.index(name) + step) for known in lines for name in _named(known, text)[-1:]):
                if 0 <= place < len(line):
                    return f"{question[: match.start()]}{line[place]}{question[match.end() :]}"
    return question


def _named(line: Iterable[str], text: str) -> list[str]:
    return [name for name in line if re.search(rf"(?<![\w-]){name}(?![\w-])", text, re.IGNORECASE)]
