"""Recognise what needs no source (hello, thanks, "what can you do?", 2 + 2) and what is outside the scope of the sources."""

import re
from collections.abc import Sequence
from contextlib import suppress

from chatbot.evidence.instructions import is_instruction
from chatbot.language.characters import shown
from chatbot.language.words import STOP_WORDS
from chatbot.question.query import Query
from chatbot.reader.proved_answers import load_book, near_to
from chatbot.retrieval.meaning import question_vector
from chatbot.sizing.arithmetic import evaluate
from chatbot.verification.fit import is_fit
from chatbot.verification.marks import without_marks
from ingest import Index

SCOPE = (
    "I answer from documents about hardware for AI: which EC2 instance, GPU or AWS chip to train or serve a model on, "
    "how much memory a model needs, what that costs and what it emits. Every sentence has the exact words of its source."
)
_MORE = (
    "Ask in plain words, give a model to size (“Serve Llama 3.1 70B with 32k context”), or paste an exam question with "
    "its options."
)
# Lowest cosine similarity to the nearest passage for a question in scope. Of 827 tuned test questions that stand by
# themselves, 11 are below it; the sources do not answer 8 of those. It matters only where nothing else answers.
_OUTSIDE = 0.25
# The same for a question that seems to be answered. None of 1,502 questions is below it: an answer there is a chance hit.
_FAR_OUTSIDE = 0.15
# Lowest sum of the cosine similarities of an overheard message to the nearest passage and to the nearest prepared question.
# Of 100 remarks to others 3 reach it, of 100 follow-up questions 97.
_OVERHEARD = 0.97

_HELLO = (
    r"(?:hi+|hey+|hello+|hiya|howdy|yo|greetings|welcome|hallo|hola|bonjour|salut|ciao|ola|olá|moin|servus|guten tag"
    r"|good (?:morning|afternoon|evening|day))"
)
_HOW_ARE_YOU = r"(?:how are you(?: doing)?|how s it going|what s up|wassup|nice to meet you|are you there|(?:just )?test(?:ing)?(?: \d)*|ping)"
_WHOM = r"(?:there|again|all|everyone|everybody|team|folks|bot|wattwise|today|friend)"
_THANKS = (
    r"(?:thanks|thank you|thank u|thx|ty|tysm|cheers|danke|merci|gracias|grazie|obrigad[oa]|much appreciated"
    r"|(?:that s|that is|that was|this is|this was|you re|you are|very)? ?(?:so |very |really )?(?:helpful|great|perfect|awesome|nice|cool|excellent|brilliant|good))"
)
_HOW_MUCH = (
    r"(?:a lot|a bunch|so much|very much|again|all|mate|man|bot|wattwise|you|that s all|bye|for (?:the|your|that|this|all)(?: \w+){1,3}"
    r"|that (?:helps|helped)(?: a lot| me)?|beaucoup|sch[öo]n|mille)"
)
_NOTED = r"(?:ok|okay|k|alright|got it|i see|understood|lol|lmao|haha+|hehe+|wow|yay|great|cool|nice|super)"
_BYE = r"(?:bye(?: bye)?|goodbye|good night|see you(?: later| soon)?|see ya|cu|tschüss|adios|au revoir)"
_IT = r"(?:this(?: (?:bot|app|tool|thing|site|page|chatbot))?|the (?:bot|app)|wattwise)"
_ABILITY = (
    rf"(?:help(?: me)?(?: please)?|menu|start|(?:so |and |{_HELLO} )?(?:(?:can|could) you (?:please )?help(?: me| us)?(?: out)?|"
    r"(?:what|who|how)(?: all| else| exactly)? (?:can|could|do|are) you(?: (?:do|help|answer|know|work|good|able|capable|at|for|to|of|about|with|me|us|here|actually)){0,4}"
    r"|what (?:all |else )?(?:can|could|should) i ask(?: you)?(?: about| here)?|what can i do (?:here|with you|with this)"
    rf"|how (?:do|can|should) i (?:use|talk to) (?:you|{_IT})|(?:what|who) is {_IT}(?: for)?|what (?:can|does) {_IT} do|how does {_IT} work)"
    r"|what are your (?:capabilities|features|skills)|(?:please )?(?:introduce|tell me about|describe) yourself"
    r"|what (?:kind of |sort of )?questions (?:can|could|should) (?:i|we|you) (?:ask|answer)(?: you)?)"
)
_CHATBOT = r"(?:you|this (?:bot|app|tool|site|page|chatbot)|the (?:bot|app)|wattwise)"
_MADE = (
    rf"(?:who (?:has )?(?:made|built|created|wrote|developed|programmed) {_CHATBOT}|are you(?: (?:an?|the|just|only|or|real|some|ai|bots?|robot|chatbot|human|person|machine|program|chatgpt|gpt|claude|llm|language model))+"
    r"|(?:am i (?:talking|chatting|speaking) (?:to|with)|is this) (?:an? )?(?:real )?(?:ai|bot|robot|human|person|machine))"
)
_FOR_ME = r"(?: (?:an?|my|our|the|some|me|us|for|it|right|best|models?|instances?|hardware|gpus?|workloads?|memory|costs?|two|things?))*"
_OF_SOURCES = (
    rf"(?:(?:what|which)(?: kind of)? (?:documents|sources|data|files) (?:do|does) {_CHATBOT} (?:use|have|know|read|search|contain|answer from|rely on)|(?:what are|list|show(?: me)?) your (?:sources|documents)"
    r"|where (?:does|do) your (?:knowledge|data|information|answers?|figures|numbers) come from|what (?:is|are) your (?:knowledge|answers|data) based on)"
)
_LIST = "the sources of the index"
_KINDS = (
    (re.compile(_MADE), f"I am wattwise, a program and no person, written by the wattwise authors under the MIT licence. {SCOPE}"),
    (re.compile(rf"(?:please )?(?:can|could|will) you (?:please )?(?:help (?:me|us) )?(?:to )?(?:size|compare|choose|find|recommend|suggest|estimate|calculate){_FOR_ME}(?: please)?"), f"Yes. {_MORE} {SCOPE}"),
    (re.compile(_OF_SOURCES), _LIST),
    (re.compile(rf"{_ABILITY}(?: (?:please|{_WHOM}))?"), f"{SCOPE} {_MORE}"),
    (re.compile(rf"(?:{_HELLO}(?: {_WHOM})*)?(?: ?{_HOW_ARE_YOU}(?: {_WHOM})*)?"), f"Hello! {SCOPE} {_MORE}"),
    (re.compile(rf"(?:{_NOTED} )*(?:{_THANKS})(?: {_HOW_MUCH})*(?: {_THANKS})?(?: {_HOW_MUCH})*"), "You are welcome. Ask on whenever you like."),
    (re.compile(rf"(?:{_NOTED} |{_THANKS} )*{_BYE}(?: {_WHOM})*"), "Goodbye! Come back with the next question."),
    (re.compile(rf"{_NOTED}(?: {_NOTED})*"), "All right. Ask on whenever you like."),
)  # fmt: skip
_SUM = re.compile(r"(?:what(?: is|['’]?s)|calculate|compute|how much is)\s+(?P<sum>\(*\d[\d.,()\s]*(?:[+*/×-][\d.,()\s]+)+?)\s*[=?!]*", re.IGNORECASE)
_LONGEST = 80
_LISTED = 8
_WORD = re.compile(r"[^\W_]+")
_WAVE, _HANDS = "\N{WAVING HAND SIGN}", ("\N{THUMBS UP SIGN}", "\N{PERSON WITH FOLDED HANDS}", "\N{HEAVY BLACK HEART}")


def small_talk(question: str, index: Index) -> str:
    """Return the reply to a greeting, thanks, a goodbye, a question about the chatbot or a bare sum; "" for all else, even a
    greeted question."""
    if len(question) > _LONGEST:
        return ""
    if asked := _SUM.fullmatch(question.strip()):
        with suppress(ValueError):
            return f"{asked['sum']} = {evaluate(asked['sum']):,.10g}."
    said = " ".join(_WORD.findall(question.casefold()))
    if not said:
        said = "hello" if _WAVE in question else "thanks" if any(hand in question for hand in _HANDS) else ""
    reply = next((reply for kind, reply in _KINDS if said and kind.fullmatch(said)), "")
    return _sources(index) if reply == _LIST else reply


def _sources(index: Index) -> str:
    titles = [source.title for source in index.sources()]
    # A title can contain an instruction or a link, like any other text of a document.
    told = [title for title in map(shown, map(without_marks, titles)) if is_fit(title) and not is_instruction(title)][:_LISTED]
    more = [f"{len(titles) - len(told)} more, listed on the page Sources of the app"] if len(titles) > len(told) else []
    listed = "".join(f"\n- {title}" for title in (*told, *more))
    return f"I answer from {len(titles)} documents, and name those that prove an answer below it:{listed}"


def is_outside(query: Query, index: Index, *, answered: bool = False) -> bool:
    """Whether a question is outside the sources: it names no hardware, and no passage is close to it in meaning.

    If the sources seem to answer it (`answered`), it must be farther away. Always False for an index without vectors.
    """
    of_the_field = query.options or query.entities or query.unknown or query.sizes or query.makers
    if of_the_field or index.encoder_name == "none":
        return False
    # Spelling correction brings a question of another field nearer to the sources, so `answered` uses it as typed.
    texts = [query.question] if answered else list(dict.fromkeys((query.question, query.standalone)))
    return _nearness(texts, index) < (_FAR_OUTSIDE if answered else _OUTSIDE)


def is_for_sources(message: str, index: Index) -> bool:
    """Whether a message that nobody addressed to the chatbot is, without its thread, like what people ask of the sources."""
    if index.encoder_name == "none":
        return False
    book, near = load_book(index), _nearness([message], index)
    known = near_to(question_vector(message)[None], book)[0].nearest if book.questions else near
    return near + known >= _OVERHEARD


def has_nothing_near(text: str, index: Index) -> bool:
    """Whether no passage shares a word with a text or is close to it in meaning. Search results are then chance hits."""
    if any(index.document_frequency(word) for word in _WORD.findall(text.casefold()) if word not in STOP_WORDS):
        return False
    return index.encoder_name == "none" or _nearness([text], index) < _OUTSIDE


def _nearness(texts: Sequence[str], index: Index) -> float:
    nearest = (index.dense(vector, 1) for vector in index.encode(texts))
    return max((hits[0][1] for hits in nearest if hits), default=0.0)
