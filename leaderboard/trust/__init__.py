"""How far a judge can be trusted: its own error, what a place depends on, and cycles."""
