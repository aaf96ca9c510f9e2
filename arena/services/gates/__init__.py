"""Gates: a new version of a system is held against an old one before it is submitted."""
