"""Read a report of pip-audit: print known vulnerabilities (exit status 1) and skipped libraries."""

from __future__ import annotations

import json
import sys
from typing import Any


def main(report: str) -> int:
    """Print a report, and return the exit status."""
    libraries: list[dict[str, Any]] = json.loads(report)["dependencies"] if report.strip() else []
    looked_up = [library for library in libraries if "skip_reason" not in library]
    vulnerable = [library for library in looked_up if library["vulns"]]
    for library in vulnerable:
        for vulnerability in library["vulns"]:
            fixed = ", ".join(vulnerability["fix_versions"]) or "no version"
            print(f"{library['name']} {library['version']}: {vulnerability['id']}, fixed in {fixed}")
    if not looked_up:
        print("No database of vulnerabilities can be reached: nothing was looked up.")
    else:
        missed = len(libraries) - len(looked_up)
        print(f"{len(vulnerable)} of {len(looked_up)} libraries are vulnerable; {missed} not looked up.")
    return bool(vulnerable)


if __name__ == "__main__":
    sys.exit(main(sys.stdin.read()))
