"""Convert EC2's descriptions of its instance types into the rows of the instance table."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

# One entry of `InstanceTypes` in the answer to DescribeInstanceTypes.
Description = Mapping[str, Any]

# The row's own properties come first and the names of other things last, so that no reader takes the figures of an
# instance type for those of its GPU. Amounts carry their unit: 2048 alone could be a year.
COLUMNS = (
    "Instance type", "Category", "Family", "Generation", "Source", "vCPUs", "Memory", "Memory per vCPU", "Network", "EFA", "Local storage",
    "Burstable", "Bare metal", "Sizes in family", "Accelerators", "Accelerator memory each", "Accelerator memory total", "Processor",
    "Accelerator", "Architecture",
)  # fmt: skip
SOURCE = "EC2 DescribeInstanceTypes"

# EC2 user guide, "Amazon EC2 instance type naming conventions": the letters before the generation.
_CATEGORIES = (
    dict.fromkeys(("p", "g", "gr", "trn", "inf", "dl", "f", "vt"), "accelerated computing")
    | dict.fromkeys(("a", "m", "t", "mac"), "general purpose")
    | dict.fromkeys(("c", "cc"), "compute optimized")
    | dict.fromkeys(("r", "x", "u", "z"), "memory optimized")
    | dict.fromkeys(("d", "h", "i", "im", "is"), "storage optimized")
    | {"hpc": "high performance computing"}
)
# AWS Graviton Technical Guide, "Building for Graviton"; Graviton5: "Now available: Amazon EC2 M9g and M9gd instances" (2026-06-10).
# Any other family is left at "AWS Graviton".
_GRAVITON = {
    family: processor
    for processor, families in {
        "AWS Graviton": "a1",
        "AWS Graviton2": "m6g m6gd c6g c6gd c6gn r6g r6gd t4g x2gd g5g i4g im4gn is4gen",
        "AWS Graviton3": "m7g m7gd c7g c7gd r7g r7gd",
        "AWS Graviton3E": "c7gn hpc7g",
        "AWS Graviton4": "m8g m8gd m8gn m8gb c8g c8gd c8gn c8gb r8g r8gd r8gn r8gb x8g i8g i8ge",
        "AWS Graviton5": "m9g m9gd",
    }.items()
    for family in families.split()
}
# DescribeInstanceTypes reports 512 GiB for a Trainium2 chip and nothing about trn2u. AWS Neuron documentation, "Amazon
# EC2 Trn2 Architecture" and "Trainium2 Architecture Guide for NKI": 16 chips and 1,536 GiB in both 48xlarge sizes, 96
# GiB a chip.
_TRAINIUM2 = "AWS Trainium2 chip"
_TRAINIUM2_GIB = 96.0
_TRAINIUM2_UNDESCRIBED = {"trn2u.48xlarge": 16.0}
_CORRECTED = f"{SOURCE}; accelerator memory: AWS Neuron documentation"

_KINDS = (
    ("GpuInfo", "Gpus", "GPU"),
    ("NeuronInfo", "NeuronDevices", "chip"),
    ("InferenceAcceleratorInfo", "Accelerators", "accelerator"),
    ("FpgaInfo", "Fpgas", "FPGA"),
    ("MediaAcceleratorInfo", "Accelerators", "media accelerator"),
)
_LETTERS_AND_NUMBER = re.compile(r"([a-z]*)(\d*)")
_GIGABIT = re.compile(r"(?P<times>\d+)x (?P<each>[\d.]+) Gigabit")


def instance_rows(descriptions: Iterable[Description]) -> list[dict[str, str]]:
    """Return a row for each description, by `COLUMNS`, in the order of the table: by family, then by size.

    The sizes of a family are counted among the given descriptions. What EC2 does not say is left empty; the accelerator
    memory of Trainium2 is from AWS Neuron's documentation.
    """
    def place(about: Description) -> tuple[str, bool, int, int, str]:
        size = (int(about["VCpuInfo"]["DefaultVCpus"]), int(about["MemoryInfo"]["SizeInMiB"]))
        return _family(about), bool(about["BareMetal"]), *size, str(about["InstanceType"])

    found = sorted(descriptions, key=place)
    sizes = Counter(map(_family, found))
    return [_row(about, sizes[_family(about)]) for about in found]


def as_csv(rows: Iterable[Mapping[str, str]], columns: Sequence[str] = COLUMNS) -> bytes:
    """Return the rows as a CSV file that the loader of .csv files can read back."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def _row(description: Description, sizes: int) -> dict[str, str]:
    family = _family(description)
    letters, number = _LETTERS_AND_NUMBER.match(family).groups()  # type: ignore[union-attr]  # it matches every text
    state = "current" if description["CurrentGeneration"] else "previous"
    count, name, each = _accelerators(description)
    vcpus = int(description["VCpuInfo"]["DefaultVCpus"])
    memory = description["MemoryInfo"]["SizeInMiB"] / 1024
    cells = (
        str(description["InstanceType"]),
        _CATEGORIES.get(letters, ""),
        family,
        f"{number} ({state})" if number else state,
        _CORRECTED if name == _TRAINIUM2 else SOURCE,
        str(vcpus),
        _gib(memory),
        _gib(memory / vcpus),
        _network(str(description["NetworkInfo"]["NetworkPerformance"])),
        _yes(description["NetworkInfo"].get("EfaSupported", False)),
        _storage(description),
        _yes(description["BurstablePerformanceSupported"]),
        _yes(description["BareMetal"]),
        str(sizes),
        _number(count),
        _gib(each),
        _gib(None if each is None else each * max(1.0, count)),
        _processor(description),
        name or "none",
        " and ".join(description["ProcessorInfo"]["SupportedArchitectures"]),
    )
    return dict(zip(COLUMNS, cells, strict=True))


def _family(description: Description) -> str:
    return str(description["InstanceType"]).partition(".")[0]


def _accelerators(description: Description) -> tuple[float, str, float | None]:
    """Return how many accelerators there are, which, and the memory of each in GiB.

    A part of a GPU counts as that fraction of one, with its own memory.
    """
    instance_type = str(description["InstanceType"])
    if instance_type in _TRAINIUM2_UNDESCRIBED:
        return _TRAINIUM2_UNDESCRIBED[instance_type], _TRAINIUM2, _TRAINIUM2_GIB
    for block, key, kind in _KINDS:
        for device in description.get(block, {}).get(key, ()):
            name = _name(device, kind)
            each = device.get("MemoryInfo", {}).get("SizeInMiB", 0) / 1024 or None
            part = float(device.get("LogicalGpuCount", 0)) * float(device.get("GpuPartitionSize", 0))
            return float(device.get("Count", 0)) or part, name, _TRAINIUM2_GIB if name == _TRAINIUM2 else each
    return 0.0, "", None


def _name(device: Mapping[str, Any], kind: str) -> str:
    name, maker = str(device["Name"]), str(device.get("Manufacturer", "AWS" if kind == "chip" else ""))
    name = name if name.startswith(maker) else f"{maker} {name}"
    return f"{name} {'accelerator' if kind == 'GPU' and maker == 'Habana' else kind}"


def _processor(description: Description) -> str:
    about = description["ProcessorInfo"]
    maker = str(about.get("Manufacturer", ""))
    name = _GRAVITON.get(_family(description), "AWS Graviton") if maker == "AWS" else maker
    clock = about.get("SustainedClockSpeedInGhz")
    return f"{name}, {_number(float(clock))} GHz" if clock else name


def _network(performance: str) -> str:
    match = _GIGABIT.fullmatch(performance)
    if match:
        return f"{_number(int(match['times']) * float(match['each']))} Gbps"
    return performance.replace("Gigabit", "Gbps")


def _storage(description: Description) -> str:
    """Describe local storage, as in "30400 GB (8 x 3800 GB NVMe SSD)"; "none" if there are only EBS volumes."""
    about = description.get("InstanceStorageInfo")
    if not about:
        return "none"
    nvme = "NVMe " if about.get("NvmeSupport") in ("required", "supported") else ""
    disks = " + ".join(f"{d['Count']} x {d['SizeInGB']} GB {nvme}{str(d['Type']).upper()}" for d in about.get("Disks", ()))
    return f"{about['TotalSizeInGB']} GB ({disks})" if disks else f"{about['TotalSizeInGB']} GB"


def _yes(value: object) -> str:
    return "yes" if value else "no"


def _gib(value: float | None) -> str:
    return "" if value is None else f"{_number(value)} GiB"


def _number(value: float) -> str:
    """Format with at most two decimals, or with more if two would lose a small number."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if value >= 1 or not value else f"{value:.4g}"
