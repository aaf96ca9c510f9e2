"""Other tools that rate battles: their reading of a file, their ratings, and reasons for differences."""
