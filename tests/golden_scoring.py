"""Scores answers to the golden questions: `python tests/golden_scoring.py INDEX FILE… [--failures]`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from chatbot import Chatbot, ReaderError
from chatbot.exam.golden_scoring import ask_file, failures, report
from ingest import CorpusError, place_at


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the report of each file; 1 where it could not be done."""
    parser = argparse.ArgumentParser(description="Score the answers of an index to golden questions.")
    parser.add_argument("index", type=place_at)
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--model", default="offline")
    parser.add_argument(
        "--failures",
        action="store_true",
        help="list each failed question that is not kept aside, its answer, the reason",
    )
    options = parser.parse_args(arguments)
    try:
        bot = Chatbot.open(options.index, model=options.model)
        for file in options.files:
            asked = ask_file(bot, file)
            print(report(file.name, asked))
            if options.failures and not any(one.question.half == "kept" for one in asked):
                print("\n" + failures(asked))
    except (CorpusError, ReaderError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
