"""Citation marks in a draft: the sentence and clause that each follows, and the numbers in it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from chatbot.language.wording import sentences
from chatbot.language.words import content_words

_MARKS = re.compile(r"(?<!\s)\s*+((?:\[\s*\d[\d\s,;–-]*\]\s*)+)")
_BEHIND_MARKS = re.compile(r"(?<=\d\][.!?])\s+(?=[a-z])")
_LEADING = re.compile(r"(?:\[\s*\d[\d\s,;–-]*\]\s*)+\.?")
# Other ways to cite a passage: "[^2]", "[[2]]", "[Passage 2]", "<sup>2</sup>", "(source 2)", "²" (but not in "10²⁴"), and "(2)"
# after a word.
_WORD = r"(?:passages?|sources?|docs?|documents?|refs?|references?|keys?|citations?|cf\.?|see)"
_NUMBERS = r"\d{1,3}(?:\s*(?:,|;|-|–|&|and)\s*\d{1,3})*"
_OTHER_DRESS = re.compile(
    rf"\[\[\s*(?P<double>{_NUMBERS})\s*\]\]|\[\s*(?:\^|†|{_WORD}\s*[:#]?\s*\[?)\s*(?P<named>{_NUMBERS})\s*\]?\]|<sup>\s*\[?(?P<raised>{_NUMBERS})\]?\s*</sup>"
    rf"|\(\s*{_WORD}\s*[:#]?\s*\[?(?P<told>{_NUMBERS})\]?\s*\)"
    rf"|(?<=[\w.%)\"”])(?<![⁰¹²³⁴-⁹])(?<!(?<![\w.,])10) ?(?P<superscript>[⁰¹²³⁴-⁹]{{1,2}})(?=[\s.,;]|$)(?<!(?:CO|km|cm|mm|.m)[²³])",
    re.IGNORECASE,
)
_ROUND = re.compile(r"(?<=[\w.%]) ?\((?P<number>\d{1,2}(?:, ?\d{1,2})*)\)(?=\s*(?:[.,;:]|$|[A-Z(]))")
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_NUMBER_OR_RANGE = re.compile(r"(?<!\d)(\d{1,6})(?!\d)(?:\s*[-–]\s*(\d{1,6})(?!\d))?")
# How far a range such as "[2-9999]" is expanded beyond its first number.
_LONGEST = 50
# A sentence of at most this many words ("Yes.") is joined to the next one.
_LEANS = 3


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence and the marks that follow it."""

    text: str
    marks: tuple[re.Match[str], ...]

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers in its marks, without repeats."""
        return tuple(dict.fromkeys(n for match in self.marks for n in marked_numbers(match.group())))


def marked_numbers(marks: str) -> tuple[int, ...]:
    """Return the numbers in citation marks such as "[1]", "[1, 7]", "[1][3]" or "[2-4]"."""
    found: list[int] = []
    for match in _NUMBER_OR_RANGE.finditer(marks):
        first, last = int(match[1]), int(match[2] or match[1])
        found += range(first, min(last, first + _LONGEST) + 1)
    return tuple(dict.fromkeys(found))


def in_brackets(text: str, keys: int) -> str:
    """Rewrite all styles of citation as `[2]`. A bare "(2)" counts as one only if 2 is at most `keys`."""

    def bracketed(match: re.Match[str]) -> str:
        written = next(group for group in match.groups() if group).translate(_RAISED)
        numbers = re.sub(r"\s*(?:&|and)\s*", ", ", written)
        return f"[{numbers}]"

    def rounded(match: re.Match[str]) -> str:
        return f" [{match['number']}]" if all(1 <= int(n) <= keys for n in match["number"].split(",")) else match.group()

    return _ROUND.sub(rounded, _OTHER_DRESS.sub(bracketed, text))


def without_marks(text: str) -> str:
    """Return the text without citation marks."""
    return _MARKS.sub(" ", text)


def shifted(text: str, number: int) -> str:
    """Return the text with `number` added to each mark. "[0]" marks what has no evidence any more, and stays so."""
    return re.sub(r"\[([1-9]\d*)\]", lambda mark: f"[{int(mark[1]) + number}]", text)


def marked_sentences(line: str) -> list[str]:
    """Split a line into sentences, each with the marks behind its full stop. Marks alone are not a sentence."""
    found: list[str] = []
    # What begins in lower case behind a mark and a full stop ("[1]. trn1.2xlarge has") is a sentence, too.
    for text in (part for start, end in sentences(line) for part in _BEHIND_MARKS.split(line[start:end])):
        bare = bool(found) and not _MARKS.search(found[-1])
        if bare and (marks := _LEADING.match(text)):
            found[-1] += f" {marks.group().rstrip(' .')}"
            text = text[marks.end() :].strip()
        elif bare and len(found[-1].split()) <= _LEANS:
            text = f"{found.pop()} {text}"
        found += [text] * bool(re.search(r"\w", without_marks(text)))
    return found


def clauses_of(sentence: str) -> list[Clause]:
    """Split a sentence into clauses with their marks. A part without content words is joined to its neighbour."""
    found: list[Clause] = []
    position = 0
    for match in _MARKS.finditer(sentence):
        clause = Clause(sentence[position : match.start()], (match,))
        if found and not (content_words(clause.text) and content_words(found[-1].text)):
            before = found.pop()
            clause = Clause(f"{before.text} {clause.text}", (*before.marks, match))
        found.append(clause)
        position = match.end()
    last = found.pop() if found else Clause("", ())
    return [*found, replace(last, text=f"{last.text} {sentence[position:]}")]


def renumbered(sentence: str, clauses: Sequence[Clause], numbers: Sequence[Mapping[int, int]]) -> str:
    """Renumber the marks of a sentence. `numbers` maps old to new numbers for each clause; numbers it lacks are removed."""
    pieces: list[str] = []
    position = 0
    for clause, new in zip(clauses, numbers, strict=True):
        for match in clause.marks:
            marks = sorted({new[n] for n in marked_numbers(match.group()) if n in new})
            space = " " if match.group()[-1].isspace() else ""
            pieces += [sentence[position : match.start()], " " * bool(marks), *(f"[{n}]" for n in marks), space]
            position = match.end()
    text = "".join([*pieces, sentence[position:]]).strip()
    text = re.sub(r"([.!?:])((?: \[\d+\])+)\.?$", r"\2\1", text)
    return text if re.search(r"[.!?:][\"'”’)*_]*$", text) else f"{text}."
