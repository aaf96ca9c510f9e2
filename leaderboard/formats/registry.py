"""The shapes of battle records that the public arenas write, and how each becomes `BattleRows`, and back."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from data.errors import FileFormatError, InputError, NotFoundError, RecordError, SpecError
from data.plugins import Added, FileFormat, PluginKind, added, described
from leaderboard.formats import arenas, native, writers
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
from leaderboard.formats.sources import Chunk, Record, clashing, further

Parser = Callable[[Chunk, Context], Draft]
_VERDICT = ("question_id", "domain", "model_a", "model_b", "winner", "judge")


@dataclass(frozen=True, slots=True, kw_only=True)
class BattleFormat(FileFormat):
    """One format; its name is the word that `--from` takes.

    Attributes:
        signature: The columns without which a record cannot be of the format.
        read: In place of that, translates one record to a mapping with the columns of native battles.
        partly: What of its columns no battle holds, in words.
        write: Lays battles out; None where the format is read alone.
        holds: The columns that a written file holds; None for all, the file's own further ones too.
        taken: The names that a written file gives to columns of its own.
        one_tie: Whether all kinds of ties become one.
        from_name: What the name of a file says that its records do not.
    """

    signature: tuple[str, ...]
    parse: Parser | None = None
    read: Callable[[Record], Mapping[str, object]] | None = None
    optional: tuple[str, ...] = ()
    partly: tuple[str, ...] = ()
    write: writers.Writer | None = None
    holds: tuple[str, ...] | None = None
    taken: tuple[str, ...] = ()
    one_tie: bool = False
    guessed: bool = True
    from_name: Callable[[str], Context] | None = None
    note: str = ""

    def __post_init__(self) -> None:
        function: object = self.parse or self.read
        if not callable(function):
            raise SpecError(f"The format {self.name} needs a function for read.")

    @property
    def own(self) -> frozenset[str]:
        """The columns that it reads."""
        return frozenset({*self.signature, *self.optional})

    def drafted(self, chunk: Chunk, context: Context) -> Draft:
        """Translate a chunk of records."""
        if self.parse is not None:
            return self.parse(chunk, context)
        records = [self._translated(chunk, index) for index in range(len(chunk.records))]
        return native.parse(Chunk(place=chunk.place, records=records), context)

    def _translated(self, chunk: Chunk, index: int) -> Record:
        if self.read is None:
            raise SpecError(f"The format {self.name} reads nothing.")
        try:
            values: dict[str, object] = dict(self.read(chunk.records[index]))
            return {name: values[name] for name in NATIVE_COLUMNS if name in values}
        except (Exception, SystemExit) as error:  # others' code may raise anything
            message = f"{chunk.place.at(index)}: the plugin format {self.name} failed: {described(error)}."
            raise RecordError(message, advice="Correct the plugin.") from error


NATIVE = "native"
NATIVE_COLUMNS = ("model_a", "model_b", "winner", *COLUMNS, *native.COUNT_COLUMNS)
_NATIVE = BattleFormat(
    name=NATIVE,
    parse=native.parse,
    signature=("model_a", "model_b", "winner"),
    optional=(*COLUMNS, *native.COUNT_COLUMNS),
    write=writers.write_lines,
)
_EVAL = BattleFormat(
    name="rag-qa-arena-eval",
    parse=arenas.parse_eval_strict,
    signature=("query", "order", "pred"),
    optional=("domain", "judge"),
    partly=("pred (all but the rating)",),
    write=writers.write_eval_results,
    holds=(*_VERDICT, "order"),
    one_tie=True,
    from_name=arenas.context_of,
)
OWN = (
    _NATIVE,
    BattleFormat(
        name="lmsys-one-hot",
        parse=native.parse_one_hot,
        signature=("model_a", "model_b", *native.ONE_HOT),
        optional=(*(name for name in COLUMNS if name != "winner"), *native.COUNT_COLUMNS, "id"),
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
        write=writers.write_annotations,
        taken=writers.ANNOTATION,
        one_tie=True,
        note="the mean score is the win rate that AlpacaEval reports: the mean of preference - 1",
    ),
    BattleFormat(
        name="arena-hard",
        parse=arenas.parse_arena_hard,
        signature=("model", "games"),
        optional=("baseline", "uid", "question_id", "category", "judge"),
        partly=("games (all but the scores)",),
        write=writers.write_games,
        holds=(*_VERDICT, "order", "weight"),
        one_tie=True,
    ),
    _EVAL,
    BattleFormat(
        name="rag-qa-arena-people",
        parse=arenas.parse_people,
        signature=("pair", "majority"),
        optional=("raw",),
        partly=("raw",),
    ),
    replace(_NATIVE, name="chatbot-arena", write=writers.write_array, guessed=False),
    replace(_NATIVE, name="rag-qa-arena", write=writers.write_columns, guessed=False),
    replace(
        _EVAL,
        name="rag-qa-arena-eval-compat",
        parse=arenas.parse_eval_compat,
        signature=("query", "order"),
        optional=(*_EVAL.optional, "pred"),
        guessed=False,
    ),
)
"""The arena's own, in the order of detection."""


def added_battle_formats() -> Added[BattleFormat]:
    """Return the formats of plugins."""
    return added(PluginKind.FORMATS, BattleFormat, [one.name for one in OWN])


def battle_formats() -> tuple[BattleFormat, ...]:
    """Every format, those of plugins last."""
    return (*OWN, *added_battle_formats().entries)


def battle_format(name: str) -> BattleFormat:
    """Return a format by its name."""
    known = {one.name: one for one in OWN}
    if name in known:
        return known[name]
    known = {one.name: one for one in battle_formats()}
    if name not in known:
        advice = " ".join((f"Use one of: {', '.join(known)}.", *added_battle_formats().problems))
        raise NotFoundError(f"There is no format of battles {name!r}.", advice=advice)
    return known[name]


def listed_battle_formats() -> str:
    """Their names, for the help of an option."""
    return ", ".join(f"`{one.name}`" for one in battle_formats())


def guess(record: Record) -> str | None:
    """Name the format whose signature columns a record has, if any."""
    # Plugins are loaded only where no format of the arena's own fits.
    return next(
        (name for formats in (lambda: OWN, battle_formats) if (name := _fitting(formats(), record))), None
    )


def _fitting(formats: Iterable[BattleFormat], record: Record) -> str | None:
    fitting = (one for one in formats if one.guessed and all(name in record for name in one.signature))
    return next((one.name for one in fitting), None)


def parse(kind: str, chunk: Chunk, context: Context) -> Iterator[BattleRows]:
    """Check and translate a chunk of records, in parts around those that cannot be read.

    Those are left out and counted, unless the context is strict.
    """
    try:
        yield _parsed(kind, chunk, context)
    except (RecordError, FileFormatError) as error:
        if context.strict or (isinstance(error, FileFormatError) and error.code != MISSING_COLUMN):
            raise
        if len(chunk.records) == 1:
            yield _none(chunk, error)
            return
        half = len(chunk.records) // 2
        for start, stop in ((0, half), (half, len(chunk.records))):
            part = Chunk(place=chunk.place.part(start, stop), records=chunk.records[start:stop])
            yield from parse(kind, part, context)


def _none(chunk: Chunk, error: InputError) -> BattleRows:
    return BattleRows(
        place=chunk.place,
        model_a=[],
        model_b=[],
        winner=[],
        left_out={LeftOut.FAULTY: 1},
        first={LeftOut.FAULTY: error},
    )


def _parsed(kind: str, chunk: Chunk, context: Context) -> BattleRows:
    layout = battle_format(kind)
    _require(layout, chunk)
    draft = layout.drafted(chunk, context)
    if context.further:
        games = draft.rows.place.rows_a_record
        kept = {
            name: cells if games == 1 else [cell for cell in cells for _ in range(games)]
            for name, cells in further(chunk, layout.own).items()
        }
        unkept = (*layout.partly, *clashing(chunk, layout.own))
        draft = replace(draft, rows=replace(draft.rows, further=kept, unkept=unkept))
    return settled(draft, strict=context.strict)


def _require(layout: BattleFormat, chunk: Chunk) -> None:
    kind = layout.name
    for column in layout.signature:
        for index, record in enumerate(chunk.records):
            if column not in record:
                other = guess(record)
                hint = f" The row looks like {other}, not {kind}." if other and other != kind else ""
                missing(chunk.place, index, column, hint)
