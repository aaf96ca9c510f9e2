"""Files for containers, compose, systemd and nginx are well-formed and consistent with the program."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from arena.cli.commands import command as arena_command
from tests.test_docs import VARIABLES

DEPLOY = Path(__file__).parents[1] / "docs" / "deploy"
UNITS = sorted(DEPLOY.glob("*.service"))


@pytest.mark.parametrize("path", sorted(filter(Path.is_file, DEPLOY.rglob("*"))), ids=lambda path: path.name)
def test_only_existing_settings_are_used(path: Path) -> None:
    """The program reads every variable of ours in a deployment file."""
    named = set(re.findall(r"\b((?:ARENA|OPENAI)_[A-Z_]+)\b", path.read_text(encoding="utf-8")))
    assert named <= {variable.name for variable in VARIABLES}


def test_compose_services_have_health_checks_and_no_secrets() -> None:
    """Site, worker and database have health checks, none runs as root, and secrets come from files."""
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    assert {"site", "worker", "database"} <= compose["services"].keys()
    for name in ("database", "worker"):
        assert compose["services"][name]["healthcheck"]["test"]
    commands: Any = arena_command()
    for name in ("site", "worker", "upgrade"):
        words = compose["services"][name]["command"]
        command = commands
        for word in words:
            if word.startswith("--"):
                assert any(word in (*param.opts, *param.secondary_opts) for param in command.params)
            elif hasattr(command, "commands"):
                command = command.get_command(typer.Context(command), word)
    variables = compose["services"]["worker"]["environment"]
    assert all(name.endswith("_FILE") or name == "ARENA_LOG_FORMAT" for name in variables)


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
def test_systemd_accepts_unit(unit: Path, tmp_path: Path) -> None:
    """`systemd-analyze verify` reports only that the program is not installed here."""
    program = shutil.which("systemd-analyze")
    content = unit.read_text(encoding="utf-8")
    assert re.search(r"^User=arena$", content, re.MULTILINE)
    if program is None:
        pytest.skip("NO systemd-analyze: the units are not verified")
    # Neither the program nor the user exists where the tests run.
    name = unit.name.replace("@", "@1")
    copy = tmp_path / name
    copy.write_text(content.replace("/opt/arena/bin/arena", "/bin/true").replace("User=arena", "User=root"))
    done = subprocess.run([program, "verify", str(copy)], capture_output=True, text=True, check=False)
    assert name not in done.stderr


def test_proxy_adds_headers_to_its_own_responses() -> None:
    content = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
    assert content.count("{") == content.count("}")
    for header in ("Content-Security-Policy", "X-Content-Type-Options", "Referrer-Policy"):
        (variable,) = re.findall(rf"add_header {header} (\$\w+) always;", content)
        upstream = f"$upstream_http_{header.lower().replace('-', '_')}"
        rule = re.search(rf"map {re.escape(upstream)} {re.escape(variable)} {{(.*?)}}", content, re.DOTALL)
        assert rule is not None
        assert re.search(r'^\s+"" \S', rule[1], re.MULTILINE)
        assert re.search(r'^\s+default "";', rule[1], re.MULTILINE)
