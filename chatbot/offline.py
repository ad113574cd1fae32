"""The reader that needs no model server: it finds the evidence, says it in its own words as they stand, and cites it."""

from collections.abc import Callable, Sequence

from chatbot.answer import Passage
from chatbot.attribute import asks_own_records, is_command
from chatbot.comparison import compare
from chatbot.decision import decide
from chatbot.definition import define
from chatbot.disagreement import lay_side_by_side
from chatbot.draft import Draft, Notes
from chatbot.eligibility import ANSWERS
from chatbot.examination import examine
from chatbot.facts import state_facts
from chatbot.premise import judge
from chatbot.query import Query
from chatbot.scoring import Scored, score_units
from chatbot.table import answer_from_table
from chatbot.table.lookup import look_up, speaks_of_it
from ingest import Index

Composer = Callable[[Query, Sequence[Scored], Sequence[Passage], Index], Draft | None]

# Tried in order; a composer that finds the question is not for it gives None and the next is asked.
_COMPOSERS: tuple[Composer, ...] = (lay_side_by_side, judge, compare, define, decide, state_facts)


def read(query: Query, passages: Sequence[Passage], index: Index, scored: Sequence[Scored] | None = None) -> Draft:
    """Draft an answer from passages; a draft without text is a refusal. `scored` is their evidence, where that is known."""
    if query.options:
        return examine(query, passages, index)
    if is_command(query.standalone) or asks_own_records(query.standalone):
        return Draft("", ())
    scored = score_units(query, passages, index) if scored is None else scored
    if draft := answer_from_table(query, scored, passages, index):
        return draft
    looked_up = look_up(query, passages, index)
    if query.unknown:
        return looked_up or Draft("", ())
    if looked_up and not any(s.score >= ANSWERS and speaks_of_it(query, s.unit.meant_in_place, index) for s in scored):
        return looked_up
    drafts = (compose(query, scored, passages, index) for compose in _COMPOSERS)
    told = next((draft for draft in drafts if draft is not None), Notes().draft())
    return looked_up.then(told) if looked_up else told
