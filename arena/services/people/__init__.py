"""People's votes on battles: where they come from, and what they correct."""
