"""The command line: `arena NOUN VERB`."""

from __future__ import annotations


def main() -> None:
    """Run the command line."""
