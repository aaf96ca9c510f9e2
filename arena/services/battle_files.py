"""Rates and ratings of battle files, without a store."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from data.errors import InputError, NotFoundError
from leaderboard import ratings
from leaderboard.agreement.comparison import RankingComparison, compare_rankings
from leaderboard.battles import BattleTable, in_common
from leaderboard.formats.reading import BattleFile, read_battles
from leaderboard.formats.registry import battle_format
from leaderboard.formats.rows import Context, LeftOut, covariate_columns
from leaderboard.people.correct import correct, correct_rates
from leaderboard.people.votes import read_votes
from leaderboard.rates import RateTable, win_rates
from leaderboard.ratings.models.covariates import FIRST
from leaderboard.vocabulary import Covariate

Cells = Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Options for reading a battle file: format and included rows (see `Context`)."""

    read_as: str | None = None
    strict: bool = False
    named: bool = False

    def of(
        self, path: Path, *, covariates: bool = False, cluster: ratings.Cluster = ratings.Cluster.NONE
    ) -> BattleFile:
        """Read the battles of a file; refuse ambiguous clusters."""
        voters = cluster is ratings.Cluster.VOTER
        context = Context(covariates=covariates, strict=self.strict, named=self.named, by_voter=voters)
        file = read_battles(path, self.read_as, context=context)
        if file.clusters and cluster is ratings.Cluster.QUESTION:
            message = (
                f"{path.name} has no question_id, but values repeat in {', '.join(map(repr, file.clusters))}."
            )
            raise InputError(message, advice=CLUSTER_ADVICE)
        return file


AS_IT_IS = Reading()
CLUSTER_ADVICE = (
    "Rename the question column to question_id, since intervals are too narrow without it; if the file has "
    "none, add --cluster none."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingRequest:
    """Options for rating a battle file; `anchors` are `SYSTEM=RATING`; `without` is a system to leave out.

    By default, `interval` depends on the number of systems, and `covariates` are all in the file.
    """

    method: ratings.Method = ratings.Method.BRADLEY_TERRY
    interval: ratings.IntervalKind | None = None
    bootstrap: int = 1000
    cluster: ratings.Cluster = ratings.Cluster.QUESTION
    anchors: tuple[str, ...] = ()
    seed: int = 0
    without: str | None = None
    covariates: tuple[Covariate, ...] | None = None

    @property
    def unit(self) -> ratings.Cluster:
        """Cluster in the table, where voters are stored as questions."""
        return ratings.Cluster.QUESTION if self.cluster is ratings.Cluster.VOTER else self.cluster


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRatings:
    """Ratings of a file, and notes on it; `controlled` adds the effects of covariates."""

    table: ratings.RatingTable
    notes: tuple[str, ...]
    cluster: ratings.Cluster
    controlled: ratings.ControlledRatings | None = None

    def as_json(self) -> dict[str, object]:
        """Return the object that `arena battles rate --json` prints."""
        controlled = {} if self.controlled is None else self.controlled.as_json()
        return self.table.as_json() | controlled | {"cluster": self.cluster.value}


def rate_file(path: Path, request: RatingRequest, *, reading: Reading = AS_IT_IS) -> FileRatings:
    """Rate the systems of a battle file."""
    if request.method is ratings.Method.STYLE:
        return _rate_controlled(path, request, reading)
    if request.covariates is not None:
        raise InputError(
            f"Ratings by {request.method.value} do not use covariates.", advice="Add --method style."
        )
    battle_file = reading.of(path, cluster=request.cluster)
    battles = battle_file.table
    if request.without is not None:
        battles = battles.select(without_system(battles, request.without))
    table = ratings.rate(
        battles,
        method=request.method,
        interval=request.interval,
        bootstrap=request.bootstrap,
        cluster=request.unit,
        anchor=parse_anchors(request.anchors),
        seed=request.seed,
    )
    rated = tuple(rating for rating in table.ratings if rating.system != request.without)
    notes = (*notes_on(battle_file), *table.notes)
    return FileRatings(table=replace(table, ratings=rated), notes=notes, cluster=request.cluster)


def _rate_controlled(path: Path, request: RatingRequest, reading: Reading) -> FileRatings:
    battle_file = reading.of(path, covariates=True, cluster=request.cluster)
    cells = _chosen_cells(path.name, battle_file.covariates, request.covariates)
    known = np.asarray(~np.isnan(np.stack(list(cells.values()))).any(axis=0))
    rows = known
    if request.without is not None:
        rows = np.asarray(known & without_system(battle_file.table, request.without))
    if not rows.any():
        raise InputError(
            f"No battle of {path.name} has a value in each of {', '.join(cells)}.",
            advice="Fill the columns, or choose others with --covariates.",
        )
    columns, constant = _covariate_terms({name: values[rows] for name, values in cells.items()})
    if not columns:
        raise InputError(constant[0].reason, advice="Leave it out.")
    settings = ratings.Settings(
        cluster=request.unit, anchor=parse_anchors(request.anchors), seed=request.seed
    )
    controlled = ratings.rate_under_control(battle_file.table.select(rows), columns, settings)
    controlled = replace(controlled, left_out=(*constant, *controlled.left_out))
    rated = tuple(rating for rating in controlled.ratings.ratings if rating.system != request.without)
    notes = notes_on(battle_file)
    if unknown := int((~known).sum()):
        notes = (*notes, f"left out: {unknown:,} battles (an empty cell among {', '.join(cells)})")
    return FileRatings(
        table=replace(controlled.ratings, ratings=rated),
        notes=notes,
        cluster=request.cluster,
        controlled=controlled,
    )


def _chosen_cells(file: str, cells: Cells, requested: Sequence[Covariate] | None) -> Cells:
    chosen = requested or [c for c in Covariate if any(name in cells for name in covariate_columns(c))]
    if not chosen:
        names = ", ".join(name for covariate in Covariate for name in covariate_columns(covariate))
        raise InputError(f"{file} has no column for style control.", advice=f"Add at least one of {names}.")
    for covariate in chosen:
        for name in covariate_columns(covariate):
            if name not in cells:
                message = f"{file} has no column {name}, which is needed to control for {covariate.value}."
                raise InputError(message, advice="Add it, or choose other --covariates.")
    return {name: cells[name] for covariate in chosen for name in covariate_columns(covariate)}


def _covariate_terms(
    cells: Cells,
) -> tuple[tuple[ratings.CovariateColumn, ...], tuple[ratings.LeftOutCovariate, ...]]:
    """Return the terms of a fit, and counts that are equal in every battle."""
    counts = {}
    for covariate in Covariate:
        first, *second = covariate_columns(covariate)
        if second and first in cells:
            counts[covariate.value] = cells[first], cells[second[0]]
    columns, constant = ratings.relative_columns(counts, len(next(iter(cells.values()))))
    if Covariate.POSITION in cells:
        columns = (*columns, ratings.marked_column(Covariate.POSITION, cells[Covariate.POSITION], FIRST))
    return columns, constant


def without_system(table: BattleTable, system: str) -> NDArray[np.bool_]:
    """(rows,) mask of battles without a system."""
    _require_system(table, system)
    code = table.systems.index(system)
    return np.asarray((table.a != code) & (table.b != code))


def _require_system(table: BattleTable, system: str) -> None:
    if system not in table.systems:
        raise NotFoundError(
            f"No battle involves the system {system!r}.",
            advice=f"Systems of this file: {', '.join(table.systems)}.",
        )


def winrates_of_file(
    path: Path, *, reference: str | None, by_domain: bool, reading: Reading = AS_IT_IS
) -> tuple[RateTable, tuple[str, ...]]:
    """Compute win and win+tie rates of a battle file."""
    battle_file = reading.of(path)
    rates = win_rates(
        battle_file.table, reference=reference, by_domain=by_domain, clustered=battle_file.questions_named
    )
    notes = notes_on(battle_file)
    of_format = battle_format(battle_file.format).note
    return rates, (*notes, of_format) if of_format else notes


def correct_file(
    path: Path, votes: Path, request: RatingRequest, *, reading: Reading = AS_IT_IS
) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """Rate the systems of a file corrected by votes; return the JSON and notes on the file."""
    conflicts = {
        f"--method {request.method.value}": request.method is not ratings.Method.BRADLEY_TERRY,
        f"--cluster {request.cluster.value}": request.cluster is not ratings.Cluster.QUESTION,
        "--without": request.without is not None,
        "--covariates": request.covariates is not None,
    }
    for option, used in conflicts.items():
        if used:
            raise InputError(
                f"--people cannot be combined with {option}.",
                advice="It corrects Bradley-Terry ratings of all systems, with intervals by questions.",
            )
    plan = _plan(path, reading)
    table = correct(plan.table, read_votes(votes), anchor=parse_anchors(request.anchors))
    notes = notes_on(plan)
    if request.interval is ratings.IntervalKind.BOOTSTRAP:
        notes = (*notes, "with --people intervals are sandwich intervals by questions, not a bootstrap's")
    return {**table, "seed": request.seed}, notes


def corrected_rates_of_file(
    path: Path, votes: Path, *, reference: str | None, by_domain: bool, reading: Reading = AS_IT_IS
) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """Compute win rates corrected by votes; errors are those of `correct_file`."""
    plan = _plan(path, reading)
    rates = correct_rates(plan.table, read_votes(votes), reference=reference, by_domain=by_domain)
    return rates, notes_on(plan)


def _plan(path: Path, reading: Reading) -> BattleFile:
    plan = reading.of(path)
    if not plan.questions_named:
        raise InputError(
            f"{path.name} has no question_id to match votes with verdicts.",
            advice="Give every row a question_id.",
        )
    return plan


def compare_rankings_of_files(
    paths: Sequence[Path], *, seed: int, reading: Reading = AS_IT_IS
) -> tuple[RankingComparison, tuple[str, ...]]:
    """Compare the rankings of common systems in verdict files, with notes on the files."""
    if not paths[1:]:
        raise InputError("A comparison needs at least two files.", advice="Add another file.")
    files = [reading.of(path) for path in paths]
    tables = [file.table for file in files]
    if all(file.questions_named for file in files):
        tables = list(in_common({str(at): table for at, table in enumerate(tables)}).values())
        if not len(tables[0]):
            raise InputError("No battle is in all of the files.", advice="Use the same battles.")
    notes = [
        f"{path.name}: {line}" for path, file in zip(paths, files, strict=True) for line in notes_on(file)
    ]
    return compare_rankings(tables, seed=seed), tuple(notes)


def parse_anchors(texts: Sequence[str]) -> ratings.Anchor | None:
    """Parse anchors `SYSTEM=RATING`."""
    anchors = [_anchor(text) for text in texts]
    return replace(anchors[0], additional=tuple(anchors[1:])) if anchors else None


def _anchor(text: str) -> ratings.Anchor:
    system, separator, rating = text.rpartition("=")
    try:
        if separator and system:
            return ratings.Anchor(system=system, rating=float(rating))
    except ValueError as error:
        raise InputError(f"{rating!r} is not a rating.", advice="Write --anchor SYSTEM=RATING.") from error
    raise InputError(f"{text!r} is not an anchor.", advice="Write --anchor SYSTEM=RATING.")


def notes_on(battle_file: BattleFile) -> tuple[str, ...]:
    """Return notes on the numbers from a battle file."""
    notes = left_out_notes(battle_file.left_out, battle_file.first)
    if not battle_file.questions_named:
        notes.append("the file has no column question_id, so every battle counts as a separate question")
        if battle_file.clusters:
            notes.append(
                f"values repeat in {', '.join(map(repr, battle_file.clusters))}: is this a question id?"
            )
    return tuple(notes)


def left_out_notes(left_out: Mapping[LeftOut, int], first: Mapping[LeftOut, InputError]) -> list[str]:
    """Describe excluded rows by reason, with the first invalid record of each kind."""
    notes = []
    for reason, count in left_out.items():
        records = "1 record" if count == 1 else f"{count:,} records"
        example = f"; {'it' if count == 1 else 'the first'} is {first[reason]}" if reason in first else ""
        hint = "; --named-votes counts them" if reason is LeftOut.NAMED else ""
        notes.append(f"left out: {records} ({reason}{hint}){example}")
    return notes
