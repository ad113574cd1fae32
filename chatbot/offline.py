"""The reader that needs no model server: it finds the evidence, says it in its own words as they stand, and cites it."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from chatbot.answer import Passage
from chatbot.attribute import asks_own_records, is_command
from chatbot.citations import Evidence
from chatbot.comparison import compare
from chatbot.disagreement import lay_side_by_side
from chatbot.draft import Draft, Notes
from chatbot.eligibility import ANSWERS, eligible
from chatbot.examination import examine
from chatbot.fact_answer import Told, tell_rows
from chatbot.facts import NEAREST, state_facts
from chatbot.hardware_comparison import compare_hardware
from chatbot.phrasing import statement
from chatbot.premise import judge
from chatbot.proved_answers import Match, answer_of, is_meant, is_proved_by, is_sure
from chatbot.quantities import quantities, same
from chatbot.query import Query
from chatbot.scoring import Scored, score_units
from chatbot.sizing.conversation import hear
from chatbot.table import answer_from_table
from chatbot.working import load
from ingest import Index

Composer = Callable[[Query, Sequence[Scored], Sequence[Passage], Index], Draft | None]

# Tried in order; a composer that finds the question is not for it gives None and the next is asked.
_COMPOSERS: tuple[Composer, ...] = (judge, compare, state_facts)


# Evidence that is so likely to answer is told under an answer that was proved beforehand.
_SAYS_MORE = 0.85
# Of more things than these at once the rows alone tell: a document speaks of one or two.
_FEW = 2


def _tell_rows(query: Query, index: Index) -> Told | None:
    tables = load(index)
    heard = hear(query.question, query.history, tables.known) if tables.facts.models else None
    return tell_rows(query, heard, tables.facts, index) if heard and not heard.computed else None


def rows_told(query: Query, passages: Sequence[Passage], index: Index) -> tuple[Evidence, ...]:
    """The rows of tables that answer a question, or a part of it."""
    told = _tell_rows(query, index)
    drafts = (told.draft if told else None, answer_from_table(query, (), passages, index), compare_hardware(query, index))
    return tuple(dict.fromkeys(piece for draft in drafts if draft for piece in draft.evidence))


def read(
    query: Query,
    passages: Sequence[Passage],
    index: Index,
    scored: Sequence[Scored] | None = None,
    near: Sequence[Match] = (),
    compared: Draft | None = None,
) -> Draft:
    """Draft an answer from passages; a draft without text is a refusal.

    `scored` is their evidence, where that is known, and `near` are the questions of the corpus that may mean what is asked: the answer
    to one of them is given if it is sure, or where no row of a table answers, if it is likely to be right. `compared` are the figures of
    hardware that the question holds against each other.
    """
    if query.options:
        return examine(query, passages, index)
    if is_command(query.standalone) or asks_own_records(query.standalone):
        return Draft("", ())
    scored = score_units(query, passages, index) if scored is None else scored
    found = eligible(query, scored)
    if query.asks_agreement and (told := lay_side_by_side(query, scored, passages, index)):
        return told
    # Figures go before a prepared answer that is not all but certain, unless the best evidence proves that one, too.
    agreed = not compared or bool(found and near and is_proved_by(near[0], found[0]))
    if agreed and is_sure(near, query) and (proved := _proved(near[0], query, found, index)):
        return proved
    if compared:
        return compared
    told_by_rows = _tell_rows(query, index)
    if told_by_rows and told_by_rows.whole:
        return _borne_out(told_by_rows, scored, index)
    if told_by_rows and (told_by_rows.draft.computed or len(told_by_rows.names) > _FEW or not any(s.score >= ANSWERS and told_by_rows.stands_in(s.unit.meant_in_place, index) for s in scored)):
        return told_by_rows.draft
    if draft := answer_from_table(query, scored, passages, index):
        return draft
    looked_up = told_by_rows.draft if told_by_rows else None
    if set(map(str.lower, query.unknown)) - load(index).known.types - load(index).known.regions:
        return looked_up or Draft("", ())
    if is_meant(near, query, found[0].score if found else 0.0) and (proved := _proved(near[0], query, found, index)):
        return proved
    told = _first(_COMPOSERS, query, scored, passages, index) or Notes().draft()
    if looked_up:
        return looked_up if NEAREST in told.given else looked_up.then(told)  # a row needs nothing that may have to do with it
    return told


def _borne_out(told: Told, scored: Sequence[Scored], index: Index) -> Draft:
    """What rows say, where it is one figure with the passage of a document that has it, too."""
    draft = told.draft
    figures = [q for q in quantities(draft.text) if q.dimension != "count"]
    if len(draft.evidence) != 1 or not figures:
        return draft
    there = (s for s in scored if told.stands_in(s.unit.meant_in_place, index) and any(same(figures[-1], q) for q in quantities(s.unit.plain)))
    if (also := next(there, None)) is None:
        return draft
    # What tells two of a name apart need not stand in the passage, where there is one.
    text = re.sub(r" \(\d+ Gi?B\)", "", draft.text)
    return replace(draft, text=text.replace("[1]", "[1][2]"), evidence=(*draft.evidence, Evidence(also.passage, also.unit.start, also.unit.end)))


def _proved(match: Match, query: Query, found: Sequence[Scored], index: Index) -> Draft | None:
    """An answer that was proved beforehand, and under it the best evidence where that is sure and says something else."""
    draft = answer_of(match, index)
    if draft is None or not found or found[0].score < _SAYS_MORE or is_proved_by(match, found[0]):
        return draft
    notes = Notes()
    notes.line(notes.sentence(statement(found[0].unit, query), found[0]))
    return draft.then(notes.draft())


def _first(
    composers: Sequence[Composer], query: Query, scored: Sequence[Scored], passages: Sequence[Passage], index: Index
) -> Draft | None:
    drafts = (compose(query, scored, passages, index) for compose in composers)
    return next((draft for draft in drafts if draft is not None), None)
