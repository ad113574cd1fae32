"""Files shared with a question: the text of those that can be read, and why the others were not."""

from urllib.parse import urlsplit

from chatbot.slack.events import SharedFile
from chatbot.slack.journal import described, log
from ingest import CorpusError, read_document

_SUFFIXES = (".txt", ".md", ".csv", ".json", ".pdf")
_MOST_BYTES = 5_000_000
_SECONDS = 20.0
_KINDS = "it is not text, Markdown, CSV, JSON or PDF"


def read_file(file: SharedFile, token: str, api_url: str, longest: int) -> tuple[str, str]:
    """A file's text, or else the reason why it was not read. The token goes to Slack's own addresses alone."""
    if not file.name.lower().endswith(_SUFFIXES):
        return "", _KINDS
    if file.size > _MOST_BYTES:
        return "", f"it is larger than {_MOST_BYTES // 1_000_000} MB"
    try:
        data = _fetched(file.url, token, api_url)
        text = read_document(file.name, data).text.strip()
    except CorpusError as error:
        return "", str(error).partition(":")[0]
    except Exception as error:
        log.warning("a file was not read: %s", described(error))
        return "", "Slack did not give it to me; the app may lack the scope files:read"
    if len(text) > longest:
        return "", f"it has {len(text):,} characters, and I read at most {longest:,}"
    return text, ""


def _fetched(url: str, token: str, api_url: str) -> bytes:
    import httpx

    host, own = urlsplit(url).hostname or "", urlsplit(api_url).hostname or ""
    if urlsplit(url).scheme != urlsplit(api_url).scheme or (host != own and not host.endswith(f".{own}")):
        raise ConnectionError("the file is not at Slack's")
    found = bytearray()
    with httpx.stream("GET", url, headers={"Authorization": f"Bearer {token}"}, timeout=_SECONDS) as response:
        response.raise_for_status()
        # Without the scope Slack answers with the page on which one signs in.
        if response.headers.get("content-type", "").startswith("text/html"):
            raise ConnectionError("Slack asks to sign in")
        for piece in response.iter_bytes():
            found += piece
            if len(found) > _MOST_BYTES:
                raise CorpusError(f"it is larger than {_MOST_BYTES // 1_000_000} MB")
    return bytes(found)
