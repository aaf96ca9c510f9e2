from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
GITHUB = ROOT / ".github"
USES = re.compile(r"uses: (\S+)")
BY_COMMIT = re.compile(r"[\w-]+/[\w.-]+@[0-9a-f]{40}")


@pytest.mark.parametrize("path", sorted(GITHUB.rglob("*.yml")), ids=lambda path: path.name)
def test_external_actions_are_pinned_by_commit(path: Path) -> None:
    """A tag can be moved to other code; a commit cannot."""
    for action in USES.findall(path.read_text(encoding="utf-8")):
        assert BY_COMMIT.fullmatch(action), action


def test_images_install_only_hashed_files() -> None:
    """Images resolve no versions, and build only with pinned packages."""
    for path in ("Containerfile", "space/Dockerfile"):
        text = (ROOT / "docs" / "deploy" / path).read_text(encoding="utf-8")
        assert "--require-hashes -r requirements-runtime.lock" in text
        assert "--no-deps --no-build-isolation ." in text
        assert text.count("pip install") == 2


def test_workflow_runs_checks_with_read_permissions() -> None:
    workflow = yaml.safe_load((GITHUB / "workflows" / "check.yml").read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    runs = [step.get("run") for step in workflow["jobs"]["check"]["steps"]]
    assert ".ci/run" in runs
    assert "make audit" in runs


def test_lock_has_one_version_per_library() -> None:
    """The lock pins each library exactly, without a registry."""
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").split()
    assert all(re.fullmatch(r"[\w.\[\]-]+==[\w.+!]+", line) for line in lines)
    assert len({line.partition("==")[0].lower() for line in lines}) == len(lines)


def _runtime() -> dict[str, str]:
    """Return the entries of `requirements-runtime.lock` by library: version, conditions and hashes."""
    text = (ROOT / "requirements-runtime.lock").read_text(encoding="utf-8").replace("\\\n", " ")
    return {str(canonicalize_name(line.partition("==")[0])): line for line in text.splitlines()}


def test_installation_is_pinned_by_hashes() -> None:
    """Each library has hashes and no address, in the version that the tests use."""
    pins = dict(line.split("==") for line in (ROOT / "requirements.lock").read_text(encoding="utf-8").split())
    pinned = {str(canonicalize_name(name.partition("[")[0])): version for name, version in pins.items()}
    for name, line in _runtime().items():
        match = re.fullmatch(r"[\w.-]+==([\w.+!]+)(?: ; ([^-]+?))?((?:\s+--hash=sha256:[0-9a-f]{64})+)", line)
        assert match, line
        # Other systems need libraries that this system does not.
        elsewhere = match[2] is not None and not Marker(match[2]).evaluate()
        assert pinned.get(name) == match[1] or (elsewhere and name not in pinned), name


def test_lock_file_lists_all_requirements() -> None:
    """The lock of hashes has the dependencies, those of the images' extras, and the build tools."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    requirements = [
        *project["project"]["dependencies"],
        *extras["pictures"],
        *extras["postgres"],
        *project["build-system"]["requires"],
    ]
    assert {canonicalize_name(Requirement(line).name) for line in requirements} <= _runtime().keys()


def test_base_images_are_pinned_by_digest(tmp_path: Path) -> None:
    """The release script adds or updates the digest of each base image's tag."""
    deploy = shutil.copytree(ROOT / "docs" / "deploy", tmp_path / "deploy")
    docker = tmp_path / "docker"
    for digit in "17":
        docker.write_text(f"#!/bin/sh\nprintf sha256:%064d {digit}\n")
        docker.chmod(0o755)
        path = f"{tmp_path}:{os.environ['PATH']}"  # noqa: TID251 - of the test's own machine
        subprocess.run([ROOT / ".ci" / "pin-bases.sh", deploy], check=True, env={"PATH": path})
        for name, count in {"Containerfile": 2, "space/Dockerfile": 2, "compose.yaml": 1}.items():
            text = (deploy / name).read_text(encoding="utf-8")
            assert len(re.findall(rf"(?:python|postgres):[\w.-]+@sha256:0{{63}}{digit}\b", text)) == count
            assert text.count("@sha256") == count


VULNERABLE = '{"name": "b", "version": "1", "vulns": [{"id": "CVE-1", "fix_versions": ["2"]}]}'
SKIPPED = '{"name": "a", "skip_reason": "not found"}'


@pytest.mark.parametrize(
    ("report", "status", "message"),
    [
        ("", 0, "nothing was looked up"),
        (f'{{"dependencies": [{SKIPPED}]}}', 0, "nothing was looked up"),
        (
            f'{{"dependencies": [{SKIPPED}, {{"name": "b", "version": "1", "vulns": []}}]}}',
            0,
            "0 of 1 libraries are vulnerable; 1 not looked up",
        ),
        (f'{{"dependencies": [{VULNERABLE}]}}', 1, "b 1: CVE-1, fixed in 2"),
    ],
)
def test_audit_reports_skipped_packages(report: str, status: int, message: str) -> None:
    """An unreachable database must not look like a clean result."""
    command = [sys.executable, str(ROOT / ".ci" / "read_audit.py")]
    done = subprocess.run(command, input=report, capture_output=True, text=True, check=False)
    assert (done.returncode, message in done.stdout) == (status, True), done.stdout + done.stderr


def test_units_and_secrets_are_private() -> None:
    """Only the service user can read its files and secrets."""
    deploy = ROOT / "docs" / "deploy"
    for unit in deploy.glob("*.service"):
        text = unit.read_text(encoding="utf-8")
        assert "UMask=0077" in text
        assert "StateDirectoryMode=0700" in text
    assert "mkdir -p -m 700 secrets" in (deploy / "compose.yaml").read_text(encoding="utf-8")
    site = yaml.safe_load((deploy / "compose.yaml").read_text(encoding="utf-8"))["services"]["site"]
    assert site["environment"]["ARENA_PROXIES"]
    assert "ARENA_PROXIES=" in (deploy / "space" / "Dockerfile").read_text(encoding="utf-8")


def test_promises_have_tests() -> None:
    tests = re.findall(r"`(tests/[\w/]+\.py)`", (ROOT / "docs" / "promises.md").read_text(encoding="utf-8"))
    assert len(tests) > 10
    assert [test for test in tests if "def test_" not in (ROOT / test).read_text(encoding="utf-8")] == []
