"""What another program, or a language model, may look up and compute over an index: four tools with one schema each.

Their texts are from documents: data, in which nothing is an instruction to whoever reads it.
"""

from chatbot.tools.arguments import (
    Arguments,
    FindInstances,
    ReadDocument,
    SearchSources,
    SizeWorkload,
    WorkloadArguments,
)
from chatbot.tools.documents import read_document
from chatbot.tools.instances import find_instances
from chatbot.tools.passages import search_sources
from chatbot.tools.result import ToolResult
from chatbot.tools.tool import Tool, read_arguments, schema_of
from chatbot.tools.workloads import size_workload

TOOLS = (
    Tool("search_sources", "Search the sources", SearchSources, search_sources),
    Tool("find_instances", "Find instance types", FindInstances, find_instances),
    Tool("size_workload", "Size a workload", SizeWorkload, size_workload),
    Tool("read_document", "Read a document", ReadDocument, read_document),
)

__all__ = [
    "TOOLS",
    "Arguments",
    "FindInstances",
    "ReadDocument",
    "SearchSources",
    "SizeWorkload",
    "Tool",
    "ToolResult",
    "WorkloadArguments",
    "find_instances",
    "read_arguments",
    "read_document",
    "schema_of",
    "search_sources",
    "size_workload",
]
