"""reStructuredText -> Markdown, with what Sphinx adds to it read as plain text."""

import re

from ingest.document import CorpusError
from ingest.items import Extracted
from ingest.markup import markdown_of_html
from ingest.plain import decode

_FIELD = re.compile(r"^:([A-Za-z][\w -]*): +(\S.*)$", re.MULTILINE)
_DIRECTIVE = re.compile(r"^([ \t]*)\.\. ([\w:-]+)::[ \t]*(.*)\n((?:[ \t]+:[\w-]+:.*\n)*)", re.MULTILINE)
_NAVIGATION = re.compile(
    r"^([ \t]*)\.\. (?:toctree|index|highlight|currentmodule|meta)::.*\n(?:(?:\1[ \t]+\S.*)?\n)*", re.MULTILINE
)
_ROLE = re.compile(r":(?!math:|sub:|sup:)(?:[\w-]{1,40}:){1,4}`([^`<]*[^`<\s])(?:\s*<[^`]*>)?`")
_HEAD = 2_000
_LONGEST_LINE = 10_000  # as docutils has it, which gives an empty text then
_SETTINGS = {
    # A document must not pull other files in, run anything, or be changed by a configuration file that lies about.
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "_disable_config": True,
    # Markup errors lose one directive, never the document.
    "report_level": 5,
    "halt_level": 5,
    "embed_stylesheet": False,
    "syntax_highlight": "none",
}


def load_rst(data: bytes) -> Extracted:
    """The text by way of docutils' HTML; unknown directives keep their words, known dangerous ones are left out."""
    from docutils.core import publish_parts

    text = decode(data)
    if max(map(len, text.split("\n"))) > _LONGEST_LINE:
        raise CorpusError(f"it has a line of more than {_LONGEST_LINE:,} characters: break its lines")
    parts = publish_parts(_without_sphinx(text), writer="html5", settings_overrides=_SETTINGS)
    fields = {name.lower(): value.strip() for name, value in _FIELD.findall(text[:_HEAD])}
    return Extracted(markdown_of_html(parts["html_body"]), properties=fields)


def _without_sphinx(text: str) -> str:
    from docutils.parsers.rst.languages.en import directives as known

    def keep_words(match: re.Match[str]) -> str:
        return match[0] if match[2] in known else f"{match[1]}{match[3]}\n"

    return _ROLE.sub(r"\1", _DIRECTIVE.sub(keep_words, _NAVIGATION.sub("", text + "\n")))
