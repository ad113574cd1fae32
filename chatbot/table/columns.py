"""The columns of a table of instance types: their headers, and the words that questions use for them."""

from typing import Literal

Column = Literal[
    "accelerators", "each", "total", "vcpus", "memory", "ratio", "network", "efa", "storage", "processor", "architecture",
    "burstable", "metal", "price", "host", "embodied",
]  # fmt: skip
"""What can be asked of a row.

"accelerators" is how many and which, "ratio" memory per vCPU, "host" the power of the server without its accelerators.
The last three are in other tables of instance types.
"""

TYPE, FAMILY, ACCELERATOR, SIZES, AS_OF = "Instance type", "Family", "Accelerator", "Sizes in family", "As of"
HEADERS: dict[Column, str] = {
    "accelerators": "Accelerators",
    "each": "Accelerator memory each",
    "total": "Accelerator memory total",
    "vcpus": "vCPUs",
    "memory": "Memory",
    "ratio": "Memory per vCPU",
    "network": "Network",
    "efa": "EFA",
    "storage": "Local storage",
    "processor": "Processor",
    "architecture": "Architecture",
    "burstable": "Burstable",
    "metal": "Bare metal",
    "price": "Price per hour",
    "host": "Host power",
    "embodied": "Embodied carbon",
}
# Columns that hold a number.
NUMBERED: frozenset[Column] = frozenset(
    {"accelerators", "each", "total", "vcpus", "memory", "ratio", "network", "storage", "price", "host", "embodied"}
)
OTHER_TABLES: frozenset[Column] = frozenset({"price", "host", "embodied"})
# A table with these headers describes instance types; other tables of instance types add to it.
REQUIRED = frozenset({TYPE, FAMILY, ACCELERATOR, HEADERS["accelerators"], HEADERS["vcpus"], HEADERS["memory"]})

DEVICE = r"(?:gpu|accelerator|chip|card|device|fpga)"
_DISK = (
    r"(?:local |ephemeral )?instance[- ]stor(?:e|age)(?: volumes?)?|(?:local |ephemeral )?nvme(?: ssds?)?(?: storage| disks?| drives?)?"
    r"|local (?:nvme |ssd |hdd )?(?:storage|disks?|drives?|ssds?)"
)
HOURLY = r"(?:(?:per|an?|each|every|/) ?(?:hours?|hr?)|hourly)"
_CPU = r"(?:[- ]based)?(?: processors?| cpus?)?"
# Tried in this order, so that "GPU memory" is not read as memory.
WORDS: tuple[tuple[Column, str], ...] = (
    ("price", rf"(?:(?:hourly|on[- ]demand|spot|list|current) )*(?:prices?|pricing|priced|costs?)(?: {HOURLY})?|how (?:much (?:is|are|for)|expensive (?:is|are))(?=\s+(?:(?:an?|the)\s+)?(?:\||[\w-]+\.))|how (?:much (?:is|are)|expensive (?:is|are)) (?:each|it|they|that|those|these)\b"),
    ("host", r"(?:host|server)(?:['’]s)? power(?: draw| consumption| use)?|power(?: draw| consumption| use)? of (?:the |its |a )?(?:host|server)"),
    ("embodied", r"embodied (?:carbon|emissions?)"),
    ("each", rf"(?:(?:{DEVICE} )?(?:memory|ram|vram)|hbm) (?:per|(?:of|on|in|for) (?:each|the|a|one)|each) {DEVICE}|per[- ]{DEVICE} (?:memory|vram)|(?:{DEVICE} )?(?:memory|v?ram|hbm)(?: does| is| on| in| has| of)? (?:each|every|one|a single) (?:of (?:its|the) )?{DEVICE}s?"),
    ("total", rf"(?:gpu|accelerator|graphics|video)[- ]?(?:speicher|mem)|grafikspeicher|显存|(?:total |combined )?(?:{DEVICE}|video|graphics)s? (?:memory|ram)|(?:total )?vram|(?:total )?hbm(?:\d\w?)?(?: memory)?|(?:memory|ram) (?:of|on|in|do|across) (?:all )?(?:the |its )?{DEVICE}s|(?:memory|ram) (?:of )?{DEVICE}"),
    ("ratio", r"(?:memory|ram)(?: per |[- ]to[- ]|/)v?cpus?(?: ratio)?|gi?b (?:of (?:memory|ram) )?per v?cpu"),
    ("memory", r"(?:arbeits)?speicher|mémoire|memoria|内存|メモリ(?:ー)?|pamięci|gigs|(?:system |host |main |instance )?(?:memory|ram)(?: size| capacity)?"),
    ("vcpus", r"v-?cpus?|virtual cpus?"),
    ("network", r"(?:network(?:ing)?|efa|elastic fabric adapter) (?:bandwidth|performance|throughput|speed|gbps|gbit/s)|network(?:ing)?"),
    ("efa", r"efa|elastic fabric adapters?"),
    ("storage", _DISK),
    ("processor", rf"(?:cpu|processor) (?:type|model|maker|vendor)|processors?|graviton{_CPU}|intel{_CPU}|amd{_CPU}"),
    ("architecture", rf"(?:cpu )?architectures?|arm(?:64)?{_CPU}|x86(?:[-_]64)?{_CPU}"),
    ("burstable", r"burstable"),
    ("metal", r"bare[- ]metal"),
    ("accelerators", rf"(?:karten?|grafikkarten?|tarjetas?|cartes?|schede?|puces?|beschleuniger|kart|card[ -]?wise|gpu[ -]?wise)|(?:ai |ml |graphics |nvidia |amd )?{DEVICE}s?(?: count| type| model)?"),
)  # fmt: skip

_ROWS = r"(?: (?:instance|type|size|machine))"
# Words for the rows wanted, the header of the column, and what its cell must contain.
TRAITS: tuple[tuple[str, str, str], ...] = (
    (r"(?:bare[- ])?metal", "Bare metal", "yes"),
    (r"burstable", "Burstable", "yes"),
    (r"(?:efa|elastic fabric adapters?)(?: support| enabled)?", "EFA", "yes"),
    *((rf"graviton ?{n}{_CPU}", "Processor", f"Graviton{n.upper()}") for n in ("2", "3e", "3", "4", "5")),
    (rf"graviton{_CPU}", "Processor", "Graviton"),
    (rf"arm(?:64)?{_CPU}", "Architecture", "arm64"),
    (rf"x86(?:[-_]64)?{_CPU}", "Architecture", "x86_64"),
    (rf"intel(?: xeon)?{_CPU}", "Processor", "Intel"),
    (rf"amd(?: epyc)?(?:[- ]based)?(?: (?:processors?|cpus?)|(?={_ROWS}))", "Processor", "AMD"),
    (r"general[- ]purpose", "Category", "general purpose"),
    *((rf"{kind}[- ]optimi[sz]ed", "Category", f"{kind} optimized") for kind in ("compute", "memory", "storage")),
    (r"accelerated(?:[- ]computing)?", "Category", "accelerated computing"),
    (rf"hpc(?={_ROWS})", "Category", "high performance computing"),
    (r"current[- ]generation", "Generation", "current"),
    (r"previous[- ]generation", "Generation", "previous"),
    (rf"nvidia(?= gpu|{_ROWS})(?: gpu(?={_ROWS}))?", ACCELERATOR, "NVIDIA"),
    (rf"gpu(?:[- ](?:based|powered|accelerated))?(?={_ROWS})", ACCELERATOR, "GPU"),
    (rf"fpga(?={_ROWS})", ACCELERATOR, "FPGA"),
    (_DISK, "Local storage", "GB"),
)  # fmt: skip
