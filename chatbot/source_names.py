"""Documents that a question names by what they are: "the exam notes", "the AWS post", "the hardware pattern"."""

import re

_GENRE = r"(?:blog posts?|posts?|blog|articles?|notes|pattern|guides?|pages?|papers?|analysis|stud(?:y|ies)|write-?up|comparison|reports?|sheets?|faq|white-?paper|documentation|docs|specification|manual|handbook|announcement|explanation|overview|experiments?|tests?|measurements?)"
# "Exam notes or hardware pattern?"
_AFTER = "|".join(rf"(?<=\b{word} )" for word in (r"vs", r"vs\.", "versus", "or", "and", "against", "in", "per", "from", "by", "while", "than"))  # fmt: skip
_NAMED = re.compile(
    rf"(?:\b(?:the|my|our|your|this|that|aws(?:['’]s)?)\s+|(?:^|(?<=[,:;.?!(] )|{_AFTER})(?=\w+ ))"
    rf"(?P<phrase>(?:(?!and\b|or\b|in\b|of\b|say|from\b|to\b|is\b|do\b|does\b)[\w/'’-]+\s+){{0,4}}?{_GENRE}(?:\s+{_GENRE})?(?:\s+(?:for|on|about)\s+(?:the\s+)?[\w-]+)?)(?!\w)",
    re.IGNORECASE,
)


def without_documents(text: str) -> str:
    """A text without the phrases that name documents."""
    return " ".join(_NAMED.sub(" ", text).split())
