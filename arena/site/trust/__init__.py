"""Trust in a board's judge: parts of pages."""
