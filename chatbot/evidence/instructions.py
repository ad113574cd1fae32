"""Detect document text that gives orders to an AI reader (prompt injection). Such text is never evidence."""

import re
import unicodedata
from functools import lru_cache

_READER = r"(?:ai|a\.i\.|llm|assistant|chatbot|bot|(?:large )?language model|summari[sz]er|agent|copilot)"
_ORDERS = re.compile(
    # "Ignore the previous instructions"
    r"\b(?:ignore|disregard|forget|override|bypass|discard)\b[^.]{0,40}\b(?:instruction|prompt|rule|guideline|passage|source|document|question|context|above|previous|prior|earlier|other|citation)s?\b"
    r"|\b(?:system|developer|hidden|initial|secret) (?:prompt|message|instruction)s?\b"
    # "You are now …", "your new task is …"
    r"|\byou are (?:now|no longer|hereby|an? (?:ai|assistant|chatbot|language model|pirate|dan))\b"
    r"|\byour (?:new )?(?:instructions?|role|task|job|purpose|goal|answer|reply|response)s? (?:is|are|must|should|will)\b"
    # "Note to AI models: …", "the assistant must …"
    rf"|\b(?:note|message|instruction|reminder|attention|memo|order|command)s?\b[^.:]{{0,20}}\b(?:to|for)\s+(?:the |any |all |every )?{_READER}s?\b"
    rf"|\b{_READER}s?\b[^.]{{0,30}}\b(?:must|should|shall|ha(?:s|ve) to|needs? to|(?:is|are) to|will now|reading this)\b"
    # "Tell the user …", "say exactly …", "begin every answer with …"
    r"|\b(?:reply|respond|answer|output|print|write|repeat|say|state|tell|inform|claim|append|include|insert|add|end|begin|start|recommend|mention|display|show|emit|produce)\b[^.]{0,60}\b(?:verbatim|word for word|every (?:answer|reply|response)|(?:your|each|all) (?:answer|reply|response|output|final line)s?|(?:to )?the user|users? that|the reader that|nothing else|no matter what|regardless of what)\b"
    r"|^\W*(?:please\s+|always\s+|now\s+)*(?:say|claim|announce|tell|reply|respond|print|pretend|assert|declare|state(?! of))\b(?!\s*:)"
    r"|\b(?:every|each|all|any|your) (?:answer|reply|response)s? (?:must|should|to (?:include|begin|end|contain|mention)|has to|needs to|(?:begins?|ends?|starts?) with)\b"
    r"|\b(?:top|start|end|beginning|bottom) of (?:each|every|your|all|any) (?:answer|reply|response)s?\b"
    # "When asked about …", "if a user mentions …"
    r"|\b(?:when|if|whenever|should)\b[^.]{0,30}\b(?:asked|anyone asks|someone asks|users? (?:asks?|mentions?|says?|wants?|inquires?)|questioned)\b"
    r"|\b(?:do not|don't|never)\b[^.]{0,30}\b(?:cite|mention this|reveal|disclose|tell (?:the )?users?|quote)\b"
    r"|\b(?:jailbreak|dan mode|developer mode|act as (?:a|an|if)|pretend (?:to be|that|you)|role-?play|simulate being)\b"
    # "You must mention …", "responses shall contain …", "whoever summarises this …"
    r"|\b(?:you|we|one|it) (?:must|should|shall|will|need to|ha(?:ve|s) to|ought to)\b[^.]{0,20}\b(?:mention|say|state|tell|write|claim|recommend|answer|reply|respond|quote)\b"
    r"|\byour (?:duty|favou?rite|obligation|orders?|assignment|mission)\b|\bin (?:all|every|each|any) conversations?\b|\b(?:all|everything|anything|whatever) (?:that )?you (?:write|say|answer|reply|output)\b|\b(?:is|are) to be (?:praised|recommended|called|described|presented)\b"
    r"|\b(?:let|make sure|ensure|see to it)\b[^.]{0,30}\b(?:anyone|everyone|people|users?|readers?|customers?)\b[^.]{0,20}\b(?:know|hear|learn|told)\b|\bmake sure (?:people|everyone|users|readers)\b"
    r"|\b(?:answers?|responses?|repl(?:y|ies)|summar(?:y|ies))\b[^.]{0,40}\b(?:shall|must|should|will) (?:contain|include|mention|say|state|begin|end|open|close)\b"
    r"|\b(?:whoever|anyone who|those who|everyone who)\b[^.]{0,20}\b(?:summari[sz]es?|answers?|paraphrases?|processes)\b|\b(?:begin|start of|new|end of) (?:context|prompt|instructions?|session)\b"
    r"|\b(?:dear|attention|hey|hello|hi)\b,? (?:all |the |any |large )*(?:ai |language )?models?\b|\b(?:todo|note) (?:for|to) the (?:writer|author|editor|reader|answerer)\b"
    # Role markers of a chat, and the answer line of an exam
    r"|^\W*(?:system|assistant|user|human|developer|instructions?)\s*:|\"role\"\s*:"
    r"|\bANSWER\s*:\s*\(?[A-H]\b|<\|?/?(?:im_start|im_end|system|assistant|user|inst|s)\|?>|\[/?INST\]|<<SYS>>"
    # HTML that a page does not show as text, mentions in a chat, and orders about every exam question
    r"|<(?:[!@]|/?(?:script|style|img|iframe|object|embed|svg|form|input|meta)\b)|\b(?:every|each|all|any) (?:exam )?questions?\b"
    # The same in other common languages
    r"|\b(?:ignorier\w*|vergiss|missachte\w*|ignorez|oubliez|ignora|olvida|ignore[zr]?)\b[^.]{0,40}\b(?:anweisung|vorgabe|regel|instruction|consigne|instruccion|instrucción|regla)\w*"
    r"|\b(?:sag\w*|antwort\w*|schreib\w*) (?:dem|den|allen|immer|stets|nur)\b|\b(?:dites|répondez|écrivez|di|responde|escribe) (?:à|au|toujours|que|al|siempre|a los)\b"
    r"|忽略|无视|指令|告诉用户|回答时",
    re.IGNORECASE,
)  # fmt: skip


@lru_cache(maxsize=8_192)
def is_instruction(text: str) -> bool:
    """Whether a text tells a reader what to say, instead of stating something itself.

    This is a list of phrasings, not a complete defence. Text it misses must still pass verification of its words and
    numbers before it is shown.
    """
    return bool(_ORDERS.search(_plain_letters(text)))


def _plain_letters(text: str) -> str:
    """Return the text as a reader sees it: full-width and styled letters made plain, invisible characters removed."""
    if text.isascii():
        return text
    return "".join(c for c in unicodedata.normalize("NFKC", text) if unicodedata.category(c)[0] != "C" or c.isspace())
