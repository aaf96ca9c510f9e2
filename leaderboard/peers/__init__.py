"""Other tools that rate battles: how they read a file, and why their boards differ."""
