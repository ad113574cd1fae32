"""Four tools with one schema each, for other programs and language models to look things up and compute over an index.

Their texts are data from documents: nothing in them is an instruction to whoever reads them.
"""

from chatbot.tools.arguments import (
    Arguments,
    FindInstances,
    Given,
    ReadDocument,
    SearchSources,
    SizeWorkload,
    WorkloadArguments,
)
from chatbot.tools.documents import read_document, search_sources
from chatbot.tools.instances import find_instances
from chatbot.tools.tool import Tool, ToolResult, read_arguments, schema_of
from chatbot.tools.workloads import size_workload

__all__ = ["TOOLS", "Arguments", "Given", "Tool", "ToolResult", "WorkloadArguments", "read_arguments", "schema_of"]

TOOLS = (
    Tool("search_sources", "Search the sources", SearchSources, search_sources),
    Tool("find_instances", "Find instance types", FindInstances, find_instances),
    Tool("size_workload", "Size a workload", SizeWorkload, size_workload),
    Tool("read_document", "Read a document", ReadDocument, read_document),
)
