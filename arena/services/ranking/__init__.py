"""From files of answers to a board, in one step; a second run continues."""
