"""The page that creates a board from uploaded files."""
