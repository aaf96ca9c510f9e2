"""The shapes of battle records that the public arenas write, and how each becomes `BattleRows`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from types import MappingProxyType

from leaderboard.formats import alpaca_eval, arena_hard, native, rag_qa_arena
from leaderboard.formats.rows import BattleRows, Context, Draft, missing, settled
from leaderboard.formats.sources import Chunk, Record


class BattleFormat(StrEnum):
    """The battle files that can be read and written, by the word that `--from` takes."""

    NATIVE = "native"
    CHATBOT_ARENA = "chatbot-arena"
    RAG_QA_ARENA = "rag-qa-arena"
    RAG_QA_ARENA_EVAL = "rag-qa-arena-eval"
    RAG_QA_ARENA_EVAL_COMPAT = "rag-qa-arena-eval-compat"
    RAG_QA_ARENA_PEOPLE = "rag-qa-arena-people"
    ALPACA_EVAL = "alpaca-eval"
    ARENA_HARD = "arena-hard"


Parser = Callable[[Chunk, Context], Draft]

SIGNATURES: Mapping[BattleFormat, tuple[str, ...]] = MappingProxyType(
    {
        BattleFormat.NATIVE: ("model_a", "model_b", "winner"),
        BattleFormat.CHATBOT_ARENA: ("model_a", "model_b", "winner"),
        BattleFormat.RAG_QA_ARENA: ("model_a", "model_b", "winner"),
        BattleFormat.RAG_QA_ARENA_EVAL: ("query", "order", "pred"),
        BattleFormat.RAG_QA_ARENA_EVAL_COMPAT: ("query", "order"),
        BattleFormat.RAG_QA_ARENA_PEOPLE: ("pair", "majority"),
        BattleFormat.ALPACA_EVAL: ("generator_1", "generator_2", "preference"),
        BattleFormat.ARENA_HARD: ("model", "games"),
    }
)
"""The columns without which a record cannot be of a format."""

GUESSED = (
    BattleFormat.NATIVE,
    BattleFormat.ALPACA_EVAL,
    BattleFormat.ARENA_HARD,
    BattleFormat.RAG_QA_ARENA_EVAL,
    BattleFormat.RAG_QA_ARENA_PEOPLE,
)


def guess(record: Record) -> BattleFormat | None:
    """Name the format whose signature columns a record has, if any."""
    return next((kind for kind in GUESSED if all(name in record for name in SIGNATURES[kind])), None)


def parse(kind: BattleFormat, chunk: Chunk, context: Context) -> BattleRows:
    """Check and translate a chunk of records.

    Raises:
        FileFormatError: A column is missing; the message names row and column, and the format that
            the row looks like instead.
        RecordError: A value breaks a rule; the message names row and column.
    """
    _require(kind, chunk)
    return settled(_PARSERS[kind](chunk, context))


def _require(kind: BattleFormat, chunk: Chunk) -> None:
    for column in SIGNATURES[kind]:
        for index, record in enumerate(chunk.records):
            if column not in record:
                other = guess(record)
                hint = f" The row looks like {other}, not {kind}." if other and other != kind else ""
                missing(chunk.place, index, column, hint)


_PARSERS: Mapping[BattleFormat, Parser] = MappingProxyType(
    {
        BattleFormat.NATIVE: native.parse,
        BattleFormat.CHATBOT_ARENA: native.parse,
        BattleFormat.RAG_QA_ARENA: native.parse,
        BattleFormat.RAG_QA_ARENA_EVAL: rag_qa_arena.parse_strict,
        BattleFormat.RAG_QA_ARENA_EVAL_COMPAT: rag_qa_arena.parse_compat,
        BattleFormat.RAG_QA_ARENA_PEOPLE: rag_qa_arena.parse_people,
        BattleFormat.ALPACA_EVAL: alpaca_eval.parse,
        BattleFormat.ARENA_HARD: arena_hard.parse,
    }
)
