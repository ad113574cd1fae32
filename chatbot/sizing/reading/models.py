"""Read which model is meant: by its name, by its number of parameters, or by its bytes."""

import re

from chatbot.sizing.memory import BITS
from chatbot.sizing.model_names import Named, find_model, heads, sibling
from chatbot.sizing.reading.numerals import GB, NUMBER, compiled, gigabytes, value_of
from chatbot.sizing.reading.text import Reading
from chatbot.sizing.reading.wording import listed
from chatbot.sizing.workload import Format

_NOUN = r"(?:models?|llms?|checkpoints?|transformers?|networks?|modello|modelo|modells?|modèle)"
_UNNAMED = compiled(
    rf"(?:(?:my|our|(?<=have )an?|(?<=built )an?|(?<=trained )an?|unser\w*|notre|nuestro|nostro|il nostro) (?!(?:[a-z]+ )?\|)(?:[a-z][a-z-]+ ){{0,2}}?{_NOUN}(?!\w)(?! (?:of|with|that|called|named)\b)(?: maison| propio| interno)?"
    rf"|(?:another|an?other|the (?:second|other)|a different|a second) {_NOUN}(?!\w))|(?:something|a (?:model|checkpoint|llm)|which (?:model|llm|one))\b(?=.*\b(?:forg[eo]t|remember|recall|no idea|don['’]?t know|not sure|unsure)\b)"
    rf"|the {_NOUN} (?:that |which )?(?:(?:the|our|my|an?|their|his|her|another) )?(?:[a-z]+ ){{0,2}}(?:built|trained|made|uses?|used|runs?|deployed|shipped|wrote|tested|has|have)(?!\w)|(?:their|his|her) {_NOUN}(?!\w)"
    rf"|(?<=remember )(?:which|what) (?:model|llm|one)|(?<=know )(?:which|what) (?:model|llm|one)"
)
_OTHER_COUNTED = r"(?!\s(?:[a-z]+\s)?(?:events|clicks|records|documents|docs|vectors|products|examples)\b)(?!\s?(?:tokens?|requests?|queries|users?|people|usd|dollars?|euros?|inferences|predictions?|images?|sequences?|rows?|samples?|calls?|gb|gib|tb|context|ctx)\b)"
_OF_MODEL = r"(?:[\s-]?(?:de )?(?:params?|parameters?|parametern?|param[eè]tres|par[aá]metros|weights?)\b|[\s-](?:model|llm|network|transformer)\b)"
_SIZE = compiled(
    rf"(?<!\$)(?P<below>(?<=\ba )-|minus |negative )?(?P<number>{NUMBER})[\s-]?(?:(?P<big>b|bn|billion|mil millones|milliarden?|milliards?|mrd)(?!\w){_OTHER_COUNTED}(?:[\s-]?(?:de )?(?:params?|parameters?|parametern?|param[eè]tres|par[aá]metros|weights?)\b)?|(?P<small>m|mn|million|millionen|millones(?: de)?|t|trillion){_OF_MODEL}|(?<=[^\d.,]0[ -])param(?:eter)?s?(?!\w))"
)
_ALSO = re.compile(r"(?:,|\b(?:and|or|vs\.?|versus|than))\s(?:(?:of|for|with|the|on|its)\s){0,3}$")
# The parameters that a mixture of experts computes with: "400B with 17B active". They take no less memory.
_ACTIVE = compiled(rf"(?:{NUMBER}[\s-]?b(?:illion)? (?:params? |parameters? )?(?:are |is )?activ(?:e|ated)|activ(?:e|ates|ating)(?: params?| parameters?)?(?: of| is| are|:)? {NUMBER}[\s-]?b(?:illion)?)(?!\w)(?: params?| parameters?)?")
_WEIGHT = re.compile(
    rf"\b(?:{_NOUN}|weights)(?:,? (?:is|are|it|itself|file|files|size|at|about|around|roughly|some|only|just|needs?|wants|takes?|up|weighs?|which|that|comes|to|on disk)){{1,5}} {GB.format('', '')}(?! ?(?:gpu|card|each|[hbalv]\d))"
    rf"|(?<![\w.]){GB.format('_', '_')}(?: of)?[ -](?:[a-z]+ )?(?:{_NOUN}|weights)\b"
)


def take_model(reading: Reading) -> None:
    named = find_model(reading.text, reading.known.models)
    if named:
        reading.mask(named.start, named.end)
        reading.fill("model", named.models)
        reading.fill("parameters", [named.parameters] if named.parameters and not named.models else [])
    reading.named = named or _unnamed(reading)


def _unnamed(reading: Reading) -> Named | None:
    for _, hosted in listed("hosted"):
        if match := hosted.search(reading.text):
            return Named(match.start(), match.end(), unknown=match.group())
    match = _UNNAMED.search(reading.text)
    if not match:
        return None
    return Named(match.start(), match.end(), unknown=re.sub(r"^(?:an? |which |what |something)", "the ", match.group()))


def take_sizes(reading: Reading) -> None:
    reading.take(_ACTIVE)
    found = reading.take(_SIZE)
    scales = {"t": 1e12, "trillion": 1e12}
    # Negative sizes are read too, so that they can be refused: "a -7B model".
    sizes = [(-1 if m["below"] else 1) * value_of(m["number"]) * (1e9 if m["big"] else scales.get(m["small"], 1e6)) for m in found]
    models = reading.known.models
    if reading.named and reading.named.models:
        # "Of Llama 3.1 8B and of 70B".
        model = reading.slots["model"]
        also = [size for m, size in zip(found, sizes, strict=True) if _ALSO.search(reading.question[: m.start()])]
        siblings = (sibling(model, f"{size / 1e9:g}b", models) for size in also)
        reading.several.setdefault("model", []).extend({"model": other} for other in siblings if other and other != model)
        return
    lines = (head for head in re.findall(r"[a-z]+", reading.question) if head in heads(models))
    line = next(lines, None) if len(set(sizes)) == 1 else None
    apart = find_model(f"{line} {sizes[0] / 1e9:g}b", models) if line else None
    if apart and apart.models and "model" not in reading.slots:
        reading.fill("model", apart.models)  # "the biggest Llama, the one with 405 billion"
    else:
        reading.fill("parameters", sizes)


def take_weight(reading: Reading) -> None:
    """Fill the parameters of a model that is known by its bytes alone: "our model is 40 GB"."""
    match = None if reading.slots.keys() & {"model", "parameters"} else _WEIGHT.search(reading.question)
    if match:
        bits = BITS[reading.slots.get("weights", Format.BF16)]
        reading.mask(*match.span())
        reading.fill("parameters", [gigabytes(match["gb"] or match["gb_"], match["unit"] or match["unit_"]) * 8e9 / bits])
