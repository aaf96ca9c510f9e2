"""Run the `arena` command with `python -m arena`."""

from arena.cli import main

main()
