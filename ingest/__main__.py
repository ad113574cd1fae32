"""`wattwise ingest`: bring an index up to date with its sources."""

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ingest.document import CorpusError
from ingest.encoding.encoder import DEFAULT_ENCODER
from ingest.storage.place import Place, place_at
from ingest.syncing import Progress, SyncReport, sync

SHIPPED = Path(__file__).resolve().parents[1] / "corpus"


def main(argv: Sequence[str] | None = None) -> int:
    """Run `wattwise ingest`. Return 0 if at least one document was read or is unchanged, else 1."""
    try:
        options = _parser().parse_args(argv)
        with _bars() as progress:
            report = sync(
                options.sources, options.index, encoder=options.encoder, device=options.device, ray=options.ray,
                dry_run=options.dry_run, progress=progress,
            )  # fmt: skip
    except CorpusError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped. The index is as it was.", file=sys.stderr)
        return 1
    for line in _damage(report, options.index, options.dry_run):
        print(line, file=sys.stderr)
    for failure in report.failed:
        print(f"not read: {failure.id}: {failure.reason}", file=sys.stderr)
    summary = _summary(report, options.index, options.dry_run)
    print(json.dumps(asdict(report), ensure_ascii=False) if options.json else summary)
    return 0 if report.added or report.changed or report.unchanged else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="wattwise ingest", description="Bring the index up to date with its sources.")
    add = parser.add_argument
    # fmt: off
    add("sources", metavar="SOURCE", nargs="*", default=["corpus" if Path("corpus").exists() else str(SHIPPED)],
        help="file, folder, s3://bucket/prefix or https:// page (corpus, or else the one that wattwise comes with)")
    add("--index", type=place_at, metavar="PLACE", default=place_at(os.environ.get("WATTWISE_INDEX") or "index"),
        help="a folder, or postgresql://USER@HOST/DATABASE (%(default)s; WATTWISE_INDEX sets it)")
    add("--encoder", metavar="NAME", default=DEFAULT_ENCODER,
        help=f"a sentence-transformers model, bedrock:MODEL, or none for words alone ({DEFAULT_ENCODER})")
    add("--device", metavar="NAME",
        help="where to encode, by torch's name, such as cuda or cpu (a GPU where there is one, else the processors)")
    add("--ray", metavar="ADDRESS", nargs="?", const="",
        help="read and encode on a Ray cluster, HOST:PORT (without ADDRESS $RAY_ADDRESS, the one of this machine, or else a new one)")
    add("--dry-run", action="store_true", help="say what would change and change nothing")
    add("--json", action="store_true", help="print the report as one JSON object")
    # fmt: on
    return parser


@contextmanager
def _bars() -> Iterator[Progress | None]:
    """Show progress bars with the time left on standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from tqdm import tqdm

    bars: dict[str, Any] = {}

    def progress(stage: str, done: int, total: int) -> None:
        if stage not in bars:
            bars[stage] = tqdm(desc=stage, total=total or None, unit=" documents" if stage == "reading" else " texts")
        bars[stage].update(done - bars[stage].n)

    try:
        yield progress
    finally:
        for bar in bars.values():
            bar.close()


def _damage(report: SyncReport, index: Place, dry_run: bool) -> Iterator[str]:
    if report.set_aside:
        yield f"damaged: {index} could not be used and was made anew. The old store is {index}/{report.set_aside}."
    if report.damaged:
        some = ", ".join(report.damaged[:5]) + (" and others" if len(report.damaged) > 5 else "")
        taken = "would be taken" if dry_run else "were taken"
        yield f"damaged: the stored text of {len(report.damaged)} documents was not as written; they {taken} from their sources again: {some}"


def _summary(report: SyncReport, index: Place, dry_run: bool) -> str:
    kinds = ("added", "changed", "removed", "unchanged", "failed")
    counts = ", ".join(f"{len(getattr(report, kind))} {kind}" for kind in kinds)
    if dry_run:
        signed = (("+", report.added), ("~", report.changed), ("-", report.removed))
        lines = [f"{sign} {id}" for sign, ids in signed for id in ids]
        return "\n".join([*lines, f"{index} would change so: {counts}."])
    return f"{index} is up to date: {counts}; {report.encoded} texts encoded."


if __name__ == "__main__":
    sys.exit(main())
