"""The page where people write references, and where organisers audit them."""
