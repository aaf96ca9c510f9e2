"""Read and write battle files of the project and of the public arenas."""

from leaderboard.formats.reading import BattleFile, format_of, read_battles
from leaderboard.formats.registry import BattleFormat
from leaderboard.formats.writing import Written, convert

__all__ = ["BattleFile", "BattleFormat", "Written", "convert", "format_of", "read_battles"]
