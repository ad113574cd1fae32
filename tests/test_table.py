"""Questions about an instance table: how they are understood, which rows they select, and that answers pass verification."""

import gzip
import json
import operator
from collections.abc import Sequence
from importlib import resources
from math import inf
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatbot.answer import Passage, Turn
from chatbot.question.query import understand
from chatbot.reader.scoring import score_units
from chatbot.retrieval.retriever import retrieve
from chatbot.table import answer_from_table, select
from chatbot.table.bounds import Bound
from chatbot.table.columns import HEADERS, Column
from chatbot.table.filters import Request, Trait, read_request
from chatbot.table.instances import Instances, Row, load_instances
from chatbot.table.row_phrases import describe, subject
from chatbot.table.selection import measured
from chatbot.table.turns import request_of
from chatbot.verification.citations import Evidence, Verified, verify
from ingest import Index, sync
from ingest.fetching.instance_rows import as_csv, instance_rows

pytest.importorskip("moto")

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
FAMILIES = frozenset(
    [
        "g4dn",
        "g5",
        "g5g",
        "g6",
        "g6e",
        "g6f",
        "gr6",
        "inf1",
        "inf2",
        "p3dn",
        "p4d",
        "p4de",
        "p5",
        "p5e",
        "p5en",
        "p6-b200",
        "trn1",
        "trn1n",
        "trn2",
        "trn2u",
        "f2",
        "vt1",
        "dl2q",
        "m5",
        "m6i",
        "m6g",
        "c6i",
        "r6i",
        "r6g",
        "c5n",
        "t3",
        "t4g",
        "i4i",
        "d3",
        "hpc7g",
        "x2iezn",
        "u-6tb1",
    ]
)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    """An index of some families from moto's copy of AWS's data and of the Trn1 document, which has facts of its own."""
    data = resources.files("moto").joinpath("ec2/resources/instance_types.json.gz").read_bytes()
    described = json.loads(gzip.decompress(data))
    folder = tmp_path_factory.mktemp("table")
    rows = instance_rows(one for name, one in described.items() if name.partition(".")[0] in FAMILIES)
    (folder / "docs").mkdir()
    (folder / "docs" / "instances.csv").write_bytes(as_csv(rows))
    (folder / "docs" / "trn1.md").write_bytes((CORPUS / "trn1-instances.md").read_bytes())
    sync([folder / "docs"], folder / "index", encoder="none")
    return Index.open(folder / "index")


@pytest.fixture(scope="module")
def known(index: Index) -> Instances:
    return load_instances(index)


def answer(question: str, index: Index) -> Verified | None:
    query = understand(question, (), index)
    passages = retrieve(index, question)
    draft = answer_from_table(query, score_units(query, passages, index), passages, index)
    return None if draft is None else verify(draft.text, draft.evidence, draft.given)


def names(question: str, index: Index) -> list[str]:
    """The instance types whose rows the answer cites, in order; also asserts that no sentence was dropped."""
    verified = answer(question, index)
    assert verified is not None
    assert verified.dropped == ()
    assert all(c.passage.chunk.document.text[c.start : c.end] == c.quote for c in verified.citations)
    return list(dict.fromkeys(c.quote.split(" | ")[0].strip("| ") for c in verified.citations))


# Answers checked by hand


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("how many GPUs in p4d.24xlarge", "p4d.24xlarge has 8 NVIDIA A100 GPUs [1]."),
        ("How many A100s does a p4d.24xlarge have?", "p4d.24xlarge has 8 NVIDIA A100 GPUs [1]."),
        ("memory of r6g.4xlarge", "r6g.4xlarge has 128 GiB of memory [1]."),
        ("How many vCPUs does a g4dn.xl have?", "g4dn.xlarge has 4 vCPUs [1]."),
        ("What is the network bandwidth of p5.48xlarge?", "p5.48xlarge has 3200 Gbps of network bandwidth [1]."),
        ("EFA bandwidth of p5.48xlarge?", "p5.48xlarge has 3200 Gbps of network bandwidth [1]."),
        ("GPU memory of p5.48xlarge?", "p5.48xlarge has 640 GiB of accelerator memory (80 GiB each) [1]."),
        ("Does p4d.24xlarge support EFA?", "Yes: p4d.24xlarge has EFA [1]."),
        ("does m5.large have EFA?", "No: m5.large, EFA: no [1]."),
        ("Is t3.micro burstable?", "Yes: t3.micro is burstable [1]."),
        ("Is m5.metal bare metal?", "Yes: m5.metal is bare metal [1]."),
        ("does p4d.24xlarge have 16 GPUs?", "No: p4d.24xlarge has 8 NVIDIA A100 GPUs [1]."),
        ("does m5.large have local storage?", "No: m5.large, local storage: none [1]."),
        ("what architecture is r6g.large?", "r6g.large, architecture: arm64 [1]."),
        ("which GPU does g5.xlarge have?", "g5.xlarge has 1 NVIDIA A10G GPU [1]."),
        ("how many accelerators does m5.large have?", "m5.large has 0 accelerators [1]."),
        ("what's the processor of hpc7g.4xlarge?", "hpc7g.4xlarge has AWS Graviton3E at 2.6 GHz as its processor [1]."),
        ("How much memory per vCPU do r6i instances have?", "r6i instances have 8 GiB of memory per vCPU [1][2]."),
        ("are t4g instances burstable?", "t4g instances are burstable [1][2]."),
        ("memory of u-6tb1.56xlarge", "u-6tb1.56xlarge has 6144 GiB of memory [1]."),
        (
            "Which instances have 8 H100?",
            "1. p5.48xlarge has 8 NVIDIA H100 GPUs, 640 GiB of accelerator memory (80 GiB each), 192 vCPUs and 2048 GiB of host memory [1].",
        ),
        (
            "p4d.24xlarge vs p5.48xlarge: vCPUs?",
            "- p4d.24xlarge has 96 vCPUs [1].\n- p5.48xlarge has 192 vCPUs [2].",
        ),
        (
            "Which has the most memory per vCPU among m6i, c6i, r6i?",
            "Most memory per vCPU: r6i.large has 8 GiB of memory per vCPU [1].\n"
            "- m6i.large has 4 GiB of memory per vCPU [2].\n- c6i.large has 2 GiB of memory per vCPU [3].",
        ),
        (
            "Which instances have the same GPU as p4d.24xlarge but more GPU memory?",
            "1. p4de.24xlarge has 640 GiB of accelerator memory (80 GiB each) and 8 NVIDIA A100 GPUs [1].\n"
            "For comparison, p4d.24xlarge has 320 GiB of accelerator memory (40 GiB each) and 8 NVIDIA A100 GPUs [2].",
        ),
        (
            "Does p5e.48xlarge have more GPU memory than p5.48xlarge?",
            "Yes: p5e.48xlarge has 1128 GiB of accelerator memory (141 GiB each) [1].\n"
            "For comparison, p5.48xlarge has 640 GiB of accelerator memory (80 GiB each) [2].",
        ),
        (
            "We use trn1.32xlarge. Which instances have more network bandwidth with the same chips?",
            "1. trn1n.32xlarge has 1600 Gbps of network bandwidth and 16 AWS Trainium chips [1].\n"
            "For comparison, trn1.32xlarge has 800 Gbps of network bandwidth and 16 AWS Trainium chips [2].",
        ),
        (
            "Has an inf2.xlarge fewer vCPUs than a trn1.2xlarge?",
            "Yes: inf2.xlarge has 4 vCPUs [1].\nFor comparison, trn1.2xlarge has 8 vCPUs [2].",
        ),
        (
            "Does a p4d.24xlarge have the same GPU as a p5.48xlarge?",
            "No: p4d.24xlarge has 8 NVIDIA A100 GPUs [1].\nFor comparison, p5.48xlarge has 8 NVIDIA H100 GPUs [2].",
        ),
        (
            "Does a p4d.24xlarge have the same number of GPUs as a p5.48xlarge?",
            "Yes: p4d.24xlarge has 8 NVIDIA A100 GPUs [1].\nFor comparison, p5.48xlarge has 8 NVIDIA H100 GPUs [2].",
        ),
    ],
)
def test_rows_answer(index: Index, question: str, text: str) -> None:
    verified = answer(question, index)
    assert verified is not None
    assert (verified.text, verified.dropped) == (text, ())


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("which g5 sizes have 4 GPUs?", ["g5.12xlarge", "g5.24xlarge"]),
        ("Which instances have 80 GB A100 GPUs?", ["p4de.24xlarge"]),
        ("Which instances have an A100 with 80 GB?", ["p4de.24xlarge"]),
        ("list the inf2 instance sizes", ["inf2.xlarge", "inf2.8xlarge", "inf2.24xlarge", "inf2.48xlarge"]),
        ("Which P4 instances are there?", ["p4d.24xlarge", "p4de.24xlarge"]),
        ("instances with EFA and less than 100 GiB", ["c5n.9xlarge"]),
        ("Which instances use NVIDIA T4g GPUs and have 2 GPUs?", ["g5g.16xlarge", "g5g.metal"]),
        ("which instance types have 16 chips", ["inf1.24xlarge", "trn1.32xlarge", "trn1n.32xlarge", "trn2.48xlarge", "trn2u.48xlarge"]),
        ("smallest GPU instance with at least 160 GB of GPU memory", ["g6e.12xlarge", "g6e.24xlarge", "p3dn.24xlarge", "p4d.24xlarge"]),
        ("largest r6i instance", ["r6i.32xlarge", "r6i.metal", "r6i.24xlarge", "r6i.16xlarge"]),
        ("which bare metal instances have between 300 and 400 GiB of memory?", ["g4dn.metal", "m5.metal"]),
        ("x86 instances with no local storage and 4 vCPUs and 8 GiB memory", ["c6i.xlarge", "inf1.xlarge"]),
        ("Which instance has more memory, r6g.4xlarge or m6g.16xlarge?", ["m6g.16xlarge", "r6g.4xlarge"]),
        ("which instance has the most local storage", ["d3.8xlarge", "p5.48xlarge", "p5e.48xlarge", "p5en.48xlarge"]),
    ],
)  # fmt: skip
def test_conditions_choose_rows(index: Index, question: str, found: list[str]) -> None:
    assert names(question, index) == found


def test_the_memory_of_one_accelerator_is_not_that_of_the_machine(index: Index) -> None:
    each = answer("How much memory does each GPU in p5.48xlarge have?", index)
    assert each is not None
    assert each.text == "p5.48xlarge has 80 GiB of memory on each of its accelerators [1]."
    assert answer("what memory has the GPU of p5.48xlarge?", index) is None


def test_the_number_of_sizes_stands_in_the_row(index: Index) -> None:
    verified = answer("How many g5 sizes are there?", index)
    assert verified is not None
    assert verified.dropped == ()
    assert verified.text.splitlines()[0] == "g5 has 8 sizes [1]."
    assert verified.text.splitlines()[-1].startswith("8. g5.48xlarge has 8 NVIDIA A10G GPUs")


def test_what_a_row_does_not_have_compares_nothing(index: Index) -> None:
    assert answer("Which instances have the same GPU as m5.large?", index) is None
    assert answer("Which instances have more GPU memory than m5.large?", index) is None


def test_more_rows_than_are_shown_are_told_of(index: Index) -> None:
    verified = answer("which instances have EFA?", index)
    assert verified is not None
    assert verified.dropped == ()
    lines = verified.text.splitlines()
    assert len(lines) == 13
    assert lines[0] == "53 instance types match, 12 of them shown."


@pytest.mark.parametrize(
    "question",
    [
        "What does p5.48xlarge cost per hour?",
        "cheapest instance with 8 GPUs",
        "Is p5.48xlarge available in Frankfurt?",
        "memory bandwidth of p5.48xlarge",
        "Which instance should I use to train a 7B model?",
        "vCPUs of trn1.16xlarge?",
        "Which instances belong to the Amazon EC2 Trn series?",
        "Why does p4d.24xlarge have only 8 GPUs?",
        "How many CUDA cores has the H100?",
        "how many H100s do I need to train a 70B model",
        "Trn1 has 400 Gbps networking at most, right?",
        "What is the TDP of the L4?",
        "How many GPUs are needed for 500 GB of GPU memory?",
        "How much power does g5.xlarge draw?",
        "what is 8 vCPUs?",
        "m5.large",
    ],
)
def test_other_questions_are_left_alone(index: Index, question: str) -> None:
    assert answer(question, index) is None


@pytest.mark.parametrize(
    "question",
    [
        "How much accelerator memory does a trn1.32xlarge have?",
        "trn1.2xlarge vs trn1.32xlarge: accelerator memory and chips?",
        "does trn1.32xlarge have 16 chips?",
    ],
)
def test_what_a_document_says_of_a_type_is_left_to_it(index: Index, question: str) -> None:
    assert answer(question, index) is None


def test_what_no_document_says_of_a_type_is_not(index: Index) -> None:
    verified = answer("How much host RAM does trn1.32xlarge have?", index)
    assert verified is not None
    assert verified.text == "trn1.32xlarge has 512 GiB of memory [1]."


# Several tables, and no table

_HEADER = (
    "| Instance type | Family | Generation | As of | vCPUs | Memory | Sizes in family | Accelerators | Accelerator |"
)


def table(*rows: str) -> str:
    return "\n".join([_HEADER, "|" + " --- |" * 9, *(f"| {row} |" for row in rows)]) + "\n"


def indexed(folder: Path, **documents: str) -> Index:
    (folder / "docs").mkdir(exist_ok=True)
    for name, text in documents.items():
        (folder / "docs" / f"{name}.md").write_text(text, encoding="utf-8")
    sync([folder / "docs"], folder / "index", encoder="none")
    return Index.open(folder / "index")


def test_the_newer_table_leads_and_another_figure_of_an_older_one_stands_beside_it(tmp_path: Path) -> None:
    old = "# Old\n\n" + table("m9.large | m9 | 9 (current) | 2024-01-05 | 2 | 8 GiB | 1 | 0 | none")
    new = "# New\n\n" + table("m9.large | m9 | 9 (current) | 2026-03-01 | 2 | 16 GiB | 1 | 0 | none")
    index = indexed(tmp_path, old=old, new=new)
    memory, vcpus = answer("memory of m9.large", index), answer("vCPUs of m9.large", index)
    assert memory is not None
    assert vcpus is not None
    assert (memory.text, memory.dropped) == (
        "m9.large (as of 2026-03-01) has 16 GiB of memory [1].\nAs of 2024-01-05: m9.large has 8 GiB of memory [2].",
        (),
    )
    assert vcpus.text == "m9.large (as of 2026-03-01) has 2 vCPUs [1]."


def test_a_type_that_is_no_longer_listed_says_so_and_is_not_offered(tmp_path: Path) -> None:
    gone = "p1.large | p1 | 1 (absent from the newest listing) | 2024-01-05 | 2 | 8 GiB | 1 | 1 | NVIDIA K20 GPU"
    kept = "p2.large | p2 | 2 (current) | 2026-01-05 | 4 | 8 GiB | 1 | 1 | NVIDIA K40 GPU"
    index = indexed(tmp_path, table="# Types\n\n" + table(gone, kept))
    assert names("which instances have 1 GPU and 8 GiB of memory?", index) == ["p2.large"]
    verified = answer("vCPUs of p1.large", index)
    assert verified is not None
    assert verified.text == "p1.large (absent from the newest listing, as of 2024-01-05) has 2 vCPUs [1]."


def test_a_sync_is_seen(tmp_path: Path) -> None:
    row = "m9.large | m9 | 9 (current) | 2024-01-05 | {} | 8 GiB | 1 | 0 | none"
    index = indexed(tmp_path, table="# Types\n\n" + table(row.format(2)))
    assert load_instances(index).rows["m9.large"][0].says("vcpus") == "2"
    indexed(tmp_path, table="# Types\n\n" + table(row.format(4)))
    assert load_instances(index).rows["m9.large"][0].says("vcpus") == "4"


def test_an_index_without_such_a_table_answers_nothing(tmp_path: Path) -> None:
    text = "# Sizes\n\n| Instance type | vCPUs |\n| --- | --- |\n| m9.large | 2 |\n"
    assert answer("vCPUs of m9.large", indexed(tmp_path, sizes=text)) is None


# Verification keeps each figure of each row


def test_verification_keeps_what_is_said_of_any_row(known: Instances, index: Index) -> None:
    lost = []
    for row in known.newest[::7]:
        for column in HEADERS:
            said = describe(row, [column])
            evidence = Evidence(Passage(1, row.chunk, 1.0), row.start, row.end)
            if said and verify(f"{subject(row, with_date=True)}{said} [1].", [evidence]).dropped:
                lost.append(f"{subject(row)}{said}")
    assert lost == []


# Filters compared with a plain reimplementation

_COLUMN_WORDS: dict[Column, tuple[str, str]] = {
    "vcpus": ("", "vCPUs"),
    "memory": (" GiB", "of memory"),
    "total": (" GiB", "of GPU memory"),
    "accelerators": ("", "accelerators"),
    "network": (" Gbps", "of network bandwidth"),
}
_BOUNDS = {
    "at least": operator.ge,
    "more than": operator.gt,
    "at most": operator.le,
    "less than": operator.lt,
    "exactly": operator.eq,
}


@st.composite
def conditions(draw: st.DrawFn) -> list[tuple[Column, str, int]]:
    columns = draw(st.lists(st.sampled_from(sorted(_COLUMN_WORDS)), min_size=1, max_size=3, unique=True))
    numbers = st.sampled_from([1, 2, 4, 8, 16, 24, 32, 64, 96, 100, 128, 192, 256, 512])
    return [(column, draw(st.sampled_from(sorted(_BOUNDS))), draw(numbers)) for column in columns]


def plainly(cell: str) -> float | None:
    """The first number in a cell, read without the code under test."""
    words = [word for word in cell.split() if word.replace(".", "", 1).isdigit()]
    return float(words[0]) if words else None


@settings(max_examples=40)
@given(st.integers(0, 9_999), st.sampled_from(sorted(_COLUMN_WORDS)), st.sampled_from(["more", "less", "the same"]))
def test_a_comparison_means_what_it_says(known: Instances, place: int, column: Column, how: str) -> None:
    other = known.newest[place % len(known.newest)]
    noun = _COLUMN_WORDS[column][1].removeprefix("of ").replace("GPU", "accelerator")
    counted = "number of " if how == "the same" and column == "accelerators" else ""
    question = f"Which instances have {how} {counted}{noun} {'as' if how == 'the same' else 'than'} {other.name}?"
    request = read_request(question, known.rows, known.families, known.accelerators)
    assert request is not None

    header, value = HEADERS[column], plainly(other.cells[HEADERS[column]])
    compare = {"more": operator.gt, "less": operator.lt, "the same": operator.eq}[how]
    numbers = {row.name: plainly(row.cells[header]) for row in known.newest if row is not other}
    wanted = {n for n, number in numbers.items() if number is not None and value is not None and compare(number, value)}

    found = measured(request, known.rows)
    assert {row.name for row in (select(found, known.newest) if found else ())} == wanted


@settings(max_examples=60)
@given(conditions())
def test_conditions_mean_what_they_say(known: Instances, asked: Sequence[tuple[Column, str, int]]) -> None:
    parts = [f"{bound} {number}{_COLUMN_WORDS[c][0]} {_COLUMN_WORDS[c][1]}" for c, bound, number in asked]
    question = f"Which instances have {' and '.join(parts)}?"
    request = read_request(question, known.rows, known.families, known.accelerators)
    assert request is not None
    found = {row.name for row in select(request, known.newest)}
    gpus = any(column == "total" for column, _, _ in asked)
    expected = {
        row.name
        for row in known.newest
        if all(
            (value := plainly(row.cells[HEADERS[column]])) is not None and _BOUNDS[bound](value, number)
            for column, bound, number in asked
        )
        and (not gpus or "GPU" in row.cells["Accelerator"])
    }
    assert found == expected


@settings(max_examples=40)
@given(
    st.sampled_from(["vcpus", "memory", "total", "network", "ratio"]),
    st.booleans(),
    st.sampled_from(sorted(FAMILIES)),
)
def test_an_order_begins_with_an_extreme(known: Instances, column: Column, most: bool, family: str) -> None:
    request = Request(families=(family,), order=(column, most))
    rows = select(request, known.newest)
    values = [plainly(row.cells[HEADERS[column]]) for row in known.newest if row.family == family]
    numbers = [value for value in values if value]
    assert [row.number(column) for row in rows] == sorted(numbers, reverse=most)


@settings(max_examples=40)
@given(st.text(max_size=120))
def test_no_question_breaks_the_reader(known: Instances, text: str) -> None:
    request = read_request(text, known.rows, known.families, known.accelerators)
    assert request is None or all(row in known.newest for row in select(request, known.newest))


# Understanding


@pytest.mark.parametrize(
    ("question", "request_"),
    [
        (
            "Which instances have 8 to 16 GB?",
            Request(bounds=(Bound("memory", 8.0, 16.0),), seeks=True),
        ),
        (
            "current generation memory optimised instances with between 64 and 128 GiB without EFA",
            Request(
                bounds=(Bound("memory", 64.0, 128.0),),
                traits=(Trait("EFA", "yes", denied=True), Trait("Category", "memory optimized"), Trait("Generation", "current")),
                seeks=True,
            ),
        ),
        (
            "instances with GPU memory of at least 1 TB",
            Request(bounds=(Bound("total", 1024.0 * 0.93, inf),), traits=(Trait("Accelerator", "GPU"),), seeks=True),
        ),
        (
            "how many Graviton3 instance types have more than sixteen vCPUs",
            Request(
                bounds=(Bound("vcpus", 16.0, open=True),),
                traits=(Trait("Processor", "Graviton3"),),
                seeks=True,
            ),
        ),
        ("Which instances have T4 GPUs?", Request(accelerators=("t4",), seeks=True)),
        ("which t4g instances are there", Request(families=("t4g",), seeks=True)),
    ],
)  # fmt: skip
def test_requests_are_read(known: Instances, question: str, request_: Request | None) -> None:
    assert read_request(question, known.rows, known.families, known.accelerators) == request_


@pytest.mark.parametrize(
    ("turns", "conditions"),
    [
        (("cheapest instance with a GPU", "and 8?"), (Bound("accelerators", 8.0, 8.0),)),
        (("instances with no GPU", "and 8?"), (Bound("accelerators", 8.0, 8.0),)),
        (("instances with 100 Gbps and no GPU", "and 200?"), (Bound("accelerators", 0.0, 0.0), Bound("network", 200.0, 200.0))),
    ],
)  # fmt: skip
def test_a_bare_number_replaces_one_that_was_said_or_counts_the_gpus(index: Index, known: Instances, turns: tuple[str, str], conditions: tuple[Bound, ...]) -> None:
    request = request_of(understand(turns[1], [Turn(turns[0], "")], index), known)
    assert request is not None
    assert request.bounds == conditions


@pytest.mark.parametrize(
    ("turns", "purchase"),
    [
        (("list all g6 types with their spot price", "and on demand?"), "on demand"),
        (("list all g6 types with their spot price", "on demand, only those with one GPU"), "on demand"),
        (("list all g6 types with their spot price", "only those with one GPU"), "spot"),
        (("list all g6 types with their spot price", "what do they cost in eu-west-1?"), "spot"),
        (("list all g6 types with their price", "only those with one GPU"), ""),
    ],
)
def test_a_purchase_option_stays_until_another_is_named(index: Index, known: Instances, turns: tuple[str, str], purchase: str) -> None:
    request = request_of(understand(turns[1], [Turn(turns[0], "")], index), known)
    assert request is not None
    assert (request.purchase, request.leans) == (purchase, True)


def test_a_row_lies_where_it_says(known: Instances) -> None:
    def quoted(row: Row) -> str:
        return row.chunk.document.text[row.start : row.end]

    assert all(quoted(row).startswith(f"| {row.cells['Instance type']} |") for row in known.newest)
    assert all(row.chunk.start <= row.start < row.end <= row.chunk.end for row in known.newest)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (
            "how many inferentia2 chips in inf2.24xlarge and total memory",
            "inf2.24xlarge has 6 AWS Inferentia2 chips, 192 GiB of accelerator memory (32 GiB each) and 384 GiB of host memory [1].",
        ),
        ("how many vCPUs has an ml.g5.2xlarge", "g5.2xlarge has 8 vCPUs [1]."),
        ("Is there a p5 with only one gpu", "Yes: p5.4xlarge has 1 NVIDIA H100 GPU, 80 GiB of accelerator memory, 16 vCPUs and 256 GiB of host memory [1]."),
    ],
)
def test_what_people_mean_is_told_of_a_row(question: str, text: str, index: Index) -> None:
    found = answer(question, index)
    assert (found.text if found else None) == text


def test_more_rows_than_fit_are_told_by_family(index: Index) -> None:
    found = answer("which g instances have more than 14 GB of gpu memory on one card", index)
    assert found is not None
    lines = found.text.splitlines()
    assert [line.split(",")[0] for line in lines] == ["- g4dn", "- g5", "- g5g", "- g6", "- g6e", "- gr6"]
    assert lines[4].startswith("- g6e, 8 of 8 sizes (xlarge, 2xlarge, 4xlarge, 8xlarge, 12xlarge, 16xlarge, 24xlarge, 48xlarge): g6e.xlarge has 1 NVIDIA L40S GPU and ")


def test_what_is_asked_of_all_families_of_a_letter_is_told_once_for_each(index: Index) -> None:
    found = answer("all g family gpus + vram pls", index)
    assert found is not None
    assert [line.split(",")[0] for line in found.text.splitlines()] == ["- g4dn", "- g5", "- g5g", "- g6", "- g6e", "- g6f", "- gr6"]
