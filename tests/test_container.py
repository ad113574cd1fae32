"""The image and its services, tested without Docker: the tests parse the files and carry out their steps themselves."""

import os
import shutil
import subprocess
import sys
import sysconfig
import time
import tomllib
import venv
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import yaml
from streamlit.config import get_config_options

from chatbot.app import CONFIG, streamlit_variables
from tests.app_server import free_port
from tests.dockerfile import Stage, copied, is_sent, read_patterns, read_stages
from tests.servers import slack_requests
from tests.servers.slack_api import slack_api
from tests.servers.slack_socket import slack_socket

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
IGNORED = read_patterns((ROOT / ".dockerignore").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"]
OURS = ("index", "app", "serve", "slack")
HEALTHY = ROOT / "container" / "healthy.py"


@pytest.fixture(scope="module")
def stages() -> dict[str, Stage]:
    return {stage.name or "image": stage for stage in read_stages((ROOT / "Dockerfile").read_text(encoding="utf-8"))}


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory, stages: Mapping[str, Stage]) -> Path:
    """The files that the wheel stage copies, as Docker would send them."""
    folder = tmp_path_factory.mktemp("context")
    for source, destination in copied(stages["wheel"]):
        for file in _files(ROOT / source):
            path = file.relative_to(ROOT)
            if is_sent(str(path), IGNORED):
                target = folder / destination / file.relative_to(ROOT / source if destination != "./" else ROOT)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, target)
    return folder


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, context: Path, stages: Mapping[str, Stage]) -> Path:
    """The folder of an installed wheel, built with the Dockerfile's command but without network access."""
    folder = tmp_path_factory.mktemp("installed")
    command = stages["wheel"].only("RUN").arguments.replace("/wheels", str(folder / "wheels")).split()
    offline = ["--no-build-isolation", "--no-index", "--quiet", "--disable-pip-version-check"]
    subprocess.run([sys.executable, "-m", *command, *offline], cwd=context, check=True, timeout=120)
    (wheel,) = (folder / "wheels").glob("wattwise-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "packages")
    return folder / "packages"


def test_the_image_builds_on_one_pinned_python(stages: Mapping[str, Stage]) -> None:
    bases = {name: stage.base for name, stage in stages.items()}
    assert bases == {
        "base": "python:3.11.14-slim-trixie", "wheel": "base", "packages": "base", "image": "base",
    }  # fmt: skip
    assert PROJECT["project"]["requires-python"] == ">=3.11"


def test_the_torch_of_the_image_is_the_pinned_one_without_cuda(stages: Mapping[str, Stage]) -> None:
    (pinned,) = (d for d in PROJECT["project"]["dependencies"] if d.startswith("torch"))
    installs = [i.arguments for i in stages["packages"].all("RUN") if "pip install" in i.arguments]
    assert stages["packages"].only("ARG").arguments == "TORCH_INDEX=https://download.pytorch.org/whl/cpu"
    assert installs == [
        f'pip install --no-cache-dir --index-url "$TORCH_INDEX" {pinned}',
        'set -- /wheels/wattwise-*.whl && pip install --no-cache-dir "$1[all]"',
    ]


def test_the_image_runs_the_app_as_a_user_without_rights(stages: Mapping[str, Stage]) -> None:
    image = stages["image"]
    assert image.only("USER").arguments == "10001:10001"
    assert (image.only("ENTRYPOINT").words, image.only("CMD").words) == (["wattwise"], ["app"])
    assert image.only("EXPOSE").words == ["8501", "8000", "3000"]
    assert image.only("HEALTHCHECK").arguments.endswith(
        'CMD ["python", "/opt/wattwise/healthy.py", "http://127.0.0.1:8000/health", "http://127.0.0.1:8501/_stcore/health"]'
    )
    order = [i.keyword for i in image.instructions]
    assert order.index("USER") < len(order) - order[::-1].index("RUN") - 1, "the index belongs to the user"


def test_what_is_copied_is_there_and_is_sent(stages: Mapping[str, Stage]) -> None:
    sources = [source for stage in stages.values() for source, _ in copied(stage)]
    assert [s for s in sources if not (ROOT / s).exists() or not is_sent(s, IGNORED)] == []
    sent = {path.name for path in ROOT.iterdir() if is_sent(path.name, IGNORED)}
    assert sent == {Path(source).parts[0] for source in sources}


@pytest.mark.parametrize(
    "path", [".env", ".git/config", ".streamlit/secrets.toml", ".venv/bin/python", "index/store.sqlite", "app/__pycache__/a.pyc"]
)  # fmt: skip
def test_secrets_and_what_was_built_elsewhere_stay_outside(path: str) -> None:
    assert not is_sent(path, IGNORED)


def test_the_wheel_holds_every_file_that_the_program_reads(installed: Path) -> None:
    folders = ("app", "chatbot", "corpus", "ingest")
    expected = {f.relative_to(ROOT) for folder in folders for f in _files(ROOT / folder)} | {Path("streamlit_app.py")}
    found = {f.relative_to(installed) for f in _files(installed)}
    assert {f for f in found if not f.parts[0].endswith(".dist-info")} == expected


def test_the_entry_point_of_the_image_is_the_wheels(installed: Path) -> None:
    (entries,) = installed.glob("*.dist-info/entry_points.txt")
    assert entries.read_text(encoding="utf-8").strip() == "[console_scripts]\nwattwise = chatbot.__main__:main"


def test_the_commands_start_from_the_wheel_alone(installed: Path, tmp_path: Path) -> None:
    assert _run(installed, tmp_path, "status", "--help").startswith("usage: wattwise status")
    where = subprocess.run(
        [sys.executable, "-c", "import chatbot, ingest; print(chatbot.__file__, ingest.__file__)"],
        cwd=tmp_path, env=_environment(installed), capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert where.split() == [str(installed / name / "__init__.py") for name in ("chatbot", "ingest")]


def test_the_wheel_sizes_with_its_own_facts(installed: Path, tmp_path: Path) -> None:
    assert _run(installed, tmp_path, "size", "--model", "llama-3.1-8b", "--index", "none").startswith(
        "Meta-Llama-3.1-8B: serve, bf16 weights"
    )


@pytest.mark.evaluation
@pytest.mark.timeout(1800)
def test_from_nothing_the_wheel_ingests_its_corpus_and_answers_in_a_page_and_in_slack(
    installed: Path, tmp_path: Path
) -> None:
    wattwise = _fresh_environment(installed.parent / "wheels", tmp_path / "venv")
    empty = tmp_path / "empty"
    empty.mkdir()
    options: dict[str, Any] = {"cwd": empty, "env": {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}, "text": True}
    done = subprocess.run([wattwise, "ingest"], capture_output=True, **options)
    assert (done.returncode, (empty / "index").is_dir()) == (0, True), done.stderr
    port = free_port()
    with subprocess.Popen([wattwise, "app", "--port", str(port)], stderr=subprocess.PIPE, **options) as app:
        try:
            assert _eventually_healthy(f"http://127.0.0.1:{port}/_stcore/health")
        finally:
            app.terminate()
        assert app.communicate(timeout=20)[1] == f"The chat opens on http://localhost:{port}. Ctrl-C ends it.\n"
    with slack_api() as api, slack_socket() as socket:
        api.socket_url = socket.url
        options["env"] |= {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1", "WATTWISE_SLACK_API_URL": api.url}
        with subprocess.Popen([wattwise, "slack"], stderr=subprocess.PIPE, **options) as slack:
            try:
                question = "How many vCPUs has trn1.32xlarge?"
                socket.send("events_api", slack_requests.mention(question, api.person_says(question)))
                api.wait_for_answers(seconds=600)  # loading is slow on a busy machine
            finally:
                slack.terminate()
            errors = slack.communicate(timeout=60)[1]
    assert ("128" in api.said()[0]["text"], slack.returncode, "Traceback" in errors) == (True, 0, False)


def _fresh_environment(wheels: Path, folder: Path) -> Path:
    """Create a virtual environment with the wheel but nothing else from the repository; other packages are shared.

    Return the path of its `wattwise` command.
    """
    venv.create(folder, with_pip=False, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "others.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    (wheel,) = wheels.glob("wattwise-*.whl")
    python = folder / "bin" / "python"
    options: dict[str, Any] = {"cwd": folder, "check": True, "env": {"PATH": os.environ["PATH"], "HOME": str(folder)}}
    command = ["-m", "pip", "install", "--no-deps", "--no-index", "--quiet", "--ignore-installed", str(wheel)]
    subprocess.run([python, *command], **options)
    where = [python, "-c", "import chatbot; print(chatbot.__file__)"]
    assert subprocess.run(where, capture_output=True, text=True, **options).stdout.startswith(str(packages))
    return folder / "bin" / "wattwise"


@pytest.mark.evaluation
def test_the_app_of_the_wheel_is_healthy_and_says_no_more_than_where(
    installed: Path, tmp_path: Path, corpus_index: Path
) -> None:
    port = free_port()
    command = [sys.executable, "-m", "chatbot", "app", "--index", str(corpus_index), "--port", str(port)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=tmp_path, env=_environment(installed), text=True, **pipes) as app:  # type: ignore[call-overload]
        try:
            assert _eventually_healthy(f"http://127.0.0.1:{port}/_stcore/health")
        finally:
            app.terminate()
        said = app.communicate(timeout=20)
    assert said == ("", f"The chat opens on http://localhost:{port}. Ctrl-C ends it.\n")


def test_streamlit_knows_every_variable_that_it_is_given() -> None:
    given = streamlit_variables(tomllib.loads(CONFIG.read_text(encoding="utf-8")))
    assert given.keys() <= {option.env_var for option in get_config_options().values()}
    assert given["STREAMLIT_SERVER_MAX_UPLOAD_SIZE"] == "50"
    assert given["STREAMLIT_CLIENT_SHOW_ERROR_LINKS"] == "false"
    assert given["STREAMLIT_THEME_DARK_PRIMARY_COLOR"] == "#3ecf9a"


def test_a_checkout_and_a_wheel_have_the_same_configuration() -> None:
    assert (ROOT / ".streamlit" / "config.toml").resolve() == CONFIG


@pytest.mark.parametrize(("statuses", "code"), [([200], 0), ([503], 1), ([503, 200], 0), ([], 1)])
def test_health_is_one_address_that_answers(statuses: list[int], code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    nobody = f"http://127.0.0.1:{free_port()}/"
    with _answering() as address:
        assert _healthy_main()([nobody, *(f"{address}/{status}" for status in statuses)]) == code


@pytest.mark.parametrize("name", OURS)
def test_our_services_can_write_to_their_data_and_nothing_else(name: str) -> None:
    service = SERVICES[name]
    restrictions = ("read_only", "tmpfs", "cap_drop", "security_opt", "volumes", "init")
    assert {key: service.get(key) for key in restrictions} == {
        "read_only": True, "tmpfs": ["/tmp"], "cap_drop": ["ALL"], "security_opt": ["no-new-privileges:true"],
        "volumes": ["data:/var/lib/wattwise"], "init": True,
    }  # fmt: skip
    assert service["image"] == f"wattwise:{PROJECT['project']['version']}"


def test_each_service_runs_its_command_and_is_asked_for_its_health() -> None:
    assert {name: SERVICES[name]["command"] for name in OURS} == {
        "index": ["status"], "app": ["app"], "serve": ["serve"], "slack": ["slack", "--health-port", "3000"],
    }  # fmt: skip
    check = ["CMD", "python", "/opt/wattwise/healthy.py"]
    assert {name: service["healthcheck"].get("test") for name, service in SERVICES.items()} == {
        "index": None,
        "app": [*check, "http://127.0.0.1:8501/_stcore/health"],
        "serve": [*check, "http://127.0.0.1:8000/health"],
        "slack": [*check, "http://127.0.0.1:3000/health"],
        "ollama": ["CMD", "ollama", "list"],
    }
    assert {name: service.get("profiles") for name, service in SERVICES.items() if "profiles" in service} == {
        "slack": ["slack"], "ollama": ["ollama"],
    }  # fmt: skip


def test_ports_are_published_to_this_machine_unless_the_operator_says_otherwise() -> None:
    assert {name: service["ports"] for name, service in SERVICES.items() if "ports" in service} == {
        "app": ["${WATTWISE_PUBLISH:-127.0.0.1}:8501:8501"],
        "serve": ["${WATTWISE_PUBLISH:-127.0.0.1}:8000:8000"],
    }


def test_whatever_is_set_beside_the_compose_file_reaches_each_server_and_nothing_else_is_set() -> None:
    assert {name: service.get("env_file") for name, service in SERVICES.items()} == {
        "index": None, "ollama": None, **{name: [{"path": ".env", "required": False}] for name in ("app", "serve", "slack")},
    }  # fmt: skip
    assert not any("environment" in service for service in SERVICES.values())


def _files(path: Path) -> Iterator[Path]:
    """The project's files in a folder, without __pycache__; a single file yields itself."""
    found = path.rglob("*") if path.is_dir() else [path]
    yield from (file for file in found if file.is_file() and "__pycache__" not in file.parts)


def _environment(installed: Path) -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("WATTWISE_")}
    return {**own, "PYTHONPATH": str(installed), "PYTHONDONTWRITEBYTECODE": "1"}


def _run(installed: Path, folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "chatbot", *arguments]
    environment = _environment(installed)
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True).stdout


def _eventually_healthy(address: str) -> bool:
    for _ in range(200):
        if subprocess.run([sys.executable, HEALTHY, address], check=False).returncode == 0:
            return True
        time.sleep(0.1)
    return False


def _healthy_main() -> Any:
    spec = spec_from_file_location("healthy", HEALTHY)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.main


@contextmanager
def _answering() -> Iterator[str]:
    """Run a server that answers with the status named in the path."""

    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(int(self.path.strip("/")))
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
