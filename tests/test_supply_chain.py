"""What is taken from others is named exactly: actions by commit, libraries by the lock."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
GITHUB = ROOT / ".github"
USES = re.compile(r"uses: (\S+)")
BY_COMMIT = re.compile(r"[\w-]+/[\w.-]+@[0-9a-f]{40}")


@pytest.mark.parametrize(
    "path", [*sorted(GITHUB.rglob("*.yml")), ROOT / "docs" / "teams.md"], ids=lambda path: path.name
)
def test_actions_of_others_are_named_by_commit(path: Path) -> None:
    """A tag can be moved to other code; a commit cannot."""
    for action in USES.findall(path.read_text(encoding="utf-8")):
        assert action.startswith("OWNER/") or BY_COMMIT.fullmatch(action), action


def test_the_gate_installs_what_the_lock_says() -> None:
    """Right before a secret is put into the environment nothing is resolved anew."""
    action = yaml.safe_load((GITHUB / "actions" / "gate" / "action.yml").read_text(encoding="utf-8"))
    install = action["runs"]["steps"][0]["run"]
    assert '-c "$INSTALL/requirements.lock"' in install
    assert (ROOT / "requirements.lock").is_file()


def test_the_workflow_of_the_repository_runs_its_checks_and_may_change_nothing() -> None:
    """Each change is checked by `.ci/run`, by a job that can only read."""
    workflow = yaml.safe_load((GITHUB / "workflows" / "check.yml").read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    runs = [step.get("run") for step in workflow["jobs"]["check"]["steps"]]
    assert ".ci/run" in runs
    assert "make audit" in runs


def test_every_library_of_the_lock_has_one_version_and_no_address() -> None:
    """The lock pins each library exactly, and names no registry."""
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").split()
    assert all(re.fullmatch(r"[\w.\[\]-]+==[\w.+!]+", line) for line in lines)
    assert len({line.partition("==")[0].lower() for line in lines}) == len(lines)


def test_units_and_secrets_are_closed_to_others() -> None:
    """Services write files for their user alone, and the folder of secrets is nobody else's to enter."""
    deploy = ROOT / "docs" / "deploy"
    for unit in deploy.glob("*.service"):
        text = unit.read_text(encoding="utf-8")
        assert "UMask=0077" in text
        assert "StateDirectoryMode=0700" in text
    assert "mkdir -p -m 700 secrets" in (deploy / "compose.yaml").read_text(encoding="utf-8")
    site = yaml.safe_load((deploy / "compose.yaml").read_text(encoding="utf-8"))["services"]["site"]
    assert site["environment"]["ARENA_PROXIES"]
    assert "ARENA_PROXIES=" in (deploy / "space" / "Dockerfile").read_text(encoding="utf-8")


def test_every_promise_has_its_test() -> None:
    """Each line of the table of promises names a page and a test that exist."""
    table = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")
    lines = [line for line in table.splitlines() if line.startswith("| ") and "`tests/" in line]
    assert len(lines) > 20
    for line in lines:
        (test,) = re.findall(r"`(tests/[\w/]+\.py)`", line)
        assert "def test_" in (ROOT / test).read_text(encoding="utf-8"), test
        for page in re.findall(r"\]\(([\w/]+\.md)\)", line):
            assert (ROOT / "docs" / page).is_file(), page
