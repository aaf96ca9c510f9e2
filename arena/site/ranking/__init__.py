"""The page that makes a board of dropped files."""
