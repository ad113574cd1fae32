"""The reader that needs no model server: it finds evidence, states it in the source's own words, and cites it."""

from collections.abc import Sequence
from dataclasses import replace

from chatbot.answer import Passage
from chatbot.draft import Draft, Notes
from chatbot.evidence.scored import Scored
from chatbot.exam_reader import examine
from chatbot.figures.fact_answer import Told, told_by_rows
from chatbot.figures.hardware_comparison import compare_hardware
from chatbot.figures.offerings import answer_of_places
from chatbot.question.attribute import asks_own_records, is_command
from chatbot.question.query import Query
from chatbot.reader.comparison import compare, lay_side_by_side
from chatbot.reader.eligibility import ANSWERS, eligible
from chatbot.reader.facts import state_facts
from chatbot.reader.phrasing import statement
from chatbot.reader.scoring import score_units
from chatbot.table import answer_from_table
from chatbot.verification.citations import Evidence
from chatbot.working import load
from ingest import Index

# Evidence at least this likely to answer is added below a prepared answer.
_SAYS_MORE = 0.65
# If more things than this are named, table rows alone answer: a document speaks of one or two.
_FEW = 2


def rows_told(query: Query, passages: Sequence[Passage], index: Index) -> tuple[Evidence, ...]:
    """Return the table rows that answer a question, or a part of it."""
    told = told_by_rows(query, index)
    drafts = (told.draft if told else None, answer_from_table(query, (), passages, index), compare_hardware(query, index), answer_of_places(query, index))
    return tuple(dict.fromkeys(piece for draft in drafts if draft for piece in draft.evidence))


def read(query: Query, passages: Sequence[Passage], index: Index) -> Draft:
    """Draft an answer from passages and table rows. A draft without text is a refusal."""
    if query.options:
        return examine(query, passages, index)
    if is_command(query.standalone) or asks_own_records(query.standalone):
        return Draft("", ())
    rows = None if query.asks_agreement else told_by_rows(query, index)
    if rows and rows.whole:
        return replace(rows.draft, from_rows=True)
    scored = score_units(query, passages, index)
    found = eligible(query, scored)
    return replace(_read(query, passages, index, scored, rows), best=found[0] if found else None)


def _read(query: Query, passages: Sequence[Passage], index: Index, scored: Sequence[Scored], rows: Told | None) -> Draft:
    if query.asks_agreement and (told := lay_side_by_side(query, scored)):
        return told
    if rows and (rows.draft.computed or len(rows.names) > _FEW or (len(rows.names) > 1 and len(rows.columns) > 1) or not any(s.score >= ANSWERS and rows.stands_in(s.unit.meant_in_place, index) for s in scored)):
        return replace(rows.draft, from_rows=True)
    if draft := answer_from_table(query, scored, passages, index):
        return replace(draft, from_rows=True)
    looked_up = replace(rows.draft, from_rows=True) if rows else None
    if set(map(str.lower, query.unknown)) - load(index).known.types - load(index).known.regions:
        return looked_up or Draft("", ())
    told = compare(query, passages, index) or state_facts(query, scored)
    if looked_up:
        # A row answers by itself. Evidence that is only near the question adds nothing.
        return looked_up if told is None or told.near else replace(looked_up.then(told), from_rows=False)
    return told or Draft("", ())


def surest(query: Query, draft: Draft) -> Draft:
    """Return the best evidence of a draft if it is sure enough to stand below a prepared answer that it does not prove."""
    notes = Notes()
    if draft.best and draft.best.score >= _SAYS_MORE:
        notes.line(notes.sentence(statement(draft.best.unit, query), draft.best))
    return notes.draft()
