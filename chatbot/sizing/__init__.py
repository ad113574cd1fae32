"""Whether a model fits, what to launch, what it costs and what it emits: pure functions over frozen values."""

from chatbot.sizing.arithmetic import evaluate
from chatbot.sizing.completion import find_model
from chatbot.sizing.facts import Facts
from chatbot.sizing.fit import Fit
from chatbot.sizing.impact import Figure, Impact
from chatbot.sizing.memory import Memory, Reference, Term
from chatbot.sizing.sizing import Sizing, most, size
from chatbot.sizing.workload import Format, Optimizer, Task, Workload

__all__ = [
    "Facts",
    "Figure",
    "Fit",
    "Format",
    "Impact",
    "Memory",
    "Optimizer",
    "Reference",
    "Sizing",
    "Task",
    "Term",
    "Workload",
    "evaluate",
    "find_model",
    "most",
    "size",
]
