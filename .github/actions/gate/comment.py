"""Writes a gate's summary into one comment of the pull request, and updates that one later.

The comment is found by a marker and by its author: somebody else's with the same marker is left alone. Needs
nothing but Python. Without a pull request, or where comments are not allowed, it says so and goes on.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PAGE = 100
MOST_PAGES = 30
LONGEST = 60_000
TIMEOUT = 30
ADVICE = "The job needs the permission pull-requests: write."


def main() -> None:
    """Create the comment, or update it."""
    number = pull_request(Path(os.environ["GITHUB_EVENT_PATH"]))
    if number is None:
        print("No pull request to comment on.")
        return
    mark = marker(os.environ["SET"], os.environ["SYSTEM"])
    text = Path(os.environ["SUMMARY"]).read_text(encoding="utf-8")[:LONGEST]
    body = f"{mark}\n{text}"
    where = f"/repos/{os.environ['GITHUB_REPOSITORY']}/issues"
    try:
        own = next(
            (
                comment["id"]
                for comment in comments(f"{where}/{number}/comments")
                if comment["user"]["login"] == os.environ["AUTHOR"] and comment["body"].startswith(mark)
            ),
            None,
        )
        if own is None:
            ask("POST", f"{where}/{number}/comments", {"body": body})
        else:
            ask("PATCH", f"{where}/comments/{own}", {"body": body})
    except urllib.error.HTTPError as error:
        print(f"::warning::The comment was not written: GitHub answers {error.code}. {ADVICE}")
        return
    except urllib.error.URLError as error:
        print(f"::warning::The comment was not written: {error.reason}.")
        return
    print(f"The comment is {'created' if own is None else 'updated'}.")


def pull_request(event: Path) -> int | None:
    """The number of the pull request that the job is for; None where it is for none."""
    fields = json.loads(event.read_text(encoding="utf-8"))
    number = (fields.get("pull_request") or {}).get("number")
    return number if isinstance(number, int) else None


def marker(set_name: str, system: str) -> str:
    """What a comment begins with; a comment of another set or system has another."""
    plain = "".join(letter for letter in f"{set_name} {system}" if letter not in "<>-")
    return f"<!-- answer arena gate {plain} -->"


def comments(path: str) -> Iterator[dict[str, Any]]:
    """The comments of a pull request, oldest first."""
    for page in range(1, MOST_PAGES + 1):
        batch = ask("GET", f"{path}?per_page={PAGE}&page={page}")
        yield from batch
        if len(batch) < PAGE:
            return


def ask(method: str, path: str, body: dict[str, str] | None = None) -> Any:
    """What GitHub answers."""
    address = os.environ.get("GITHUB_API_URL", "https://api.github.com") + path
    request = urllib.request.Request(
        address, None if body is None else json.dumps(body).encode(), method=method
    )
    request.add_header("Accept", "application/vnd.github+json")
    request.add_header("Authorization", f"Bearer {os.environ['GITHUB_TOKEN']}")
    request.add_header("X-GitHub-Api-Version", "2022-11-28")
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
        return json.loads(response.read() or b"null")


if __name__ == "__main__":
    sys.exit(main())
