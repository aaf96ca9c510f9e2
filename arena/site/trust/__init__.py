"""How far a board's judge can be trusted: the parts of pages that say it."""
