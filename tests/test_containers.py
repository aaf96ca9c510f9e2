"""The images: their files are linted and hold to what exists, and are built where an engine runs."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
import tomllib
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from dockerfile_parse import DockerfileParser

from arena.cli.commands import build
from hatch_build import OTHERS

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "docs" / "deploy"
FILES = (DEPLOY / "Containerfile", DEPLOY / "space" / "Dockerfile")
PORT = 8501
ROOT_NAMES = {"0", "root"}


@pytest.fixture(params=FILES, ids=lambda path: path.name)
def path(request: pytest.FixtureRequest) -> Path:
    """The file of each image in turn."""
    found: Path = request.param
    return found


@pytest.fixture
def steps(path: Path) -> list[dict[str, Any]]:
    """The instructions of a file in order."""
    with path.open("rb") as content:
        found: list[dict[str, Any]] = DockerfileParser(fileobj=content).structure
    return [step for step in found if step["instruction"] != "COMMENT"]


def _last(steps: list[dict[str, Any]], instruction: str) -> str:
    return str([step["value"] for step in steps if step["instruction"] == instruction][-1])


def test_linter_has_nothing_to_say(path: Path) -> None:
    """Hadolint, which comes with the development tools, finds nothing, not even a hint."""
    program = Path(sys.executable).with_name("hadolint")
    if not program.exists():
        pytest.skip("NO hadolint: the images' files are checked by our own tests alone")
    done = subprocess.run(
        [str(program), "--failure-threshold", "style", str(path)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_what_is_copied_exists_and_is_all_that_the_package_needs(steps: list[dict[str, Any]]) -> None:
    """Every source is in the checkout, none is left out of the context, no room of the product is missing."""
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
    """No image is `latest`, both stages have the same, and the Python is one that the project supports."""
    images = {step["value"].split()[0] for step in steps if step["instruction"] == "FROM"}
    (image,) = images
    found = re.fullmatch(r"python:(3\.\d+)-slim-[a-z]+(@sha256:[0-9a-f]{64})?", image)
    assert found is not None
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert f"Programming Language :: Python :: {found[1]}" in project["project"]["classifiers"]


def test_image_runs_as_nobody_special_and_says_how_it_is(steps: list[dict[str, Any]]) -> None:
    """The user is a number other than 0, made in the file; the state is in a volume; health is asked."""
    final = steps[[at for at, step in enumerate(steps) if step["instruction"] == "FROM"][-1] :]
    user = _last(final, "USER")
    assert user.isdecimal()
    assert user not in ROOT_NAMES
    assert f"--uid {user}" in " ".join(step["value"] for step in final if step["instruction"] == "RUN")
    volume, home = _last(final, "VOLUME"), re.search(r"ARENA_HOME=(\S+)", _last(final, "ENV"))
    assert home is not None
    assert home[1].startswith(volume)
    assert f"127.0.0.1:{_last(final, 'EXPOSE')}/healthz" in _last(final, "HEALTHCHECK")


def test_image_runs_a_command_that_exists(steps: list[dict[str, Any]]) -> None:
    """Entry point and command are `arena serve` with options that it has, on the port that is exposed."""
    assert json.loads(_last(steps, "ENTRYPOINT")) == ["arena"]
    words = json.loads(_last(steps, "CMD"))
    group: Any = typer.main.get_command(build())
    command = group.commands[words[0]]
    known = {option for one in command.params for option in (*one.opts, *one.secondary_opts)}
    assert {word for word in words if word.startswith("--")} <= known
    default = next(one.default for one in command.params if one.name == "port")
    assert str(default) == _last(steps, "EXPOSE") == str(PORT)


def test_space_is_what_its_host_asks_for(tmp_path: Path) -> None:
    """The folder that is pushed has a Dockerfile, all that it copies, and a card that names the port."""
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


ROOT_OF_ITS_OWN = """set -e
mount -t tmpfs tmpfs "$1" && mkdir "$1/changes" "$1/work" "$1/merged"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/changes,workdir=$1/work" "$1/merged"
mount --rbind /proc "$1/merged/proc" && mount --rbind /dev "$1/merged/dev"
mkdir "$1/merged/context" && mount --bind "$2" "$1/merged/context"
exec chroot "$1/merged" sh -ec "$3"
"""
"""Runs a script in a copy of the machine's root that is gone afterwards; needs rights to mount."""
NOBODY_YET = """
chmod o+x ~root
for uid in 1000 10001; do name=$(id -nu $uid 2> /dev/null) && userdel $name; done
"""
"""The machine's Python may lie below its root's home, and images have no such users."""
SERVED = """
{user} {command} > /tmp/served 2>&1 & served=$!
for second in $(seq 300); do
  if {user} {health} 2> /dev/null; then echo HEALTHY $({user} id -u); break; fi
  sleep 1
done
kill $served || true
wait $served || true
tail -n 20 /tmp/served
userdel arena
"""


def _script(steps: list[dict[str, Any]]) -> str:
    """The steps of a stage as a script; what is copied from another stage is there already."""
    lines = ["set -e"]
    for step in steps:
        kind, value = step["instruction"], step["value"]
        if kind == "RUN":
            lines.append(value)
        elif kind == "WORKDIR":
            lines.append(f"mkdir -p {value} && cd {value}")
        elif kind == "ENV":
            lines.append(f"export {value}")
        elif kind == "COPY" and "--from=" not in value:
            *sources, target = value.split()
            content = "/." if len(sources) == 1 and (ROOT / sources[0]).is_dir() else ""
            named = " ".join(f"/context/{source}{content}" for source in sources)
            lines.append(f"mkdir -p {target} && cp -r {named} {target}")
    return "\n".join(lines)


def _in_a_root(folder: Path, script: str) -> str:
    command = ["unshare", "-m", "sh", "-c", ROOT_OF_ITS_OWN, "sh", str(folder), str(ROOT), script]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    return done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.skipif(
    os.environ.get("IMAGE_STEPS") != "1",  # noqa: TID251 - of the tests alone
    reason="STEPS OF THE IMAGES ARE NOT RUN: they install everything anew; set IMAGE_STEPS=1",
)
@pytest.mark.timeout(3000)
def test_steps_of_the_images_work_one_after_another(tmp_path: Path) -> None:
    """Each step runs as it stands in a root of its own; then the image's user serves, and health is good."""
    if _in_a_root(tmp_path, "id -u") != "0\n":
        pytest.skip("NO RIGHT TO MOUNT HERE: the steps of the images are linted, and not run")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    builds, scripts, users = set(), [], []
    for path in FILES:
        with path.open("rb") as content:
            steps = DockerfileParser(fileobj=content).structure
        second = [at for at, step in enumerate(steps) if step["instruction"] == "FROM"][1]
        builds.add(_script(steps[:second]))
        users.append(_last(steps, "USER"))
        health = json.loads(_last(steps, "HEALTHCHECK").partition("CMD ")[2])
        served = SERVED.format(
            user=f"setpriv --reuid {users[-1]} --regid {users[-1]} --clear-groups env HOME=$ARENA_HOME",
            command=shlex.join([*json.loads(_last(steps, "ENTRYPOINT")), *json.loads(_last(steps, "CMD"))])
            + f" --port {port}",
            health=shlex.join(health).replace(str(PORT), port),
        )
        scripts.append(f"({_script(steps[second:])}{served})")
    (build,) = builds
    said = _in_a_root(tmp_path, "\n".join([NOBODY_YET, build, *scripts]))
    if "No matching distribution" in said:
        pytest.skip("NO REGISTRY OF PACKAGES IS REACHED HERE: the steps of the images are not run")
    assert [f"HEALTHY {user}" in said for user in users] == [True, True], said[-4000:]


@pytest.fixture(scope="module")
def engine() -> str:
    """A program that builds and runs containers here."""
    for name in ("docker", "podman"):
        program = shutil.which(name)
        if program is not None:
            with suppress(subprocess.SubprocessError):
                subprocess.run([program, "info"], check=True, capture_output=True, timeout=60)
                return program
    pytest.skip("NO CONTAINER ENGINE RUNS HERE: the images are linted, but neither built nor run")


@pytest.fixture
def container(engine: str, path: Path) -> Iterator[tuple[str, str]]:
    """An image that was built, running on a port of its own: the engine's program and the container."""
    tag = f"answer-arena-test-{path.name.lower()}"
    command = [engine, "build", "--quiet", "--file", str(path), "--tag", tag, str(ROOT)]
    subprocess.run(command, check=True, timeout=1800)
    command = [engine, "run", "--detach", "--rm", "--read-only", "--tmpfs", "/tmp"]  # noqa: S108 - inside of it
    started = subprocess.run(
        [*command, "--publish", f"127.0.0.1::{PORT}", tag], check=True, capture_output=True, text=True
    )
    name = started.stdout.strip()
    yield engine, name
    subprocess.run([engine, "stop", name], check=False, capture_output=True)
    subprocess.run([engine, "rmi", "--force", tag], check=False, capture_output=True)


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_image_is_built_and_answers(container: tuple[str, str]) -> None:
    """Built from the checkout it serves the site with a read-only root, as a user who is not root."""
    engine, name = container
    who = subprocess.run([engine, "exec", name, "id", "-u"], check=True, capture_output=True, text=True)
    assert who.stdout.strip() != "0"
    place = subprocess.run([engine, "port", name, str(PORT)], check=True, capture_output=True, text=True)
    address = f"http://{place.stdout.split()[-1]}/healthz"
    end = time.monotonic() + 180
    while True:
        try:
            with urllib.request.urlopen(address, timeout=5) as answered:
                assert answered.status == 200
                break
        except OSError:
            assert time.monotonic() < end, subprocess.run([engine, "logs", name], check=False)
            time.sleep(2)
    subprocess.run([engine, "exec", name, "arena", "sets", "list"], check=True, capture_output=True)
