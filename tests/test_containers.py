"""Container images: linted and consistent with the project, and built if an engine runs."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
import tomllib
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from dockerfile_parse import DockerfileParser

from arena.cli.commands import all_commands
from hatch_build import OTHERS

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "docs" / "deploy"
FILES = (DEPLOY / "Containerfile", DEPLOY / "space" / "Dockerfile")
PORT = 8501


@pytest.fixture(params=FILES, ids=lambda path: path.name)
def path(request: pytest.FixtureRequest) -> Path:
    """File of each image in turn."""
    value: Path = request.param
    return value


@pytest.fixture
def steps(path: Path) -> list[dict[str, Any]]:
    """Return the instructions of a file in order."""
    with path.open("rb") as content:
        value: list[dict[str, Any]] = DockerfileParser(fileobj=content).structure
    return [step for step in value if step["instruction"] != "COMMENT"]


def _last(steps: list[dict[str, Any]], instruction: str) -> str:
    return str([step["value"] for step in steps if step["instruction"] == instruction][-1])


def test_linter_accepts_container_files(path: Path) -> None:
    """Hadolint, a development dependency, reports nothing."""
    program = Path(sys.executable).with_name("hadolint")
    if not program.exists():
        pytest.skip("NO hadolint: the images' files are checked only by our own tests")
    done = subprocess.run(
        [str(program), "--failure-threshold", "style", str(path)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_image_copies_files_of_package(steps: list[dict[str, Any]]) -> None:
    """Every source exists, is part of the build context, and every package of the product is copied."""
    copied = {
        source
        for step in steps
        if step["instruction"] == "COPY" and "--from=" not in step["value"]
        for source in step["value"].split()[:-1]
    }
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split("\n")
    assert "*" in ignored
    assert {f"!{source}" for source in copied} == {line for line in ignored if line.startswith("!")}
    assert [source for source in copied if not (ROOT / source).exists()] == []
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    included = {*(name.split("/")[0] for name in OTHERS), wheel["hooks"]["custom"]["path"]}
    described = {"pyproject.toml", project["project"]["readme"], *project["project"]["license-files"]}
    assert {*wheel["packages"], *included, *described} <= copied


def test_base_images_are_named_by_version(steps: list[dict[str, Any]]) -> None:
    """No image is `latest`, both stages use the same, and the project supports its Python."""
    images = {step["value"].split()[0] for step in steps if step["instruction"] == "FROM"}
    (image,) = images
    value = re.fullmatch(r"python:(3\.\d+)-slim-[a-z]+(@sha256:[0-9a-f]{64})?", image)
    assert value is not None
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert f"Programming Language :: Python :: {value[1]}" in project["project"]["classifiers"]


def test_image_runs_unprivileged_with_health_check(steps: list[dict[str, Any]]) -> None:
    """The user is not root, the state is in a volume, and there is a health check."""
    final = steps[[at for at, step in enumerate(steps) if step["instruction"] == "FROM"][-1] :]
    user = _last(final, "USER")
    assert int(user) > 0
    assert f"--uid {user}" in " ".join(step["value"] for step in final if step["instruction"] == "RUN")
    volume, home = _last(final, "VOLUME"), re.search(r"ARENA_HOME=(\S+)", _last(final, "ENV"))
    assert home is not None
    assert home[1].startswith(volume)
    assert f"127.0.0.1:{_last(final, 'EXPOSE')}/healthz" in _last(final, "HEALTHCHECK")


def test_image_runs_existing_command(steps: list[dict[str, Any]]) -> None:
    """Entry point and command are `arena serve` with existing options, on the exposed port."""
    assert json.loads(_last(steps, "ENTRYPOINT")) == ["arena"]
    words = json.loads(_last(steps, "CMD"))
    command = all_commands()[words[0]]
    known = {option for param in command.params for option in (*param.opts, *param.secondary_opts)}
    assert {word for word in words if word.startswith("--")} <= known
    default = next(param.default for param in command.params if param.name == "port")
    assert str(default) == _last(steps, "EXPOSE") == str(PORT)


def test_space_meets_its_host_requirements(tmp_path: Path) -> None:
    """The pushed folder has a Dockerfile, its sources, and a card with the port."""
    script = DEPLOY / "space" / "assemble.sh"
    subprocess.run([str(script), str(tmp_path)], check=True, capture_output=True)
    card = (tmp_path / "README.md").read_text(encoding="utf-8")
    _, front, _ = card.split("---\n", 2)
    assert (yaml.safe_load(front)["sdk"], yaml.safe_load(front)["app_port"]) == ("docker", PORT)
    for line in (tmp_path / "Dockerfile").read_text(encoding="utf-8").splitlines():
        if line.startswith("COPY") and "--from" not in line:
            assert [name for name in line.split()[1:-1] if not (tmp_path / name).exists()] == []
    assert not (tmp_path / "tests").exists()
    missing = subprocess.run([str(script)], check=False, capture_output=True, text=True)
    assert (missing.returncode, missing.stderr.count("\n")) == (2, 1)


def _engine(*words: object) -> str:
    """Run the container engine of this machine, and return its output."""
    program = shutil.which("docker") or shutil.which("podman")
    if program is None or subprocess.run([program, "info"], check=False, capture_output=True).returncode:
        pytest.skip("NO CONTAINER ENGINE RUNS HERE: the images are linted, but neither built nor run")
    command = [program, *map(str, words)]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=1800).stdout.strip()


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_image_builds_and_responds(path: Path) -> None:
    """The image serves the site with a read-only root, as a user other than root."""
    tag = f"answer-arena-test-{path.name.lower()}"
    _engine("build", "--quiet", "--file", path, "--tag", tag, ROOT)
    readable = ("--read-only", "--tmpfs", "/tmp")  # noqa: S108 - inside of it
    name = _engine("run", "--detach", "--rm", *readable, "--publish", f"127.0.0.1::{PORT}", tag)
    try:
        assert _engine("exec", name, "id", "-u") != "0"
        address = f"http://{_engine('port', name, PORT).split()[-1]}/healthz"
        end = time.monotonic() + 180
        while True:
            with suppress(OSError), urllib.request.urlopen(address, timeout=5) as answered:
                assert answered.status == 200
                break
            assert time.monotonic() < end, _engine("logs", name)
            time.sleep(2)
        _engine("exec", name, "arena", "sets", "list")
    finally:
        _engine("stop", name)
        _engine("rmi", "--force", tag)
