"""Registry of battle formats: parsers from records to `BattleRows`, and writers."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from data.errors import FileFormatError, NotFoundError, RecordError, SpecError
from data.plugins import FileFormat, PluginEntries, PluginKind, describe_error, plugin_entries
from leaderboard.formats import arenas
from leaderboard.formats.rows import (
    COLUMNS,
    MISSING_COLUMN,
    BattleRows,
    Context,
    Draft,
    LeftOut,
    missing,
    settled,
)
from leaderboard.formats.sources import Chunk, Record, further

Parser = Callable[[Chunk, Context], Draft]
_VERDICT = ("question_id", "domain", "model_a", "model_b", "winner", "judge")


@dataclass(frozen=True, slots=True, kw_only=True)
class BattleFormat(FileFormat):
    """Battle format; its name is a value of `--from`.

    Attributes:
        signature: Columns that every record of the format has.
        parse: Translates a chunk of records.
        read: Alternative to `parse`: translates one record to the columns of native battles.
        dropped: Descriptions of columns that are not read completely.
        write: Writer; None for a read-only format.
        writable: Columns of a written file; None for all, including unknown columns.
        one_tie: Whether all kinds of ties become one.
        detectable: Whether the format may be detected by its signature.
        from_name: Reads facts from the name of a file.
    """

    signature: tuple[str, ...]
    parse: Parser | None = None
    read: Callable[[Record], Mapping[str, object]] | None = None
    optional: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    write: arenas.Writer | None = None
    writable: tuple[str, ...] | None = None
    reserved: tuple[str, ...] = ()
    one_tie: bool = False
    detectable: bool = True
    from_name: Callable[[str], Context] | None = None
    note: str = ""

    def __post_init__(self) -> None:
        function: object = self.parse or self.read
        if not callable(function):
            raise SpecError(f"The format {self.name} needs a function `read`.")

    @property
    def own(self) -> frozenset[str]:
        """Columns that it reads."""
        return frozenset({*self.signature, *self.optional})

    def drafted(self, chunk: Chunk, context: Context) -> Draft:
        """Translate a chunk of records."""
        if self.parse is not None:
            return self.parse(chunk, context)
        records = [self._translated(chunk, index) for index in range(len(chunk.records))]
        return arenas.parse_native(Chunk(place=chunk.place, records=records), context)

    def _translated(self, chunk: Chunk, index: int) -> Record:
        if self.read is None:
            raise SpecError(f"The format {self.name} has no function `read`.")
        try:
            values: dict[str, object] = dict(self.read(chunk.records[index]))
            return {name: values[name] for name in NATIVE_COLUMNS if name in values}
        except (Exception, SystemExit) as error:  # plugins may raise anything
            message = (
                f"{chunk.place.at(index)}: the plugin format {self.name} failed: {describe_error(error)}."
            )
            raise RecordError(message, advice="Fix the plugin.") from error


NATIVE = "native"
NATIVE_COLUMNS = ("model_a", "model_b", "winner", *COLUMNS, *arenas.COUNT_COLUMNS)
_NATIVE = BattleFormat(
    name=NATIVE,
    parse=arenas.parse_native,
    signature=("model_a", "model_b", "winner"),
    optional=(*COLUMNS, *arenas.COUNT_COLUMNS),
    write=arenas.as_lines(arenas.records),
)
_EVAL = BattleFormat(
    name="rag-qa-arena-eval",
    parse=arenas.parse_eval,
    signature=("query", "order", "pred"),
    optional=("domain", "judge"),
    dropped=("pred (all but the rating)",),
    write=arenas.as_array(arenas.eval_records),
    writable=(*_VERDICT, "order"),
    one_tie=True,
    from_name=arenas.context_of,
)
OWN = (
    _NATIVE,
    BattleFormat(
        name="lmsys-one-hot",
        parse=arenas.parse_one_hot,
        signature=("model_a", "model_b", *arenas.ONE_HOT),
        optional=(*(name for name in COLUMNS if name != "winner"), *arenas.COUNT_COLUMNS, "id"),
    ),
    BattleFormat(
        name="mt-bench",
        parse=arenas.parse_mt_bench,
        signature=("model_1", "model_2", *arenas.GAME_WINNERS),
        optional=("question_id", "domain", "judge"),
    ),
    BattleFormat(
        name="alpaca-eval",
        parse=arenas.parse_alpaca_eval,
        signature=("generator_1", "generator_2", "preference"),
        optional=("instruction", "dataset", "annotator", "order"),
        write=arenas.as_array(arenas.annotations),
        reserved=arenas.ANNOTATION,
        one_tie=True,
        note="the mean score is the win rate that AlpacaEval reports: the mean of preference - 1",
    ),
    BattleFormat(
        name="arena-hard",
        parse=arenas.parse_arena_hard,
        signature=("model", "games"),
        optional=("baseline", "uid", "question_id", "category", "judge"),
        dropped=("games (all but the scores)",),
        write=arenas.write_games,
        writable=(*_VERDICT, "order", "weight"),
        one_tie=True,
    ),
    _EVAL,
    BattleFormat(
        name="rag-qa-arena-people",
        parse=arenas.parse_people,
        signature=("pair", "majority"),
        optional=("raw",),
        dropped=("raw",),
    ),
    replace(_NATIVE, name="chatbot-arena", write=arenas.as_array(arenas.records), detectable=False),
    replace(_NATIVE, name="rag-qa-arena", write=arenas.write_columns, detectable=False),
    replace(
        _EVAL,
        name="rag-qa-arena-eval-compat",
        parse=partial(arenas.parse_eval, read=arenas.published_rating),
        signature=("query", "order"),
        optional=(*_EVAL.optional, "pred"),
        detectable=False,
    ),
)
"""Built-in formats in the order of detection."""


def added_battle_formats() -> PluginEntries[BattleFormat]:
    """Return the formats of plugins."""
    return plugin_entries(PluginKind.FORMATS, BattleFormat, [layout.name for layout in OWN])


def battle_formats() -> tuple[BattleFormat, ...]:
    """Return all formats, plugins last."""
    return (*OWN, *added_battle_formats().entries)


def battle_format(name: str) -> BattleFormat:
    """Return a format by name."""
    known = {layout.name: layout for layout in OWN}
    if name not in known:
        known = {layout.name: layout for layout in battle_formats()}
    if name not in known:
        advice = " ".join((f"Use one of: {', '.join(known)}.", *added_battle_formats().problems))
        raise NotFoundError(f"Unknown battle format {name!r}.", advice=advice)
    return known[name]


def listed_battle_formats() -> str:
    """Return the names of all formats, for the help of options."""
    return ", ".join(f"`{layout.name}`" for layout in battle_formats())


def detect_format(record: Record) -> str | None:
    """Detect the format of a record by its columns."""
    # Plugins load only if no built-in format matches.
    formats = (layout for known in (lambda: OWN, battle_formats) for layout in known())
    matches = (
        layout.name for layout in formats if layout.detectable and record.keys() >= {*layout.signature}
    )
    return next(matches, None)


def parse(kind: str, chunk: Chunk, context: Context) -> Iterator[BattleRows]:
    """Check and translate a chunk of records; faulty ones are left out and counted unless strict."""
    try:
        yield _parsed(kind, chunk, context)
    except (RecordError, FileFormatError) as error:
        if context.strict or (isinstance(error, FileFormatError) and error.code != MISSING_COLUMN):
            raise
        if len(chunk.records) == 1:
            empty = BattleRows(place=chunk.place, model_a=[], model_b=[], winner=[])
            yield replace(empty, left_out={LeftOut.FAULTY: 1}, first={LeftOut.FAULTY: error})
            return
        half = len(chunk.records) // 2
        for start, stop in ((0, half), (half, len(chunk.records))):
            part = Chunk(place=chunk.place.part(start, stop), records=chunk.records[start:stop])
            yield from parse(kind, part, context)


def _parsed(kind: str, chunk: Chunk, context: Context) -> BattleRows:
    layout = battle_format(kind)
    _require(layout, chunk)
    draft = layout.drafted(chunk, context)
    if context.further:
        games = draft.rows.place.rows_a_record
        columns, clashing = further(chunk, layout.own)
        columns = {name: [cell for cell in cells for _ in range(games)] for name, cells in columns.items()}
        dropped = (*layout.dropped, *clashing)
        draft = replace(draft, rows=replace(draft.rows, further=columns, dropped=dropped))
    return settled(draft, strict=context.strict)


def _require(layout: BattleFormat, chunk: Chunk) -> None:
    kind = layout.name
    for column in layout.signature:
        for index, record in enumerate(chunk.records):
            if column not in record:
                other = detect_format(record)
                hint = f" The row looks like {other}, not {kind}." if other and other != kind else ""
                missing(chunk.place, index, column, hint)
