"""Teams, accounts, tokens and the audit log."""
