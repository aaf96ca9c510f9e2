"""How many of a question's nuggets an answer states."""
