"""The time of a sizing over all instance types, once the facts are loaded.

python benchmarks/sizing.py [--runs N]
"""

import argparse
import statistics
import time
from pathlib import Path

from chatbot.sizing import Facts, Format, Task, Workload, size

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
WORKLOADS = {
    "serve 70B in int8, 16k": Workload(model="Llama-3.1-70B", weights=Format.INT8, context=16_384),
    "serve 8B, 200 users": Workload(model="Llama-3.1-8B", sequences=200),
    "QLoRA of 70B": Workload(model="Llama-3.1-70B", task=Task.QLORA, tokens=1e8),
    "fine-tune 405B in full": Workload(model="Llama-3.1-405B", task=Task.FULL, tokens=1e9),
    "34B on one L40S": Workload(parameters=34e9, accelerator="L40S"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=50)
    runs = parser.parse_args().runs
    started = time.perf_counter()
    facts = Facts.load_folder(CORPUS)
    print(f"load {len(facts.instances):,} instance types: {(time.perf_counter() - started) * 1000:.0f} ms")
    for name, workload in WORKLOADS.items():
        times = sorted(_milliseconds(workload, facts) for _ in range(runs))
        print(f"{name}: median {statistics.median(times):.1f} ms, 95 % {times[int(0.95 * (runs - 1))]:.1f} ms")


def _milliseconds(workload: Workload, facts: Facts) -> float:
    started = time.perf_counter()
    size(workload, facts)
    return (time.perf_counter() - started) * 1000


if __name__ == "__main__":
    main()
