"""Exam questions answered from documents written for these tests."""

from pathlib import Path

import pytest

from chatbot import Chatbot
from chatbot.answer import REFUSAL
from chatbot.evidence import units
from chatbot.exam_reader import chosen
from chatbot.exam_reader.entailment import _reading, denied, has_numbers
from chatbot.exam_reader.ground import grounds, on_question
from chatbot.exam_reader.instance_letters import families, said_by_letters
from chatbot.exam_reader.matter import matter_of
from chatbot.exam_reader.option_evidence import extremes
from chatbot.exam_reader.requirements import poles, stance
from chatbot.question.query import understand
from chatbot.retrieval.searching import search
from ingest import sync

PURCHASE = """# Purchase options
## Which option suits which workload?
Use Blue Instances for stateless work that can be interrupted. Blue Instances are not suitable for work that is stateful or tightly coupled.
For short work that must not be interrupted, Green Instances are the most cost-effective option, because a commitment runs for years.
A Red Plan is the most cost-effective option for steady work that runs for three years.
"""
CHIPS = """# Chips of the Vero family
## How do the Vero chips differ?
| Chip | Memory | FP8 |
|---|---|---|
| V5 | 95 GB | yes |
| V6 | 32 GB | yes |
| V4 | 16 GB | no |

C chips have 2 GB of memory per core, M chips 4 GB and R chips 8 GB.
Vero chips run Linux only and do not support hibernation. Programs written for CUDA do not run on Vero chips.
"""


@pytest.fixture(scope="module")
def examined(tmp_path_factory: pytest.TempPathFactory) -> Chatbot:
    folder = tmp_path_factory.mktemp("documents")
    (folder / "purchase.md").write_text(PURCHASE, encoding="utf-8")
    (folder / "chips.md").write_text(CHIPS, encoding="utf-8")
    sync([folder], folder / "index")
    return Chatbot.open(folder / "index")


WORKLOADS = [
    ("A stateless queue of jobs can be interrupted and resumed.", "A"),
    ("A job of a few hours must not be interrupted.", "B"),
    ("A service with steady load runs for the next three years.", "C"),
]


@pytest.mark.parametrize(("workload", "right"), WORKLOADS)
def test_what_a_workload_asks_for_decides_between_options(examined: Chatbot, workload: str, right: str) -> None:
    options = "A. Blue Instances\nB. Green Instances\nC. Red Plan"
    assert examined.ask(f"{workload} Which option is the most cost-effective?\n{options}").choices == (right,)


def test_the_most_is_read_from_the_column_of_a_table(examined: Chatbot) -> None:
    question = "Which Vero chip has the {} memory?\nA. V6\nB. V4\nC. V5"
    assert examined.ask(question.format("most")).choices == ("C",)
    assert examined.ask(question.format("least")).choices == ("B",)


def test_the_same_numbers_in_another_order_are_another_answer(examined: Chatbot) -> None:
    question = "How much memory per core do C, M and R chips have?\nA. 8 GB, 4 GB and 2 GB\nB. 2 GB, 4 GB and 8 GB"
    assert examined.ask(question).choices == ("B",)


@pytest.mark.parametrize(("chips", "right"), [("C", "A"), ("M", "B"), ("R", "C")])
def test_a_figure_belongs_to_the_thing_that_it_is_said_of(examined: Chatbot, chips: str, right: str) -> None:
    question = f"How much memory per core do {chips} chips have?\nA. 2 GB\nB. 4 GB\nC. 8 GB"
    assert examined.ask(question).choices == (right,)


def test_what_a_reason_says_is_not_what_an_option_is_for(examined: Chatbot) -> None:
    question = "A stateful service will run for the next three years. Which option is the most cost-effective?"
    assert examined.ask(f"{question}\nA. Blue Instances\nB. Green Instances\nC. Red Plan").choices == ("C",)


def test_of_statements_the_denied_one_is_not_true(examined: Chatbot) -> None:
    options = "A. Vero chips support hibernation\nB. Vero chips run Linux"
    assert examined.ask(f"Which statement is correct?\n{options}").choices == ("B",)
    assert examined.ask(f"Which statement is NOT correct?\n{options}").choices == ("A",)


def test_what_evidence_denies_is_false_sooner_than_what_no_evidence_speaks_of(examined: Chatbot) -> None:
    question = (
        "Which of these do Vero chips NOT allow?\nA. Running Linux\nB. Hibernation\nC. Cold starts\nD. FP8 on the V5"
    )
    answer = examined.ask(question)
    assert answer.choices == ("B",)
    assert "do not support hibernation" in answer.text.splitlines()[0]


def test_as_many_letters_are_given_as_are_asked_for(examined: Chatbot) -> None:
    question = "Which chips of the Vero family support FP8? (Choose two.)\nA. V4\nB. V5\nC. V6"
    assert examined.ask(question).choices == ("B", "C")


def test_of_options_that_differ_in_a_detail_one_is_chosen() -> None:
    ranked = [
        "Launch the cluster of nodes within a single zone",
        "Launch the cluster of nodes across all zones",
        "Use Blue Instances",
        "Use a Red Plan",
    ]

    assert chosen(ranked, 2) == [0, 2]
    assert chosen(ranked, 1) == [0]
    assert chosen(ranked[:2], 2) == [0, 1], "there is nothing else to choose"
    assert chosen(["Blue Instances", "Red Instances", "Green"], 2) == [0, 1], (
        "names are short, and all of them are details"
    )


def test_the_letters_come_first_and_each_option_has_a_line_of_its_own(examined: Chatbot) -> None:
    answer = examined.ask("Which Vero chip has the most memory?\nA. V6\nB. Unheard\nC. V5")
    first, *lines = answer.text.splitlines()
    assert first.startswith("C: ")
    assert [line[:5] for line in lines] == ["- A. ", "- B. ", "- C. "]
    assert lines[1] == f"- B. Unheard: {REFUSAL}"
    assert all("[" in line for line in (first, lines[0], lines[2]))


def test_a_question_that_no_document_speaks_of_is_refused(examined: Chatbot) -> None:
    answer = examined.ask("Who painted the Mona Lisa?\nA. Leonardo\nB. Picasso\nC. Monet")
    assert (answer.refused, answer.choices) == (True, ())


def test_an_exam_question_over_documents_without_a_sentence_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bare.md").write_text("# Who painted it?\n", encoding="utf-8")
    sync([tmp_path / "bare.md"], tmp_path / "index")

    assert Chatbot.open(tmp_path / "index").ask("Who painted it?\nA. Leonardo\nB. Picasso").refused


def test_a_refusal_reaches_over_a_list_and_a_denial_over_its_clause() -> None:
    assert {"state", "coupl"} <= denied(
        "Blue Instances are not suitable for work that is stateful, inflexible or coupled."
    )
    assert denied("It does not support hibernation, and runs Linux.") == {"support", "hibern"}


def test_a_column_of_what_something_is_not_for_denies_what_its_cells_say() -> None:
    row = "Load: Steady; Use: Red Plan; Why the alternative is worse: Blue Instances can be interrupted"

    assert denied(row) == {"blue", "instanc", "interrupt"}
    assert stance("Service: Red; It is not for: Steady load").against == {("load", "steady")}
    assert denied("Service: Red; Avoid for: Training; Power: 75 W") == {"train"}


def test_the_name_of_a_way_to_pay_denies_nothing() -> None:
    assert denied("No Upfront Reserved Instances") == frozenset()


def test_a_denial_with_nothing_behind_it_denies_what_stands_before() -> None:
    assert denied("Blue and Green chips can be rented by the hour; Red chips cannot.") == {"red", "chip"}
    assert denied("Blue computes in BF16, and Red does not.") == {"red"}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("The R family suits caches.", {"r famili"}),
        ("I instances have SSDs; D and H instances have hard disks.", {"i famili", "d famili", "h famili"}),
        ("The C, G and P series can train as well.", {"c famili", "g famili", "p famili"}),
        ("trn1.32xlarge and an r7i.4xlarge", {"trn famili", "r famili"}),
        ("H100, L4 and TPU v5e are no families, and neither is a G by itself.", set()),
    ],
)
def test_families_are_read_from_names_and_from_instance_types(text: str, named: set[str]) -> None:
    assert families(text) == named


def test_the_letters_of_a_type_tell_its_family_and_processor() -> None:
    assert said_by_letters("Move to m7a.4xlarge or c7gn.xlarge") == ["m family", "amd", "c family", "graviton"]
    assert said_by_letters("g5.xlarge beside inf2.xlarge") == ["g family", "inf family"]


def test_what_a_text_is_for_and_against() -> None:
    found = stance("T instances suit short peaks and are the wrong choice for steady load.")
    assert ("load", "variable") in found.in_favour
    assert found.against == {("load", "steady")}
    reason = stance("Green is best for short work, because a commitment runs for years.")
    assert ("term", "long") not in reason.in_favour


def test_tolerated_and_forbidden_interruptions_are_told_apart() -> None:
    assert ("interruption", "tolerated") in poles("The job can be interrupted and resumed.")
    assert ("interruption", "forbidden") in poles("The job cannot be interrupted.")
    assert ("interruption", "tolerated") not in poles("The job cannot be interrupted.")


def test_evidence_has_all_numbers_of_a_claim_in_its_order(examined: Chatbot) -> None:
    chunks = [c for d in examined.index.documents() for c in examined.index.document_chunks(d.id)]
    unit = next(u for c in chunks for u in units(c) if "per core" in u.text)
    claims = ["2 GB, 4 GB and 8 GB", "8 GB, 4 GB and 2 GB", "2 GB and 5 GB", "16 GB", "3 hours", "plenty"]
    assert [has_numbers(claim, unit) for claim in claims] == [True, False, False, False, False, False]


def test_what_all_options_say_sets_none_apart(examined: Chatbot) -> None:
    question = "Which is right?\nA. Use Blue Instances for the batch jobs\nB. Use Green Instances for the batch jobs"
    matter = matter_of(understand(question, (), examined.index), examined.index)
    weights = {word.stem: word.weight for word in matter.parts[0][0].apart}
    assert weights["batch"] == weights["batch job"] == 0.0
    assert min(weights["blue"], weights["blue instanc"]) > 0


def test_an_option_in_several_parts_is_weighed_part_by_part(examined: Chatbot) -> None:
    option = "Buy a Red Plan for the base load. Use Blue Instances for the peaks."
    question = f"Which is right?\nA. {option}\nB. Use Green Instances for everything that there is to run"
    matter = matter_of(understand(question, (), examined.index), examined.index)
    assert [(part.text, part.weight) for part in matter.parts[0]] == [
        ("Buy a Red Plan for the base load.", 0.5),
        ("Use Blue Instances for the peaks.", 0.5),
    ]


def test_no_option_has_the_most_where_only_one_has_a_figure(examined: Chatbot) -> None:
    index = examined.index
    query = understand("Which chip has the most memory?\nA. V5\nB. Unheard\nC. Unseen", (), index)
    matter = matter_of(query, index)
    passages = examined.ask(query.question).passages
    assert extremes(matter, grounds(matter, query, passages, index)) == [0.0, 0.0, 0.0]


def test_what_the_stem_says_of_a_thing_belongs_to_the_part_that_is_for_it(examined: Chatbot) -> None:
    stem = (
        "A company has web servers and render jobs. The web servers run all year. They must not stop. The render jobs may be stopped at any time. "
        "Which combination is MOST cost-effective?\nA. Use Blue Instances for the render jobs and a Red Plan for the web servers.\nB. Green Instances"
    )
    matter = matter_of(understand(stem, (), examined.index), examined.index)

    assert [part.situation for part in matter.parts[0]] == [
        "The render jobs may be stopped at any time.",
        "The web servers run all year. They must not stop.",
    ]
    assert matter.parts[1][0].situation == ""


def test_what_is_proposed_for_both_is_held_against_what_the_stem_says_of_each(examined: Chatbot) -> None:
    stem = (
        "A company runs web servers that must not stop, and render jobs that may be stopped at any time. Which combination costs the least?"
        "\nA. Blue Instances for the render jobs and a Red Plan for the web servers\nB. Blue Instances for both\nC. Green Instances for all of the workloads"
    )
    matter = matter_of(understand(stem, (), examined.index), examined.index)

    assert [[part.text for part in parts] for parts in matter.parts] == [
        ["Blue Instances for the render jobs", "a Red Plan for the web servers"],
        ["Blue Instances for the render jobs", "Blue Instances for the web servers"],
        ["Green Instances for the render jobs", "Green Instances for the web servers"],
    ]
    assert [part.situation for part in matter.parts[1]] == [
        "render jobs that may be stopped at any time.",
        "A company runs web servers that must not stop, and",
    ]


@pytest.mark.parametrize(
    ("stem", "asking"),
    [
        ("A team trains for months. It reads about V5 chips. Which one is correct?", "It reads about V5 chips. Which one is correct?"),
        ("A team must not wait for V5 chips. Which answer is NOT right?", "A team must not wait for V5 chips. Which answer is   right?"),
        ("A team trains for months. Which chip has the most memory per core?", "Which chip has the most memory per core?"),
        ("Which one is correct?", "Which one is correct?"),
    ],
)  # fmt: skip
def test_a_sentence_that_asks_nothing_by_itself_leans_on_the_one_before(
    stem: str, asking: str, examined: Chatbot
) -> None:
    query = understand(f"{stem}\nA. Blue Instances\nB. Red Plan", (), examined.index)
    assert matter_of(query, examined.index).asking == asking


def test_what_an_option_says_that_it_is_for_is_a_need_too(examined: Chatbot) -> None:
    stem = "What lowers the bill? \nA. Green Instances for steady workloads\nB. Blue Instances in three years"
    matter = matter_of(understand(stem, (), examined.index), examined.index)

    assert [part.asked for parts in matter.parts for part in parts] == [{("load", "steady")}, frozenset()]


def test_who_wants_little_effort_does_not_want_to_write_it() -> None:
    assert ("operation", "managed") in poles("with the LEAST number of configuration changes")
    assert ("operation", "own") in poles("Create an AWS Lambda function to extract the usage")


def test_a_ground_is_weighed_by_how_it_speaks_of_the_whole_question(examined: Chatbot) -> None:
    query = understand(
        "Which option suits stateless work that can be interrupted?\nA. Blue Instances\nB. Red Plan", (), examined.index
    )
    matter = matter_of(query, examined.index)
    found = grounds(matter, query, search(query, examined.index), examined.index)

    speaking = {g.unit.plain: s for g, s in zip(found, on_question(matter, found, examined.index), strict=True)}

    telling = speaking["Use Blue Instances for stateless work that can be interrupted."]
    beside = (
        speaking["V5 | 95 GB | yes"]
        if "V5 | 95 GB | yes" in speaking
        else min(speaking.values(), key=lambda s: s["stem nearness"])
    )
    assert (telling["says an option"], telling["says another"]) == (1.0, 0.0)
    assert all(telling[name] > beside[name] for name in ("stem nearness", "question nearness", "question meaning"))


def test_two_statements_joined_by_and_are_two_parts(examined: Chatbot) -> None:
    stem = "Which statement is correct?\nA. Vero V5 has 95 GB of memory, and Vero V4 has 16 GB.\nB. Vero V5 has 16 GB of memory, and Vero V4 has 95 GB."
    matter = matter_of(understand(stem, (), examined.index), examined.index)

    assert [part.text for part in matter.parts[0]] == ["Vero V5 has 95 GB of memory,", "Vero V4 has 16 GB."]


def test_what_is_said_of_one_thing_is_kept_apart_from_what_is_said_of_another(examined: Chatbot) -> None:
    sentence = "Trn2 carries Trainium2 and Trn3 carries Trainium3."
    assert [sorted(w for w in clause if " " not in w) for clause in _reading(sentence, sentence, (), "").clauses] == [
        ["carri", "trainium2", "trn2"],
        ["carri", "trainium3", "trn3"],
    ]
    row = (("Instance", "G6"), ("GPU", "L4"), ("Memory", "22 GiB"))
    assert [sorted(w for w in clause if " " not in w) for clause in _reading("", "", row, "").clauses] == [
        ["g6", "gpu", "l4"],
        ["22", "g6", "gib", "memori"],
    ]
