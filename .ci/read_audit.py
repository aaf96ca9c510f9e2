"""Read a report of pip-audit: list known vulnerabilities (then end with 1), and what was not looked up."""

from __future__ import annotations

import json
import sys
from typing import Any


def main(report: str) -> int:
    """Print what a report says; gives the status to end with."""
    libraries: list[dict[str, Any]] = json.loads(report)["dependencies"] if report.strip() else []
    looked_up = [library for library in libraries if "skip_reason" not in library]
    found = [library for library in looked_up if library["vulns"]]
    for library in found:
        for known in library["vulns"]:
            mended = ", ".join(known["fix_versions"]) or "no version"
            print(f"{library['name']} {library['version']}: {known['id']}, mended in {mended}")
    if not looked_up:
        print("No database of vulnerabilities can be reached: nothing was looked up.")
    else:
        missed = len(libraries) - len(looked_up)
        print(
            f"{len(found)} of {len(looked_up)} libraries are known to be vulnerable; {missed} not looked up."
        )
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.stdin.read()))
