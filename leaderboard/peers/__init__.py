"""Other tools that rate battles: how they read a file, their ratings, and why these differ."""
