"""Follow-ups that react to an answer: doubt it, compare with it, add a condition, ask for another size or for something else."""

import re
from collections.abc import Sequence

from chatbot.asked_quantity import asked_dimensions
from chatbot.followup.carrying import bare, is_plural, with_name, with_size
from chatbot.followup.referents import (
    HARDWARE_NOUN,
    Said,
    Sizes,
    answered,
    hardware,
    joined,
    pair,
    seeks_name,
    singular,
)
from chatbot.names import makers, names

_DOUBT = re.compile(
    r"^\W*(?:but |and |so )?(?:(?P<why>(?:(?:and )?why|how so|how come|why is (?:that|it)|what makes (?:it|that) so)(?P<not> not)?)|(?P<really>really|are you sure|is it))\W*$",
    re.IGNORECASE,
)
_WHY_NOT = re.compile(r"^why not\s+(?:use\s+|take\s+|choose\s+|pick\s+)?(?P<other>.+?)\W*$", re.IGNORECASE)
# "Which EC2 series is the greenest": whatever the answer names can take the place of "which EC2 series".
_SELECTS = re.compile(
    r"^\W*(?:which|what)\s+(?P<noun>(?:[\w-]+\s+){1,12}?)??(?P<verb>is|are|has|have|can|will|should|would|do|does|competes?|suits?|fits?|offers?|saves?|needs?|uses?)\s+(?P<rest>.+)$",
    re.IGNORECASE,
)
_PERSON = re.compile(r"(?P<who>i|we|you|one)\s+(?P<verb>\w+)\s*(?P<rest>.*)$", re.IGNORECASE)
_OF_NAME = re.compile(r"^(?P<verb>is|are|can|does)\s+(?P<rest>.+)$", re.IGNORECASE)
_CLAIM = re.compile(
    r"\b(?:(?P<says>says?|said|claims?|written|states?)\s+(?:that|so|this|it)\b"
    r"|(?P<verb>back|confirm|prove|is|source for|proof for|proof of|evidence for|evidence of)\s+(?:that|this|it)\b(?P<after>(?:\s+up)?(?=\s*[?.,]|$)|(?=\s+(?:also |still )?(?:true|right|correct)\b)))",
    re.IGNORECASE,
)
_MEANS = re.compile(
    r"^you (?:mention(?:ed)?|say|said|speak of|spoke of|wrote|talk about|talked about)\s+(?P<words>[^.?!,]{3,40})[.,;:!]\s+(?P<which>(?:which|what) [\w-]+)(?: (?:do|did) you mean| (?:is|are) (?:that|those|these|meant))?\W*$",
    re.IGNORECASE,
)
_AGAINST = re.compile(
    r"^(?:compare[ds]?\s+(?:(?:that|it|this|them|those)\s+)?(?:to|with|against)|vs\.?|versus|against|relative to)\s+(?P<other>.+?)\W*$",
    re.IGNORECASE,
)
_COMPARATIVE = r"(?P<more>(?:more|less) \w+|(?!never|ever|other|however|power|number|server|cluster|per|over|under|after|either|whether|together)\w{3,}er|better|worse)"
_BETTER = re.compile(
    rf"^(?P<asks>(?:is there |are there )?(?:anything|something|an?|any)|what(?:'s| is| would be)|which(?: one)?(?:'s| is| would be)?)?\s*{_COMPARATIVE}(?: ones?| options?| alternatives?| choices?)?\W*$",
    re.IGNORECASE,
)
_ELSE = re.compile(
    r"^(?:(?:is there |do you have )?(?:anything|something|what|any|which|one|(?:any )?alternatives?|(?:any |other )?options?)\s*)?(?P<how>other than|except|besides|apart from|not from|without)\s+(?P<other>.+?)\W*$"
    r"|^(?:what|who|anything|something) else|^(?:any |are there (?:any )?)?(?:other )?(?:alternatives?|options?|others?)\W*$",
    re.IGNORECASE,
)
_SUPPOSES = re.compile(r"^(?:what if|if|even if|assuming|(?P<unless>without|unless))\b", re.IGNORECASE)
_STATES = re.compile(r"^(?:i|we|my|our)\b(?!.*\?)", re.IGNORECASE)
_RESIZES = re.compile(
    r"^(?:it|that|ours?|mine|the model|this)(?:'s|\s+(?:is|will|would|was|has|might|could))\b(?!.*\?)", re.IGNORECASE
)
_ONLY = re.compile(
    r"^(?P<how>only|just)\s+(?P<what>[\w.]+(?:\s+(?!of\b)\w+)?)(?:\s+of (?:them|those|these))?\W*$", re.IGNORECASE
)
_PURPOSE = re.compile(r"\b(?:for|to)\s+[^?.,;]+$", re.IGNORECASE)
_SIBLING = re.compile(
    r"\b(?:the\s+|its\s+)?(?P<size>bigger|larger|largest|biggest|smaller|smallest|other|little|small|big|large)\s+(?:one|sister|brother|sibling|instance|size|type|version|variant)\b",
    re.IGNORECASE,
)
_PROPERTY_OF = re.compile(
    r"(?:the\s+)?(?P<property>(?!same\b)[\w-]+(?:\s[\w-]+){0,2})\s+(?:of|in|on|for)\s+", re.IGNORECASE
)
_LARGER = {"bigger", "larger", "big", "large"}


def of_doubt(text: str, said: Said) -> str | None:
    """ "Why?" and "why not the P one?" ask for reasons of what was answered."""
    if doubt := _DOUBT.match(text):
        if doubt["really"]:
            return said.question
        reason = _reason(said, *(answered(said)[:1] or [""]), denied=False) if not doubt["not"] else None
        return reason or f"{bare(said.question)}, and why{doubt['not'] or ''}?"
    rejected = _WHY_NOT.match(text)
    if rejected is None or len(rejected["other"].split()) > 14:
        return None
    return _reason(said, noun_of_one(rejected["other"], said), denied=True)


def _reason(said: Said, thing: str, *, denied: bool) -> str | None:
    selects = _SELECTS.match(bare(said.question))
    if not thing or selects is None or not (selects["noun"] or _PERSON.match(selects["rest"])):
        return None
    verb, rest, no = selects["verb"].lower(), selects["rest"], "not " * denied
    if person := _PERSON.match(rest):
        return f"Why {verb} {person['who']} {no}{person['verb']} {thing} {person['rest']}".rstrip() + "?"
    if verb in ("is", "are", "can", "will", "should", "would"):
        verb = {"are": "is"}.get(verb, verb) if not is_plural(thing) else verb
        return f"Why {verb} {thing} {no}{rest}?"
    base = {"has": "have", "does": ""}.get(verb, verb.removesuffix("s"))
    return f"Why does {thing} {no}{base} {rest}?" if base and verb != "do" else None


_ORDERS = r"(?:first|second|third|last|latter|former|other|same|bigger|larger|smaller|largest|biggest|smallest|big|small|large|little)\b"


def proposal(said: Said, thing: str) -> str | None:
    """ "What about Gaudi?" where hardware was sought: "Should I use Gaudi to train a 200B model?"."""
    selects = _SELECTS.match(bare(said.question))
    if selects is None or not seeks_name(said.question):
        return None
    verb, rest = selects["verb"].lower(), selects["rest"]
    if person := _PERSON.match(rest):
        return f"{verb.capitalize()} {person['who']} {person['verb']} {thing} {person['rest']}".rstrip() + "?"
    if verb in ("is", "are", "can", "will", "should", "would"):
        return f"{'Is' if verb == 'are' and not is_plural(thing) else verb.capitalize()} {thing} {rest}?"
    base = {"has": "have", "does": "", "do": ""}.get(verb, verb.removesuffix("s"))
    return f"Does {thing} {base} {rest}?" if base else None


def noun_of_one(text: str, said: Said) -> str:
    """ "The P one" and "the fast one" with the noun of the last question: "the P series", "the fast TPU"."""
    noun = re.search(
        r"\b(?:which|what|whose)\s+((?:[\w-]+\s+){0,2}?(?:series of EC2|" + HARDWARE_NOUN + r"|TPU))\b",
        said.question,
        re.IGNORECASE,
    )
    if noun is None:
        return text
    text = re.sub(r"\b([A-Z]) one\b", rf"\1 {'series' if 'series' in noun[1] else noun[1]}", text)
    return re.sub(
        rf"\b(the(?: (?!{_ORDERS})\w+)?|another|a (?!{_ORDERS})\w+) one\b", rf"\1 {noun[1]}", text, flags=re.IGNORECASE
    )


def of_claim(text: str, said: Said) -> str | None:
    """ "Who says that?" asks about what was answered, said in full."""
    claim, statement = _CLAIM.search(text), _statement(said)
    if claim is None or hardware(text):
        return None
    if not statement:
        return f"{bare(said.question)}, and {text}" if len(text.split()) <= 9 else None
    if claim["says"]:
        return f"{text[: claim.start()]}{claim['says']} that {statement}{text[claim.end() :]}"
    return f"{text[: claim.start()]}{claim['verb']} the claim that {statement}{text[claim.end() :]}"


def of_meaning(text: str) -> str | None:
    """ "You mention old hardware. Which cards do you mean?" asks which cards are old hardware."""
    meant = _MEANS.match(text)
    return f"{meant['which']} {'are' if is_plural(meant['which']) else 'is'} {meant['words']}?" if meant else None


def _statement(said: Said) -> str:
    """What was answered, as a clause: "Trn1 is the greenest for training"."""
    selects, question = _SELECTS.match(bare(said.question)), bare(said.question)
    if selects and selects["noun"] and (new := answered(said)):
        return (
            f"{new[0]} {selects['verb']} {selects['rest']}" if selects["verb"] not in ("should", "do", "does") else ""
        )
    asked, verb = names(question), _OF_NAME.match(question)
    if not asked or verb is None or question[: asked[0].start].lower().split()[1:] not in ([], ["the"]):
        return ""
    end = asked[0].start + len(asked[0].text)
    return (
        f"{question[verb.start('rest') : end]} {verb['verb'].lower()}{question[end:]}"
        if verb["verb"].lower() != "does"
        else ""
    )


def of_comparison(text: str, said: Said) -> str | None:
    """ "Compare that with the A100", "vs the H100?", "cheaper?"."""
    if (against := _AGAINST.match(text)) and (names(against["other"]) or makers(against["other"])):
        if re.match(r"how\b", said.question, re.IGNORECASE) or asked_dimensions(said.question)[0]:
            return f"{bare(said.question)} compared with {against['other']}?"
        return f"Compare {with_the(singular(said), said)} with {against['other']}."
    better = _BETTER.match(text)
    if better is None or not (said.named or singular(said)):
        return None
    asked = hardware(said.question)
    if len(asked) > 1 or (better["asks"] or "").lower().startswith("which"):
        two = asked if len(asked) > 1 else pair(said)
        return f"Which is {better['more']}, {' or '.join(two)}?" if two else None
    purpose = _PURPOSE.search(bare(said.question))
    return f"What is {better['more']} than {singular(said)}{' ' + purpose.group() if purpose and seeks_name(said.question) else ''}?"


def with_the(name: str, said: Said) -> str:
    """A name with the article that the conversation gave it."""
    written = rf"\b(?:the|an?)\s+(?:(?:NVIDIA|AMD|Intel|AWS|Google)\s+)?{re.escape(name)}\b"
    return f"the {name}" if name and re.search(written, said.question, re.IGNORECASE) else name


def of_exclusion(text: str, said: Said) -> str | None:
    """ "Anything other than NVIDIA?" and "what else?" ask again, leaving something out."""
    other = _ELSE.match(text)
    if other is None or (not other["other"] and not answered(said)):
        return None
    excluded = f"{other['how']} {other['other']}" if other["other"] else f"other than {joined(answered(said)[:3])}"
    return f"{bare(said.question)}, {excluded}?"


def of_condition(text: str, said: Said) -> str | None:
    """ "What if we can't buy NVIDIA?", "but I only have 24 GB" and "only 2 of them?" go with the last question."""
    if only := _ONLY.match(text):
        return f"{bare(said.question)}, {only['how']} {only['what']}?"
    resized = with_size(said.question, text)
    if resized and _RESIZES.match(text):
        return resized
    if (supposes := _SUPPOSES.match(text)) and not names(text):
        return resized or f"{bare(said.question)}, {supposes['unless'] or 'if'}{bare(text[supposes.end() :])}?"
    if _STATES.match(text) and (seeks_name(said.question) or "hardware" in said.question.lower()) and "?" not in text:
        return resized or f"{bare(said.question)}, given that {bare(text)}?"
    return None


def of_sibling(text: str, said: Said, sizes: Sizes, *, asks: bool) -> str | None:
    """ "The bigger one" is the next size of the instance that was spoken of."""
    sibling = _SIBLING.search(text)
    spoken = next((n for n in (*names(said.question), *names(said.answer)) if n.kind == "instance"), None)
    if sibling is None or names(text) or spoken is None:
        return None
    name = _neighbour(spoken.name, sibling["size"].lower(), sizes(spoken.name.split(".")[0]))
    if asks:
        return text[: sibling.start()] + name + text[sibling.end() :]
    if owned := _PROPERTY_OF.fullmatch(text[: sibling.start()]):
        return f"What is the {owned['property']} of {name}?"
    named = any(n.kind == "instance" or n.name.lower() == name.split(".")[0] for n in names(said.question))
    return with_name(said.question, name) if named else f"Tell me about {name}."


def _neighbour(current: str, direction: str, known: Sequence[str]) -> str:
    """The next size up or down among the known types of a family, smallest first; the current one where there is none."""
    others = [name for name in known if name != current]
    if direction == "other" or current not in known:
        return others[0] if others else current
    place = list(known).index(current)
    if direction in ("largest", "biggest"):
        return known[-1]
    if direction == "smallest":
        return known[0]
    return known[min(place + 1, len(known) - 1)] if direction in _LARGER else known[max(place - 1, 0)]
