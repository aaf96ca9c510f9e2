"""Teams, accounts and tokens."""
