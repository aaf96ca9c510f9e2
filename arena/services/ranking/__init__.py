"""From anybody's files of answers to a board, in one step; again it goes on where it stopped."""
