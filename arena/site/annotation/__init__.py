"""The page where people label."""
