"""The items found in a file, in a folder with its manifest, and under an S3 prefix."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingest.document import CorpusError, Source
from ingest.fetching.items import MAX_BYTES, Failure, Item
from ingest.fetching.sources import find_items


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    return folder


def ids(source: str | Path) -> list[str]:
    return [found.id for found in find_items(source)]


def failures(source: str | Path) -> dict[str, str]:
    return {found.id: found.reason for found in find_items(source) if isinstance(found, Failure)}


def refusal(source: str | Path) -> str:
    with pytest.raises(CorpusError) as caught:
        list(find_items(source))
    return str(caught.value)


# Files and folders


def test_a_folder_is_walked_in_order_and_leaves_out_what_has_no_loader(corpus: Path) -> None:
    names = ["b.md", "a.txt", "sub/c.PDF", "image.png", ".hidden.md", ".git/x.md", "~$open.docx", "sub/deep/README.md"]
    write(corpus, **dict.fromkeys(names, "text"))
    assert ids(corpus) == ["corpus/a.txt", "corpus/b.md", "corpus/sub/c.PDF", "corpus/sub/deep/README.md"]


def test_an_item_is_read_only_when_it_is_fetched(corpus: Path) -> None:
    write(corpus, **{"a.md": "old"})
    [item] = find_items(str(corpus))
    assert isinstance(item, Item)
    write(corpus, **{"a.md": "new"})
    assert (item.name, item.source, item.fetch()) == ("a.md", None, b"new")


def test_the_folder_one_stands_in_has_its_own_name(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(corpus, **{"a.md": "text"})
    monkeypatch.chdir(corpus)
    assert ids(".") == ids(Path()) == ["corpus/a.md"]


def test_a_file_given_alone_goes_by_its_name(corpus: Path) -> None:
    write(corpus, **{"a.md": "text", "b.exe": "text"})
    assert ids(corpus / "a.md") == ["a.md"]
    assert "no loader" in failures(corpus / "b.exe")["b.exe"]


def test_a_source_that_is_missing_is_an_error_and_no_empty_folder(corpus: Path) -> None:
    assert "does not exist: check the path" in refusal(corpus / "misspelt")
    assert ids(corpus) == []


def test_links_that_leave_the_folder_are_skipped(corpus: Path, tmp_path: Path) -> None:
    write(tmp_path, **{"secret.md": "text", "elsewhere/x.md": "text", "corpus/real.md": "text"})
    (corpus / "link.md").symlink_to(corpus / "real.md")
    (corpus / "out.md").symlink_to(tmp_path / "secret.md")
    (corpus / "gone.md").symlink_to(tmp_path / "missing.md")
    (corpus / "folder").symlink_to(tmp_path / "elsewhere")
    assert ids(corpus) == ["corpus/link.md", "corpus/real.md"]


def test_what_is_no_regular_file_is_skipped(corpus: Path) -> None:
    os.mkfifo(corpus / "pipe.txt")
    assert ids(corpus) == []


def test_a_name_that_is_not_utf_8_is_a_failure(corpus: Path) -> None:
    (corpus / os.fsdecode(b"caf\xe9.md")).write_text("text")
    assert failures(corpus) == {"corpus/caf\ufffd.md": "its name is not valid UTF-8: rename it"}


def test_a_place_whose_name_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    folder = write(tmp_path / os.fsdecode(b"caf\xe9") / "corpus", **{"a.md": "text"})
    shown = f"{tmp_path}/caf\ufffd/corpus"
    assert refusal(folder) == f"{shown} is not valid UTF-8: rename it"
    assert refusal(folder / "a.md") == f"{shown}/a.md is not valid UTF-8: rename it"


def test_a_link_in_a_circle_is_a_failure(corpus: Path) -> None:
    write(corpus, **{"b.md": "text"})
    (corpus / "a.md").symlink_to("a.md")
    circle, _ = find_items(corpus)
    assert isinstance(circle, Item)
    with pytest.raises(CorpusError, match="symbolic links"):
        circle.fetch()
    assert "symbolic links" in refusal(corpus / "a.md")


@pytest.mark.timeout(10)
def test_a_pipe_given_alone_is_not_waited_for(corpus: Path) -> None:
    os.mkfifo(corpus / "pipe.md")
    [pipe] = find_items(corpus / "pipe.md")
    assert isinstance(pipe, Item)
    with pytest.raises(CorpusError, match="not a regular file"):
        pipe.fetch()


def test_what_cannot_be_fetched_says_why(corpus: Path) -> None:
    write(corpus, **{"gone.md": "text", "large.txt": ""})
    os.truncate(corpus / "large.txt", MAX_BYTES + 1)
    gone, large = find_items(corpus)
    (corpus / "gone.md").unlink()
    assert isinstance(gone, Item)
    assert isinstance(large, Item)
    with pytest.raises(CorpusError, match="No such file"):
        gone.fetch()
    with pytest.raises(CorpusError, match="larger than 50 MiB"):
        large.fetch()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_cannot_be_listed_is_a_failure(corpus: Path) -> None:
    write(corpus, **{"locked/a.md": "text", "b.md": "text"})
    (corpus / "locked").chmod(0)
    try:
        assert list(failures(corpus)) == ["corpus/locked"]
    finally:
        (corpus / "locked").chmod(0o700)


# The manifest

_ENTRY = '[[source]]\nid = "trn1"\nfile = "trn1.md"\ntitle = "Trn1"\n'


def test_the_manifest_tells_the_source_of_its_files_and_others_stand_beside_them(corpus: Path) -> None:
    entry = (
        '[[source]]\nid = "trn1"\nfile = "docs/trn1.md"\ntitle = "Trn1 instances"\npublisher = "Somebody"\n'
        'url = "https://example.org/trn1"\npublished = 2023-06-20\nlicence = "CC BY 4.0"\noriginal = "003.txt"\n'
        '[[source]]\nid = "short"\nfile = "short.md"\ntitle = "Short"\npublished = 2025\n'
    )
    write(corpus, **{"sources.toml": entry, "docs/trn1.md": "text", "short.md": "text", "README.md": "text"})
    found = {item.id: item.source for item in find_items(corpus) if isinstance(item, Item)}
    assert found == {
        "corpus/README.md": None,
        "corpus/docs/trn1.md": Source(
            "trn1", "Trn1 instances", "Somebody", "https://example.org/trn1", "2023-06-20", "CC BY 4.0", "003.txt"
        ),
        "corpus/short.md": Source("short", "Short", published="2025", original="short.md"),
    }


def test_question_banks_beside_a_manifest_are_no_documents(corpus: Path) -> None:
    write(corpus, **{"sources.toml": _ENTRY, "trn1.md": "text", "exam/bank.jsonl": "{}", "exam/more/b.csv": "a,b"})
    assert ids(corpus) == ["corpus/trn1.md"]
    assert ids(corpus / "exam") == ["exam/bank.jsonl", "exam/more/b.csv"]


def test_a_listed_file_that_is_missing_is_a_failure(corpus: Path) -> None:
    write(corpus, **{"sources.toml": _ENTRY, "other.md": "text"})
    assert ids(corpus) == ["corpus/other.md", "corpus/trn1.md"]
    assert "it is not there" in failures(corpus)["corpus/trn1.md"]


def test_a_manifest_governs_the_folder_that_it_lies_in(corpus: Path) -> None:
    write(corpus, **{"a/sources.toml": _ENTRY, "a/trn1.md": "text", "trn1.md": "text"})
    assert {item.id: bool(item.source) for item in find_items(corpus) if isinstance(item, Item)} == {
        "corpus/a/trn1.md": True,
        "corpus/trn1.md": False,
    }
    write(corpus, **{"sources.toml": _ENTRY})
    assert "id 'trn1' is taken by another entry" in refusal(corpus)


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        (_ENTRY + 'pubisher = "x"\n', "source 1: key 'pubisher' is not known"),
        ('[[source]]\nid = "a"\nfile = "a.md"\n', "key 'title' is missing"),
        (_ENTRY + _ENTRY.replace("trn1.md", "b.md"), "source 2: id 'trn1' is taken"),
        (_ENTRY + _ENTRY.replace('"trn1"', '"b"'), "file 'trn1.md' has an entry already"),
        (_ENTRY.replace("trn1.md", "../x.md"), "key 'file' leaves the folder"),
        (_ENTRY.replace("trn1.md", "/etc/passwd.md"), "key 'file' leaves the folder"),
        (_ENTRY.replace('"Trn1"', "5"), "key 'title' must be a text"),
        (_ENTRY.replace('"Trn1"', '" "'), "key 'title' must be a text"),
        (_ENTRY + 'url = "example.org"\n', "key 'url' must begin with https://"),
        (_ENTRY + 'published = "last May"\n', "key 'published' must be a date"),
        (_ENTRY.replace("[[source]]", "[[sources]]"), "'sources' is not known"),
        (_ENTRY.replace("[[source]]", "[source]"), "write one [[source]] table"),
        ("id = trn1", "is not valid TOML"),
    ],
)
def test_a_wrong_manifest_names_the_key(corpus: Path, manifest: str, words: str) -> None:
    write(corpus, **{"sources.toml": manifest})
    sentence = refusal(corpus)
    assert words in sentence
    assert "sources.toml" in sentence


def test_a_listed_link_must_not_leave_the_folder(corpus: Path, tmp_path: Path) -> None:
    write(tmp_path, **{"secret.md": "text", "corpus/sources.toml": _ENTRY})
    (corpus / "trn1.md").symlink_to(tmp_path / "secret.md")
    assert "key 'file' leaves the folder" in refusal(corpus)


# S3: the real boto3 client against moto's server on loopback


@pytest.fixture(scope="module")
def s3_server() -> Iterator[str]:
    server = pytest.importorskip("moto.server").ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def s3_settings(s3_server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3_server)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.fixture
def bucket(s3_settings: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    import boto3

    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    resource = boto3.resource("s3").create_bucket(Bucket="papers")
    yield "papers"
    resource.objects.delete()
    resource.delete()


def put(bucket: str, **objects: bytes) -> None:
    import boto3

    for key, data in objects.items():
        boto3.client("s3").put_object(Bucket=bucket, Key=key, Body=data)


def test_a_prefix_is_a_folder_of_a_bucket(bucket: str) -> None:
    names = ["docs/a.md", "docs/sub/b.txt", "docs/", "docs/c.png", "docs/.hidden.md", "docs-private/d.md", "e.md"]
    put(bucket, **{name: name.encode() for name in names})
    below = ["s3://papers/docs/a.md", "s3://papers/docs/sub/b.txt"]
    assert ids("s3://papers/docs") == ids("s3://papers/docs/") == below
    assert ids("s3://papers/docs/a.md") == below[:1]
    assert ids("s3://papers") == ["s3://papers/docs-private/d.md", *below, "s3://papers/e.md"]
    assert refusal("s3://papers/doc") == "the bucket has no doc: check the prefix"
    first = next(find_items("s3://papers/docs"))
    assert isinstance(first, Item)
    assert (first.name, first.source, first.fetch()) == ("a.md", None, b"docs/a.md")


def test_a_listing_of_several_pages_is_read_to_its_end(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOTO_S3_DEFAULT_MAX_KEYS", "2")
    put(bucket, **{f"{number}.txt": b"x" for number in range(5)})
    assert ids("s3://papers") == [f"s3://papers/{number}.txt" for number in range(5)]


def test_an_object_over_the_size_limit_is_told_by_the_listing(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from ingest.fetching import aws

    put(bucket, **{"large.txt": b"12345", "small.txt": b"1234"})
    monkeypatch.setattr(aws, "MAX_BYTES", 4)
    assert ids("s3://papers") == ["s3://papers/large.txt", "s3://papers/small.txt"]
    assert "larger than" in failures("s3://papers")["s3://papers/large.txt"]


def test_an_object_that_vanishes_says_so(bucket: str) -> None:
    import boto3

    put(bucket, **{"a.md": b"text"})
    [item] = find_items("s3://papers")
    boto3.client("s3").delete_object(Bucket=bucket, Key="a.md")
    assert isinstance(item, Item)
    with pytest.raises(CorpusError, match="removed from the bucket"):
        item.fetch()


def test_a_bucket_that_is_missing_says_so(bucket: str) -> None:
    assert refusal("s3://no-such-bucket/x") == (
        "s3://no-such-bucket: there is no bucket of that name: check the name and the AWS region"
    )
    assert "names no bucket" in refusal("s3://")


def test_missing_credentials_say_so(s3_settings: None) -> None:
    assert "no AWS credentials were found" in refusal("s3://papers")


def test_a_server_that_cannot_be_reached_says_so(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    assert "S3 cannot be reached" in refusal("s3://papers")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("AccessDenied", "grant s3:ListBucket"),
        ("ExpiredToken", "have expired"),
        ("SlowDown", "later"),
        ("NeverHeardOf", "S3 answered NeverHeardOf"),
    ],
)
def test_what_s3_refuses_is_one_sentence(bucket: str, monkeypatch: pytest.MonkeyPatch, code: str, words: str) -> None:
    from botocore.exceptions import ClientError
    from botocore.paginate import Paginator

    def refuse(*_: object, **__: object) -> None:
        raise ClientError({"Error": {"Code": code, "Message": "secret"}}, "ListObjectsV2")

    with monkeypatch.context() as patch:
        patch.setattr(Paginator, "paginate", refuse)
        sentence = refusal("s3://papers")
    assert words in sentence
    assert "secret" not in sentence


def test_s3_without_boto3_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "boto3", None)
    assert "pip install 'wattwise[aws]'" in refusal("s3://papers")
