"""Question sets as files: the folder format of the design and the LFRQA files as published."""

from data.files.question_sets.loader import LoadedSet, load_set
from data.files.question_sets.rows import content_hash, question_to_json, write_set

__all__ = ["LoadedSet", "content_hash", "load_set", "question_to_json", "write_set"]
