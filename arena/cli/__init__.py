"""The command line: `arena NOUN VERB`. Commands read input, call one service and show the result."""

import sys


def main() -> None:
    """Run the command line; exit codes: 0 success, 1 ArenaError, 2 usage error."""
    from arena.cli.commands import command
    from data.errors import ArenaError

    try:
        command()()
    except ArenaError as error:
        from arena.cli.output import show_error

        show_error(error)
        sys.exit(1)
    except BrokenPipeError:
        # The reader closed the pipe, as `head` does.
        sys.stderr.close()
        sys.exit(0)
