"""Run the `arena` command by `python -m arena`."""

from arena.cli import main

main()
