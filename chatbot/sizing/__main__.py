"""`wattwise size`: whether a model fits, what to launch, what it costs and what it emits."""

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from chatbot.answer import ReaderError
from chatbot.language.characters import quoted
from chatbot.sizing.facts import Facts
from chatbot.sizing.render import as_json, as_text
from chatbot.sizing.request import read_amount, read_format, read_optimizer, read_task, read_tokens, workload_of
from chatbot.sizing.sizing import size
from chatbot.sizing.workload import Format
from ingest import CorpusError, Index, Place, place_at

_T = TypeVar("_T")
_DEFAULT = Path("index")


def main(arguments: Sequence[str]) -> int:
    """Size one workload and return 0. Raise ReaderError if it is impossible or names something unknown."""
    options = _parser().parse_args(arguments)
    sizing = size(workload_of(vars(options)), _facts(options.index))
    print(json.dumps(as_json(sizing), ensure_ascii=False) if options.json else as_text(sizing, rows=options.rows))
    return 0


def _facts(index: Place) -> Facts | None:
    """Return the facts of the index, or None to use those of the corpus.

    Only an index has the configurations of models that the user ingested and prices of other regions.
    """
    if index == _DEFAULT and not _DEFAULT.exists():
        return None
    try:
        facts = Facts.load(Index.open(index))
    except CorpusError as error:
        print(f"{error} The figures are those of corpus/.", file=sys.stderr)
        return None
    return facts if facts.models and facts.instances else None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="wattwise size",
        description="Does a model fit, what do I launch, what does it cost and emit? Computed, with the arithmetic shown.",
    )
    add = parser.add_argument
    what = parser.add_argument_group("what is run").add_argument
    what("--model", metavar="M", help="a model of the table, such as Llama-3.1-70B")
    what("--parameters", type=_read(read_amount), metavar="N", help="its size where no model is named: 70b")
    what("--task", type=_read(read_task), metavar="T", help="serve (default), full, lora, qlora, pretrain")
    what("--format", type=_read(read_format), metavar="F", help=f"of the weights: {', '.join(Format)}")
    what(
        "--cache",
        type=_read(read_format),
        metavar="F",
        help="of the KV cache: bf16 (default), fp8, int8, int4",
    )
    what("--context", type=_read(read_tokens), metavar="N", help="tokens of a sequence: 16k is 16,384")
    what("--users", type=_whole, metavar="N", help="sequences at once; in training the batch of one accelerator")
    what("--optimizer", type=_read(read_optimizer), metavar="O", help="adam, adam8bit, adafactor, sgd")
    what("--zero", type=_whole, metavar="STAGE", help="what training shards: 0 to 3")
    what(
        "--no-recompute",
        dest="recompute",
        action="store_false",
        default=None,
        help="keep the activations of every layer",
    )
    what("--lora-rank", type=_whole, metavar="N")
    what("--tokens", type=_read(read_amount), metavar="N", help="that a training sees in all: 2b")
    what("--hours", type=float, metavar="N", help="how long it runs")
    where = parser.add_argument_group("where it may run").add_argument
    where("--region", metavar="R", help="an AWS region (default us-east-1)")
    where("--budget", type=float, metavar="USD", help="the most an hour")
    where("--budget-month", type=float, metavar="USD", help="the most a month of 730 hours")
    where("--vendor", action="append", default=[], metavar="V", help="NVIDIA, AWS, AMD, Intel; may be repeated")
    where("--family", action="append", default=[], metavar="F", help="an instance family such as g6e; may be repeated")
    where("--without", action="append", default=[], metavar="X", help="a maker or a family that is not wanted")
    where("--instance-type", metavar="T", help="says whether this one holds it")
    where("--instances", type=_whole, metavar="N", help="how many of them")
    where("--accelerator", metavar="A", help="says whether it holds it: L40S, A100 80GB")
    where("--count", type=_whole, metavar="N", help="how many accelerators")
    where("--load", type=float, metavar="SHARE", help="of its time that the hardware is busy (default 0.5)")
    add("--rows", type=_rows, default=10, metavar="N", help="of the table (default 10)")
    add("--json", action="store_true", help="print every figure as JSON")
    add("--index", type=place_at, default=place_at(os.environ.get("WATTWISE_INDEX") or _DEFAULT), metavar="PLACE")
    return parser


def _read(read: Callable[[str], _T]) -> Callable[[str], _T]:
    def argument(text: str) -> _T:
        try:
            return read(text)
        except ReaderError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return argument


def _whole(text: str) -> int:
    try:
        return int(text.replace(",", ""))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{quoted(text)} is not a whole number") from None


def _rows(text: str) -> int:
    rows = _whole(text)
    if rows < 0:
        raise argparse.ArgumentTypeError(f"{rows} is no number of rows: write 0 or more")
    return rows


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (ReaderError, CorpusError) as failure:
        print(failure, file=sys.stderr)
        sys.exit(1)
