"""Find the option letters that a language model settles on, in whatever form it states them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chatbot.question.options import Option

# Markup for emphasis, code and formulas around a letter carries no meaning: **B**, `B`, $\boxed{\text{B}}$.
_DRESSING = re.compile(
    r"\\(?:boxed|text|textbf|mathrm|mathbf)\s*(?=\{)|\\[()\[\]]|[*`$]|(?<!\w)_+|_+(?!\w)|</?(?:b|strong|em)>"
)
_BOX = re.compile(r"\\boxed\s*\{")
_LETTER = re.compile(
    r"(?:(?i:option|choice|letter|statement)s?\s+)?[\"'“]?"
    r"(?:[(\[{](?P<inside>[A-Ha-h])[)\]}]|(?P<upper>[A-H])(?![\w'’]|-\w|\.\w)|(?P<lower>[a-h])(?=\s*(?:$|[.):,;&\n](?!\w))))[\"'”]?[.):]?",
)
_RUN = re.compile(r"(?P<run>[A-H]{2,8})(?![\w-])")
_ARTICLE = re.compile(r"A\s+(?!(?:is|are|and|or|because|since|as|for|due|with|over|from)\b)[a-z]")
_JOINT = re.compile(r"\s*(?:,\s*and\b|,|;|/|&|\+|\band\b)\s*")
_OR = re.compile(r"\s*,?\s*(?:or|and/or|maybe|possibly|\?)\b|\s*\?")
_IN_BRACKETS = re.compile(r"\s*(?:\([^()\n]{1,120}\)|\[\s*\d[\d\s,]*\])")
_CALLED_RIGHT = r"(?:(?:the|my|our|final|correct|right|best|single|one|only|chosen|selected|recommended|most\s+\w+)\s+)"
_IS = r"(?:[ \t]*(?:is|are|remains?|becomes?|must\s+be|should\s+be|has\s+to\s+be|would\s+(?:therefore\s+)?be|to)\b[ \t]*:?|[ \t]*[:=→➜⇒–—-]+>?)"
_FILLING = r"(?:[ \t,\"'“]*(?:therefore|thus|hence|clearly|definitely|indeed|then|still|simply|most\s+likely|probably|in\s+fact|both|given\s+by|that\s+of|the\s+following))*[ \t,:{\[]*"
_LABEL = re.compile(
    rf"(?<!\w)(?:{_CALLED_RIGHT}{{1,4}}(?:answer|choice|option|selection|pick|one|letter|pair|combination|response|solution|fit)|answer|verdict)(?:\(s\)|s)?"
    rf"(?:\s+(?:choices?|options?|letters?|key|here))?(?:\s+(?:to|for|among|of)\s+[^.:?!\n]{{1,60}}?)?[\"'”]?(?:{_IS})+{_FILLING}",
    re.IGNORECASE,
)
_HEADING = re.compile(
    rf"^[\W_]*{_CALLED_RIGHT}{{0,4}}(?:answer|choice|option|selection|response)(?:\(s\)|s)?(?:\s+(?:is|are)(?:\s+as\s+follows)?)?\s*:?[\W_]*$",
    re.IGNORECASE,
)
_TAG = re.compile(r"<(?:final_)?answer>\s*", re.IGNORECASE)
_CHOOSING = re.compile(
    r"(?:\b(?:I|we|you)(?:['’](?:d|ll|m|re)|\s+(?:would|will|should|am|are|can|must))?\s+(?:therefore\s+)?(?:(?:choos|select|pick|recommend|go(?:ing)?\s+with|opt(?:ing)?\s+for|settl(?:e|ing)\s+on|answer)(?:e|ing)?)"
    r"|^[^\w\n]*(?:choose|select|pick|go\s+with)|\b(?:leaves|leaving)(?:\s+(?:us\s+with|only|just))*|^[^\w\n]*(?:so|therefore|thus|hence)\s*,|^[^\w\n]*(?:so\s+|therefore,?\s+|thus,?\s+)?it(?:['’]s|\s+is|\s+must\s+be)|^[^\w\n]*(?:make\s+(?:it|that)|final|final\s+verdict|conclusion|verdict)\s*:?)\s+(?:the\s+)?",
    re.IGNORECASE | re.MULTILINE,
)
_BEING_RIGHT = re.compile(
    r"\s+(?:(?:is|are)\s+(?:(?:clearly|therefore|thus|both|indeed|hence|the\s+only|all)\s+)*(?:the\s+)?(?:two\s+|most\s+\w+\s+|single\s+)?(?:correct|right|best|answers?|choices?)(?:\s+(?:answer|choice|option|one|fit|pick|selection)s?)?|it\s+is)(?=[ \t]*(?P<end>[.,;:!)\n]|$|because|since|as\b|\[|[–—-])?)",
)
_REVISED = re.compile(
    r"\b(?:on\s+reflection|on\s+second\s+thoughts?|wait|actually|correction|let\s+me\s+(?:correct|revise|reconsider)|scratch\s+that|after\s+re-?\w+ing)\b(?P<rest>[^\n]{0,160})",
    re.IGNORECASE,
)
_REVISED_TO = re.compile(r"(?:\b(?:is|be|to|choose|pick|with|say|answer)\b|['’]s|:|,)\s+(?:the\s+)?", re.IGNORECASE)
# Words before a letter that show it is mentioned only in passing: another question's answer, a first idea, a distractor.
_PASSING = re.compile(
    r"\b(?:incorrect|wrong|not|isn['’]t|aren['’]t|never|second|next|other|another|tempting|tempted|at\s+first|first\s+glance|initially|originally|might|may|some|many|whether|why|unless|neither|nor|distractor|if\b[^.]*\bwould|had)\b[^.!?]*$",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[.!?][\"'”)]?\s+(?=[A-Z(\"“])|\n|;|\b(?:but|however|yet|so)\b")
# How many characters of an option's text, or of the clause before a letter, are read at most.
_LONGEST = 400
_RIGHT = re.compile(
    r"✅|✔|☑|🟢|(?<![\w-])(?:correct|right(?=\W*$|[.,;:–—-])|true|yes)\b(?!\s+(?:that|for|if)\b)", re.IGNORECASE
)
_WRONG = re.compile(
    r"❌|✗|✘|✖|🔴|(?<![\w-])(?:incorrect|wrong|not\s+(?:correct|right|true)|false|no)\b(?=\W|$)", re.IGNORECASE
)
_LINE_LETTER = re.compile(
    r"^[\W_]*(?:(?:option|choice)\s+)?\(?(?P<letter>[A-Ha-h])(?:[.):\]|]|\s*[|–—-]\s|\s+\()", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Declared:
    """Letters that a text declares right, and where.

    A lower `weight` is plainer: 0 by a label, 1 in a sentence, 2 with a condition.
    """

    letters: frozenset[str]
    start: int
    end: int
    weight: int


def chosen(text: str, options: Sequence[Option], choose: int = 1) -> tuple[str, ...]:
    """Return the letters that a model's text settles on, in the options' order; () unless there are exactly `choose`.

    The last plain declaration counts ("Answer: B", "\\boxed{B}", a revision of these). Without one, the last sentence that
    calls letters right does, then a line of letters alone at either end, then options marked as right.
    """
    plain, offered = undressed(text), {option.letter for option in options}
    if declared := sorted(declarations(plain, options), key=lambda d: (d.start, -d.end)):
        plainest = min(d.weight for d in declared)
        return _as_many(_together([d for d in declared if d.weight == plainest], choose), options, choose)
    alone = _alone(plain, options, choose)
    return _as_many(alone or _marked_right(plain, offered), options, choose)


def undressed(text: str) -> str:
    """Strip the markup of emphasis and formulas; a boxed letter becomes "Answer: {B}"."""
    return _DRESSING.sub("", _BOX.sub("\nAnswer: {", text))


def declarations(plain: str, options: Sequence[Option]) -> Iterator[Declared]:
    """Yield the declarations in an undressed text of which letters are right, in no particular order."""
    for match in (*_LABEL.finditer(plain), *_TAG.finditer(plain)):
        if not _PASSING.search(_before(plain, match.start())):
            letters, end = letters_at(plain, match.end(), options)
            letters = letters or _by_text(plain[match.end() : match.end() + _LONGEST], options)
            if letters is not None and (letters or _OR.match(plain, end)):
                yield Declared(letters, match.start(), end, 0)
    yield from _under_headings(plain, options)
    for match in _REVISED.finditer(plain):
        for to in _REVISED_TO.finditer(match["rest"]):
            letters, end = letters_at(plain, match.start("rest") + to.end(), options)
            if letters and not _PASSING.search(match["rest"][: to.start()]):
                yield Declared(letters, match.start(), end, 0)
                break
    for match in _CHOOSING.finditer(plain):
        letters, end = letters_at(plain, match.end(), options)
        if letters and not _PASSING.search(_before(plain, match.start())):
            yield Declared(letters, match.start(), end, 1)
    for match in re.finditer(r"(?<![\w(\[-])(?=[(\[\"“]?[A-H]\b|(?:option|choice|answer)s?\s)", plain, re.IGNORECASE):
        letters, end = letters_at(plain, match.start(), options)
        right = _BEING_RIGHT.match(plain, end) if letters else None
        if letters and right and not _PASSING.search(_before(plain, match.start())):
            yield Declared(letters, match.start(), right.end(), 1 if right["end"] is not None else 2)


def letters_at(plain: str, at: int, options: Sequence[Option]) -> tuple[frozenset[str], int]:
    """Return the letters at a position, joined by commas or "and", each perhaps with its option's text, and where they end.

    There are none if "A" is an article ("A chip …") or if it is left open which letter is meant ("A or B").
    """
    if run := _RUN.match(plain, at):
        return frozenset(run["run"]), run.end()
    texts = {option.letter: option.text for option in options}
    found: set[str] = set()
    end = at
    while (
        len(found) < len(options)
        and (match := _LETTER.match(plain, at))
        and not _ARTICLE.match(plain, match.start("upper") if match["upper"] else len(plain))
    ):
        letter = (match["inside"] or match["upper"] or match["lower"]).upper()
        if letter in found:
            break
        found.add(letter)
        end = _past_text(plain, match.end(), texts.get(letter, ""))
        joint = _JOINT.match(plain, end)
        if not joint:
            break
        at = joint.end()
    return (frozenset(), end) if found and _OR.match(plain, end) else (frozenset(found), end)


def _past_text(plain: str, at: int, text: str) -> int:
    """Return the position after an option's own text, if that follows its letter, and after any brackets."""
    rest = plain[at : at + _LONGEST]
    lead = len(rest) - len(rest.lstrip(" \t.):–—-\"'“"))
    if text and rest[lead:].lower().startswith(text.lower()):
        at += lead + len(text)
    while bracketed := _IN_BRACKETS.match(plain, at):
        at = bracketed.end()
    return at


def _by_text(rest: str, options: Sequence[Option]) -> frozenset[str]:
    """Return the letter of the option whose text stands in place of a letter; the longest text wins."""
    said = rest.lstrip(" \t\"'“").lower()
    named = [
        o for o in options if said.startswith(o.text.lower()) and not said[len(o.text) : len(o.text) + 1].isalnum()
    ]
    return frozenset({max(named, key=lambda o: len(o.text)).letter}) if named else frozenset()


def _under_headings(plain: str, options: Sequence[Option]) -> Iterator[Declared]:
    """Yield the letters on the lines below a line that says only "Answer"."""
    at, letters, begun = 0, frozenset[str](), -1
    for line in [*plain.split("\n"), ""]:
        here, _ = letters_at(line, len(line) - len(line.lstrip(" \t-•>#")), options)
        if _HEADING.match(line):
            letters, begun = frozenset(), at
        elif begun >= 0 and here:
            letters |= here
        elif begun >= 0 and (line.strip() or letters):
            if letters:
                yield Declared(letters, begun, at, 0)
            begun = -1
        at += len(line) + 1
    if begun >= 0 and letters:
        yield Declared(letters, begun, at, 0)


def _before(plain: str, at: int) -> str:
    """Return the text before a position in its clause."""
    start = max(0, at - _LONGEST)
    *_, last = (start, *(match.end() for match in _CLAUSE_END.finditer(plain, start, at)))
    return plain[last:at]


def _together(declared: Sequence[Declared], choose: int) -> frozenset[str]:
    """Return the last declared letters; single ones in a row are combined if several are asked for."""
    apart: list[Declared] = []
    for one in declared:
        if not apart or one.start >= apart[-1].end:
            apart.append(one)
    found = apart[-1].letters
    for letters in (one.letters for one in reversed(apart[:-1])):
        if len(found) >= choose or len(letters) != 1 or not found:
            break
        found |= letters
    return found


def _alone(plain: str, options: Sequence[Option], choose: int) -> frozenset[str]:
    """Return the letters of the first lines, else the last, that hold nothing but letters and the text of their options.

    Without such lines, return the letters that open the first line.
    """
    lines = [line.strip(" \t-•>#") for line in plain.split("\n") if line.strip()]
    for ordered in (lines, lines[::-1]):
        found: frozenset[str] = frozenset()
        for line in ordered:
            letters, end = letters_at(line, 0, options)
            if not letters or line[end:].strip(" .)"):
                break
            found |= letters
        if len(found) == choose and len(found) < len(options):
            return found
    return _led(lines, options)


def _led(lines: Sequence[str], options: Sequence[Option]) -> frozenset[str]:
    """Return the letters that the first line begins with ("B: …"), unless it is a line of a list of options."""
    letters, end = letters_at(lines[0], 0, options) if lines else (frozenset[str](), 0)
    listed = [match["letter"].upper() for line in lines[1:] if (match := _LINE_LETTER.match(line))]
    in_front = bool(letters) and bool(re.search(r"[:.)]\s*$", lines[0][:end]) or re.match(r"\s*[:–—-]", lines[0][end:]))
    return letters if in_front and (not listed or letters <= set(listed)) else frozenset()


def _marked_right(plain: str, offered: set[str]) -> frozenset[str]:
    """Return the options whose lines call them right: "B. … ✅", "| B | … | Correct |"."""
    right: set[str] = set()
    for line in plain.split("\n"):
        match = _LINE_LETTER.match(line)
        if match and match["letter"].upper() in offered and _RIGHT.search(line) and not _WRONG.search(line):
            right.add(match["letter"].upper())
    return frozenset(right)


def _as_many(found: frozenset[str], options: Sequence[Option], choose: int) -> tuple[str, ...]:
    letters = tuple(option.letter for option in options if option.letter in found)
    return letters if len(letters) == choose else ()
