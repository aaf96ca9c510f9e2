"""What `arena battles` shows of a file of verdicts that votes of people correct."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.options import whole_if_named
from arena.cli.output import note, show_json, show_line, show_table
from data.errors import InputError
from leaderboard.vocabulary import IntervalKind, VoteRule

if TYPE_CHECKING:
    from arena.services.battle_file_reports import PeopleRequest
    from arena.services.battle_files import RatingRequest, Reading
    from leaderboard.people import CorrectedRateTable, CorrectedTable
    from leaderboard.people.result import Estimated, Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleOptions:
    """The options of corrections by people."""

    people: Annotated[
        Path | None,
        typer.Option(
            "--people",
            metavar="VOTES",
            help="Votes of people (question_id, model_a, model_b, winner or score; annotator, "
            "sampling_prob) on some battles: say what people would say of all.",
            callback=whole_if_named,
        ),
    ] = None
    vote_rule: Annotated[
        VoteRule | None,
        typer.Option(
            "--vote-rule", help="With --people: several votes on a battle count as mean share or majority."
        ),
    ] = None
    width: Annotated[
        float | None,
        typer.Option(
            "--width", help="With --people: width of an interval; the advice says how many labels it needs."
        ),
    ] = None

    def request(self) -> PeopleRequest | None:
        """The votes asked for; None where there are none.

        Raises:
            InputError: An option that needs votes came without them.
        """
        from arena.services.battle_file_reports import PeopleRequest

        if self.people is not None:
            return PeopleRequest(votes=self.people, rule=self.vote_rule or VoteRule.MEAN, width=self.width)
        for name, value in (("--vote-rule", self.vote_rule), ("--width", self.width)):
            if value is not None:
                raise InputError(
                    f"{name} says how votes count, and there are none.", advice="Add --people VOTES."
                )
        return None


def show_corrected(
    file: Path, people: PeopleRequest, request: RatingRequest, reading: Reading, *, as_json: bool
) -> None:
    """Print ratings as people would give them."""
    from arena.services.battle_file_reports import correct_file

    table, notes = correct_file(file, people, request, reading=reading)
    for line in notes:
        note(line)
    if as_json:
        show_json(table.as_json())
        return
    headers = ("rank", "system", "people would say", "votes alone", "judge", "labelled", "flags")
    show_table(headers, _rating_rows(table))
    _show_evidence(table.evidence, table.advice)


def show_corrected_rates(
    file: Path,
    people: PeopleRequest,
    *,
    reference: str | None,
    by_domain: bool,
    resampling: tuple[IntervalKind, int, int],
    reading: Reading,
    as_json: bool,
) -> None:
    """Print win rates as people would give them; `resampling` is kind of interval, resamples and seed."""
    from arena.services.battle_file_reports import corrected_rates_of_file

    interval, bootstrap, seed = resampling
    table, notes = corrected_rates_of_file(
        file,
        people,
        reference=reference,
        by_domain=by_domain,
        interval=interval,
        bootstrap=bootstrap,
        seed=seed,
        reading=reading,
    )
    for line in notes:
        note(line)
    if as_json:
        show_json(table.as_json())
        return
    headers = ("system", "domain", "labelled", "mean share", "votes alone", "judge", "win", "win+tie")
    show_table(headers, _rate_rows(table))
    _show_evidence(table.evidence, table.advice)


def _rating_rows(table: CorrectedTable) -> list[tuple[str | int | None, ...]]:
    return [
        (
            f"{row.rank_lower}–{row.rank_upper}",
            row.system,
            _shown(row.corrected, 0),
            _shown(row.people, 0),
            _shown(row.judge, 0),
            row.labelled_battles,
            ", ".join(flag.value for flag in row.flags),
        )
        for row in table.ratings
    ]


def _rate_rows(table: CorrectedRateTable) -> list[tuple[str | int | None, ...]]:
    return [
        (
            row.system,
            row.domain,
            row.labelled_battles,
            _shown(row.mean_score.corrected, 3),
            _shown(row.mean_score.people, 3),
            _shown(row.mean_score.judge, 3),
            _shown(row.win_rate.corrected, 3),
            _shown(row.win_tie_rate.corrected, 3),
        )
        for row in table.rows
    ]


def _shown(value: Estimated, digits: int) -> str | None:
    if value.value is None:
        return None
    if value.lower is None or value.upper is None:
        return f"{value.value:.{digits}f}"
    return f"{value.value:.{digits}f} ({value.lower:.{digits}f}–{value.upper:.{digits}f})"


def _show_evidence(evidence: Evidence, advice: str) -> None:
    if evidence.repeated_votes:
        note(f"{evidence.repeated_votes:,} votes repeat a person's vote on one battle; all of them count")
    people = "" if evidence.annotators is None else f" of {evidence.annotators:,} people"
    show_line(
        f"{evidence.votes:,} votes{people} on {evidence.labelled_battles:,} of {evidence.battles:,} battles."
    )
    show_line(advice)
