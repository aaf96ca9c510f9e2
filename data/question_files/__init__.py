"""Question sets as files: the folder format of the design and the LFRQA files as published."""

from data.question_files.export import write_set
from data.question_files.load import LoadedSet, load_set
from data.question_files.records import content_hash, question_to_json

__all__ = ["LoadedSet", "content_hash", "load_set", "question_to_json", "write_set"]
