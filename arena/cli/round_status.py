"""`arena rounds status`, `list` and `compare`: list rounds, show one, compare several."""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.options import AsJson
from arena.cli.output import note, show_fields, show_json, show_line, show_rows, show_table
from arena.container import Arena, open_arena
from data.models import BattleEvidence, Outcome, Presentation, Question, Round
from data.models.conduct import JudgeConduct
from data.text import counted

if TYPE_CHECKING:
    from arena.services.jobs.service import JobStatus


COUNTS = (
    *("planned", "judged", "unreadable", "refused", "failed", "skipped", "missing", "pending"),
    *("cost_usd", "reserved_usd", "lost_usd", "input_tokens", "output_tokens"),
)
MAX_REASONS = 5


def status(
    name: Annotated[
        str, typer.Argument(metavar="ROUND", show_default="all rounds, newest first", help="A round by name.")
    ] = "",
    replies: Annotated[
        int, typer.Option(metavar="N", min=0, help="Show the raw replies of N battles instead.")
    ] = 0,
    *,
    unreadable: Annotated[
        bool, typer.Option("--unreadable", help="With --replies: only replies without a readable verdict.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the rounds, or show one with its state, counts and cost.

    $ arena rounds status demo

    The state includes the speed, the time left, the job (place in the queue, workers, last error) and the
    standings so far.
    """
    if name and replies:
        show_replies(name, replies, unreadable=unreadable, as_json=as_json)
    elif name:
        show_status(open_arena(), name, as_json=as_json)
    else:
        list_(as_json=as_json)


def compare(
    names: Annotated[list[str], typer.Argument(metavar="ROUND ROUND…", help="Rounds of one question set.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Compare how rounds rank the systems on the battles that all of them decided.

    $ arena rounds compare spring autumn

    Kendall's tau-b is 1 for equal rankings and −1 for reversed ones; for more than two rounds it is the mean
    over all pairs. No judge is called.
    """
    from arena.cli.battles import show_ranking_comparison

    comparison, notes = open_arena().rounds.compare(names)
    note(*notes)
    show_ranking_comparison(comparison, names, as_json=as_json)


def list_(*, as_json: AsJson = False) -> None:
    """List the rounds, newest first.

    $ arena rounds list
    """
    rounds = open_arena().round_reader.rounds()
    show_rows(
        [_round_fields(round_) for round_ in rounds],
        ("round", "set", "judge", "state", "pairs"),
        [
            (round_.name, round_.set_name, round_.judge_name, round_.state, round_.plan["pairs"])
            for round_ in rounds
        ],
        as_json=as_json,
        empty="There are no rounds yet. Start one with `arena rounds run`.",
    )


def _round_fields(round_: Round) -> dict[str, Any]:
    return {
        "name": round_.name,
        "set": round_.set_name,
        "judge": round_.judge_name,
        "state": round_.state.value,
        "plan": dict(round_.plan),
        "seed": round_.seed,
        "budget_usd": round_.budget_usd,
        "created_at": round_.created_at.isoformat(),
    }


def show_status(arena: Arena, name: str, *, as_json: bool) -> None:
    """Show a round's state, counts and cost."""
    reader = arena.round_reader
    round_, counts = reader.status(name)
    fields = {
        "name": round_.name,
        "state": round_.state.value,
        **{name: getattr(counts, name) for name in COUNTS},
        "without_judge": round_.plan.get("without_judge", 0),
    }
    job = arena.jobs.of_round(round_.id)
    rate = 0.0 if job is None else job.rate
    left = None if job is None else job.seconds_left
    if left is None and rate:
        left = counts.pending / rate
    speed = {"rate": rate, "seconds_left": left, "waiting": "" if job is None else job.waiting}
    conduct, warnings = reader.conduct(name), reader.warnings(name)
    live, reasons = reader.live(name), reader.reasons(name)
    if as_json:
        details = {
            "conduct": {**conduct.as_json(), "warnings": list(warnings)} if conduct.readings else None,
            "reasons": [
                {"outcome": outcome, "reason": why, "battles": count} for outcome, why, count in reasons
            ],
            "job": None if job is None else job.as_json(),
        }
        show_json({**fields, **speed, **details, "live": live.as_json()})
    else:
        show_fields({**fields, **speed, "job": _job_line(job)})
        show_line("", live.sentence)
        columns = ("system", "score", "lower", "upper", "questions")
        show_table(columns, [tuple(getattr(row, column) for column in columns) for row in live.systems])
        show_line(*_reason_lines(reasons), *_conduct_lines(conduct, warnings, name))


def _reason_lines(reasons: Sequence[tuple[Outcome, str, int]]) -> list[str]:
    lines = [f"{outcome}: {count:,} × {why or 'without a reason'}" for outcome, why, count in reasons]
    if more := len(lines[MAX_REASONS:]):
        lines[MAX_REASONS:] = [f"{counted(more, 'more reason')}: --json lists all"]
    return ["", *lines] if lines else []


def _conduct_lines(conduct: JudgeConduct, warnings: Sequence[str], name: str) -> list[str]:
    lines = []
    if conduct.both_orders:
        flips = f"{conduct.flips:,} of {conduct.both_orders:,} battles changed with the order of answers"
        lines.append(f"position: {flips}. {conduct.place}")
    lines += [f"warning: {sentence}" for sentence in warnings]
    if conduct.unreadable:
        lines.append(f"See the replies: arena rounds status {name} --replies 20 --unreadable")
    return ["", *lines] if lines else []


def show_replies(name: str, limit: int, *, unreadable: bool, as_json: bool) -> None:
    """Show the stored raw replies of a round's judge, earlier attempts included."""
    battles = islice(open_arena().round_reader.replies(name, unreadable=unreadable), limit)
    if as_json:
        show_json([_as_replies(evidence, question) for evidence, question in battles])
        return
    empty = True
    for evidence, question in battles:
        empty = False
        battle = evidence.battle
        show_line(f"# {battle.system_a} – {battle.system_b}, {question.id}: {question.question}")
        for judgment in evidence.judgments:
            first = battle.system_a if judgment.presentation is Presentation.A_FIRST else battle.system_b
            verdict = judgment.preference or judgment.outcome
            why = f" ({judgment.detail})" if judgment.detail else ""
            show_line(f"## {judgment.judge}, {first} first: {verdict}{why}")
            for reply in (*judgment.earlier, judgment.reply):
                if reply is not None:
                    show_line(f"[{reply.finish_reason or 'no finish reason'}]", reply.text)
        show_line("")
    if empty:
        note("There are no such replies.")


def _as_replies(evidence: BattleEvidence, question: Question) -> dict[str, Any]:
    battle = evidence.battle
    return {
        "battle": battle.key,
        "question_id": question.id,
        "question": question.question,
        "system_a": battle.system_a,
        "system_b": battle.system_b,
        "outcome": battle.outcome,
        "judgments": [
            {
                "judge": judgment.judge,
                "presentation": judgment.presentation.value,
                "outcome": judgment.outcome.value,
                "preference": judgment.preference,
                "detail": judgment.detail,
                "replies": [
                    {"text": reply.text, "finish_reason": reply.finish_reason}
                    for reply in (*judgment.earlier, judgment.reply)
                    if reply is not None
                ],
            }
            for judgment in evidence.judgments
        ],
    }


def undecidable_lines(reasons: Mapping[str, int], planned: int) -> list[str]:
    """Describe the planned battles that the judge cannot decide, one line per reason."""
    return [
        f"cannot be decided: {count:,} of {planned:,} battles, since {why}" for why, count in reasons.items()
    ]


def _job_line(status: "JobStatus | None") -> str | None:
    if status is None:
        return None
    job = status.job
    alive = [lease.worker.name for lease in status.alive]
    parts = [
        f"{job.id}, {job.state}",
        "" if status.position is None else f"place {status.position} in the queue",
        f"by {', '.join(alive)}" if alive else "",
        job.error,
    ]
    return "; ".join(part for part in parts if part)
