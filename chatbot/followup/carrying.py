"""A part of an earlier question changed for what a follow-up says instead: another task, size, name, place or purpose."""

import re
from collections.abc import Mapping

from chatbot.names import Name, names
from chatbot.quantities import quantities
from chatbot.words import vocabulary

# The verb of a task, for where the earlier question has one: "to train a model" becomes "to run inference with a model".
_VERBS = {"training": "train", "inference": "run inference", "fine-tuning": "fine-tune", "pre-training": "pre-train"}
_VERB_FORMS = re.compile(r"(?:train|pre-?train|fine-?tune|serve|deploy|host|predict)", re.IGNORECASE)
_METHOD = re.compile(r"\b(?:q?lora|peft|adapters?)\b", re.IGNORECASE)
_FORMAT = re.compile(r"\b(?:(?:fp|bf|tf|int|uint)-?\d+|b?float-?\d+)\b", re.IGNORECASE)
_BARE_MEMORY = re.compile(r"(?<!accelerator )(?<!device )(?<!host )(?<!GPU )\bmemory\b(?! bandwidth)", re.IGNORECASE)
_PLACED = re.compile(r"^(?P<preposition>for|on|in|at|with|under|during|over|from|per)\s+", re.IGNORECASE)
_CLAUSE = re.compile(r"\b(?P<joint>when|if|while|because)\s+(?P<subject>(?:an?|the|my|our)\s+\w+)?", re.IGNORECASE)
_SPOKEN_VOWEL = re.compile(r"(?:[AEFHILMNORSX](?=[A-Z\d])|[aeio])")


def bare(question: str) -> str:
    """A question without its closing mark."""
    return question.rstrip(" ?.!")


def with_articles(text: str) -> str:
    """ "a H100" put right to "an H100", and "an Trn1" to "a Trn1"."""
    for name in reversed(names(text)):
        before = re.search(r"\b(an?)\s$", text[: name.start], re.IGNORECASE)
        if before:
            article = before[1][0] + ("n" if _SPOKEN_VOWEL.match(text[name.start :]) else "")
            text = f"{text[: before.start()]}{article} {text[name.start :]}"
    return text


def with_size(question: str, fragment: str) -> str | None:
    """The question for a model of another size, where both give one."""
    before, new = ([q for q in quantities(text) if q.dimension == "parameters"] for text in (question, fragment))
    if not before or not new:
        return None
    size = new[-1].text if re.search(r"param", before[-1].text) else re.sub(r"[\s-]*param\w*$", "", new[-1].text)
    return question[: before[-1].start] + size + question[before[-1].end :]


def with_name(question: str, replacement: str, name: Name | None = None) -> str | None:
    """The question about other hardware: the last name of the same kind gives way; None where it has no name."""
    before = names(question)
    if not before:
        return None
    old = ([n for n in before if name and n.kind == name.kind] or list(before))[-1]
    replacement = re.sub(r"^(?:the|an?|for|with|on|of|in)\s+", "", replacement, flags=re.IGNORECASE)
    owns = "'s" if re.search(r"['’]s$", old.text) and not re.search(r"['’]s$", replacement) else ""
    after = owns + re.sub(
        r"^\s+(?:chips?|cards?|gpus?)\b", "", question[old.start + len(old.text) :], flags=re.IGNORECASE
    )
    changed = with_articles(question[: old.start] + replacement + after)
    if old.kind != "instance" and any(n.kind == "instance" for n in names(replacement)):
        # The memory of a chip is its own; an instance has other memory besides.
        return _BARE_MEMORY.sub("accelerator memory", changed)
    return changed


def with_maker(question: str, fragment: str) -> str | None:
    """The question about another maker, where both name one."""
    old, new = _maker(question), _maker(fragment)
    return question[: old.start()] + new.group() + question[old.end() :] if old and new else None


def _maker(text: str) -> re.Match[str] | None:
    written = sorted((w for ws in vocabulary()["makers"].values() for w in ws if w != "ec2"), key=len, reverse=True)
    return re.search(rf"\b(?:{'|'.join(re.escape(w) for w in written)})\b", text, re.IGNORECASE)


def with_task(question: str, fragment: str) -> str | None:
    """The question for another task; None where the fragment names no task."""
    tasks: Mapping[str, list[str]] = vocabulary()["tasks"]
    task = next((t for t in tasks if _written(t, fragment)), None)
    if task is None:
        return None
    if _written(task, question):
        return _with_method(question, fragment)
    method, swapped = _METHOD.search(fragment), _swapped(question, task)
    if swapped is None:
        purpose = fragment if fragment.startswith("for ") else f"for {fragment}"
        return _counterparts(with_place(question, purpose) or question, task)
    return f"{bare(swapped)} with {method.group()}?" if method else swapped


def _with_method(question: str, fragment: str) -> str:
    """The same task done in another way: "with QLoRA", "full fine-tuning"."""
    old, new = _METHOD.search(question), _METHOD.search(fragment)
    way = new.group() if new else re.sub(r"^(?:for|with)\s+", "", fragment)
    if old:
        return question[: old.start()] + way + question[old.end() :]
    return f"{bare(question)} with {way}?" if new else question


def with_amount(question: str, amount: str) -> str | None:
    """The question about an amount of something else: "How much energy does Trainium save?"."""
    asked = re.match(
        r"how much\s+(?:(?:less|more)\s+)?(?:\w+\s+)??(?=(?:does|do|did|can|will|would)\b)", question, re.IGNORECASE
    )
    return (
        f"How much {amount} {question[asked.end() :]}"
        if asked
        and re.fullmatch(r"\w+(?: \w+)?", amount)
        and not re.match(r"(?:the|its|their)\b", amount, re.IGNORECASE)
        else None
    )


def with_format(question: str, fragment: str) -> str | None:
    """The question about another number format: "FP8" for "bfloat16"."""
    old, new = _FORMAT.search(question), _FORMAT.search(fragment)
    return question[: old.start()] + new.group() + question[old.end() :] if old and new else None


def _swapped(question: str, task: str) -> str | None:
    others = [w for t, written in vocabulary()["tasks"].items() if t != task for w in written if _written(t, question)]
    if not others:
        return None
    pattern = "|".join(re.escape(w) for w in sorted(others, key=len, reverse=True))

    def form(match: re.Match[str]) -> str:
        if not _VERB_FORMS.fullmatch(match.group()):
            return task
        takes_object = re.match(
            r"\s+(?:an?|the|my|our|\d|large|small|big|models?)", question[match.end() :], re.IGNORECASE
        )
        return f"{_VERBS[task]} with" if task == "inference" and takes_object else _VERBS[task]

    return _counterparts(re.sub(rf"\b(?:{pattern})\b", form, question, flags=re.IGNORECASE), task)


def _counterparts(text: str, task: str) -> str:
    """What the same maker offers for the other task, where a name is made for the first alone."""
    for name in reversed(names(text)):
        entry: dict[str, str] = next((e for e in vocabulary()["hardware"] if e["name"] == name.name), {})
        if "role" in entry and (entry["role"] == "inference") != (task == "inference"):
            text = text[: name.start] + entry["counterpart"] + text[name.start + len(name.text) :]
    return text


def _written(task: str, text: str) -> bool:
    return any(re.search(rf"\b{re.escape(w)}\b", text, re.IGNORECASE) for w in vocabulary()["tasks"][task])


def with_place(question: str, fragment: str) -> str | None:
    """The question elsewhere: "on the other cluster" takes the place of "on Trainium", or is added; None for no place."""
    placed = _PLACED.match(fragment)
    if placed is None:
        return None
    old = list(re.finditer(rf"\b{placed['preposition']}\s+(?:[\w.-]+\s*){{1,3}}$", bare(question), re.IGNORECASE))
    start = old[-1].start() if old else len(bare(question))
    return f"{bare(question)[:start].rstrip()} {fragment}?"


def with_clause(question: str, fragment: str) -> str | None:
    """The question in another case: "when it has to predict" for "when a model has to be trained"."""
    old, new = _CLAUSE.search(question), _CLAUSE.match(fragment)
    if new is None or old is None or new["joint"].lower() != old["joint"].lower():
        return None
    clause = re.sub(r"\b(?:it|they)\b", lambda _: old["subject"] or "it", fragment, count=1, flags=re.IGNORECASE)
    return f"{question[: old.start()]}{clause}?"


def with_topic(question: str, topic: str, fragment: str) -> str | None:
    """The question about another thing than its topic, its verb in agreement: "What do savings plans save?"."""
    place = question.lower().find(topic.lower()) if topic else -1
    if place < 0:
        return None
    before = question[:place]
    if before.endswith(("the ", "a ", "an ")) and re.match(r"(?:the|an?)\s", fragment, re.IGNORECASE):
        before = re.sub(r"\b(?:the|an?)\s$", "", before, flags=re.IGNORECASE)
    agreed = re.sub(r"\b(do|does|is|are)\s+$", lambda m: _agreeing(m[1], fragment) + " ", before, flags=re.IGNORECASE)
    return f"{agreed}{fragment}{question[place + len(topic) :]}"


def _agreeing(verb: str, subject: str) -> str:
    several = is_plural(subject)
    return {"do": ("does", "do"), "does": ("does", "do"), "is": ("is", "are"), "are": ("is", "are")}[verb.lower()][
        several
    ]


def is_plural(subject: str) -> bool:
    """Whether a verb after this subject stands in the plural."""
    return bool(re.search(r"\band\b|[a-z]{2}(?<!s|u|i)s$", subject.strip())) and not subject.endswith(" series")
