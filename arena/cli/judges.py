"""`arena judges`: list, show, try, calibrate, cascade."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.options import AsJson, Cache, JudgeName, open_reaching
from arena.cli.output import note, show_fields, show_json, show_line, show_rows, show_table
from arena.container import open_arena
from data.errors import JudgeError
from data.records import JudgeKind, Outcome
from data.records.plain import to_json
from judges.cascades import CascadeConfidence
from judges.lexical.agreement import AGREEMENT

ADVICE = {
    Outcome.FAILED: "Check that the endpoint (OPENAI_BASE_URL, or the spec's) runs and serves the model.",
    Outcome.REFUSED: "The model or a filter declined; try another model or other texts.",
    Outcome.UNREADABLE: "The model does not keep to the reply format; see docs/judges.md for others.",
}

IN_TABLES = ("by_domain", "system_bias", "human_round", "human_round_unknown")

if TYPE_CHECKING:
    from arena.services.judging.calibration import JudgeCalibration

commands = typer.Typer(
    help="Judges: a model with its prompt and settings, or an embedded method.", no_args_is_help=True
)


@commands.command("list")
def list_(*, as_json: AsJson = False) -> None:
    """List the bundled judges and those of the judges folder."""
    from dataclasses import asdict

    judges = open_arena().judges.known()
    rows = [(line.name, line.kind, line.model, line.problem or line.description) for line in judges]
    headers = ("judge", "kind", "model", "description")
    show_rows([asdict(line) for line in judges], headers, rows, as_json=as_json)


@commands.command()
def show(
    name: Annotated[str, typer.Argument(metavar="JUDGE", help="Name of a judge, or the path of its spec.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Show a judge's settings, hash and prompt."""
    spec = open_arena().judges.spec(name)
    prompt = "" if spec.prompt is None else spec.prompt.text
    if as_json:
        agreement = {"agreement": AGREEMENT} if spec.kind is JudgeKind.LEXICAL else {}
        show_json(
            {"name": spec.name, "hash": spec.hash, **spec.canonical, "prompt_text": prompt, **agreement}
        )
        return
    fields = {key: _plain(value) for key, value in spec.canonical.items()}
    show_fields({"name": spec.name, "description": spec.description, "hash": spec.hash, **fields})
    if spec.kind is JudgeKind.LEXICAL:
        show_line("")
        show_line(AGREEMENT)
    if prompt:
        show_line("")
        show_line(prompt)


@commands.command("try")
def try_(
    judge: JudgeName,
    question: Annotated[
        str, typer.Option("--question", metavar="Q", help="A question's text, or `SET/ID` of a stored one.")
    ],
    a: Annotated[Path, typer.Option("--a", metavar="FILE", help="A text file with answer a.")],
    b: Annotated[Path, typer.Option("--b", metavar="FILE", help="A text file with answer b.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Let a judge decide one pair of answers.

    Nothing is stored. The exit code is 1 where the judge did not decide.
    """
    verdict = open_arena().judges.try_files(judge, question, a, b)
    fields = to_json(verdict, "judgments")
    if as_json:
        from dataclasses import asdict

        show_json({**fields, "judgments": [asdict(judgment) for judgment in verdict.judgments]})
    else:
        show_fields({name: _plain(value) for name, value in fields.items()})
        for judgment in verdict.judgments:
            show_line("")
            show_line(f"{judgment.judge}, order {judgment.presentation.value}: {judgment.outcome.value}")
            show_line(judgment.rationale)
    if verdict.outcome is not Outcome.JUDGED:
        raise JudgeError(
            f"The judge {judge} did not decide ({verdict.outcome}): {verdict.detail.rstrip('.')}.",
            advice=ADVICE.get(verdict.outcome, ""),
        )


@commands.command()
def calibrate(
    judge: Annotated[
        list[str],
        typer.Option(
            "--judge", metavar="JUDGE", help="Name of a judge, or the path of its spec; repeatable."
        ),
    ],
    labels: Annotated[Path, typer.Option("--labels", metavar="FILE", help="Human labels, JSONL.")],
    concurrency: Annotated[
        int, typer.Option("--concurrency", metavar="C", min=1, help="Most pairs in flight.")
    ] = 16,
    budget_usd: Annotated[
        float | None,
        typer.Option(
            "--budget-usd",
            metavar="X",
            min=0.0,
            help="The most that all judges together may spend; pairs beyond it have no verdict.",
        ),
    ] = None,
    cache_mode: Cache = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Compare judges with human labels.

    Prints agreement, ties, unreadable replies, position flips and biases; where the labels name systems, also
    what the judge gives each of them beyond people, and what a full round of people would say. Several judges
    make a table, best first by Pearson's correlation, with a column for each pair of systems.
    """
    reports = open_reaching(cache_mode).calibration.calibrate(
        judge, labels, concurrency=concurrency, budget_usd=budget_usd
    )
    if as_json:
        show_json(reports[0].to_json() if len(reports) == 1 else [report.to_json() for report in reports])
    elif len(reports) == 1:
        shown = {name: value for name, value in reports[0].to_json().items() if name not in IN_TABLES}
        show_fields({name: _plain(value) for name, value in shown.items()})
        _show_people(reports[0])
    else:
        show_table(*_judge_table(reports))


@commands.command()
def cascade(
    cheap: Annotated[str, typer.Option("--cheap", metavar="CHEAP", help="The judge that is asked first.")],
    expensive: Annotated[
        str, typer.Option("--expensive", metavar="EXPENSIVE", help="The judge of what it is unsure about.")
    ],
    from_rounds: Annotated[
        tuple[str, str] | None,
        typer.Option(
            "--from-rounds",
            metavar="A B",
            help="Set the threshold on battles that both judged: a round of CHEAP, and one of EXPENSIVE.",
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option("--labels", metavar="FILE", help="Set it on people's labels instead (CHEAP is asked)."),
    ] = None,
    level: Annotated[
        float, typer.Option("--level", metavar="SHARE", help="Agreement to promise where CHEAP decides.")
    ] = 0.9,
    certainty: Annotated[
        float, typer.Option("--certainty", metavar="SHARE", help="How sure the promise is to be.")
    ] = 0.95,
    confidence: Annotated[
        CascadeConfidence | None,
        typer.Option("--confidence", help="What says how sure CHEAP is; the first that it has."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="SPEC.toml", help="Write the cascade as a judge spec.")
    ] = None,
    concurrency: Annotated[
        int, typer.Option("--concurrency", metavar="C", min=1, help="With --labels: most pairs in flight.")
    ] = 16,
    budget_usd: Annotated[
        float | None,
        typer.Option("--budget-usd", metavar="X", min=0.0, help="With --labels: the most that may be spent."),
    ] = None,
    cache_mode: Cache = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Make a cascade of two judges: CHEAP decides where it is sure, EXPENSIVE the rest.

    The least confidence with which CHEAP decides is set so that it agrees with EXPENSIVE, or with people, at
    least as often as asked. Prints the agreement with its bound, and how much is expected to go on. The exit
    code is 1 where no threshold reaches the level and a file was to be written.
    """
    from arena.services.judging.cascades import CascadeRequest
    from judges.catalogue import require_new_spec

    if out is not None:
        require_new_spec(out)
    arena = open_reaching(cache_mode)
    setting = arena.cascades.set_threshold(
        CascadeRequest(
            cheap=cheap,
            expensive=expensive,
            level=level,
            certainty=certainty,
            confidence=confidence,
            rounds=from_rounds,
            labels=labels,
            concurrency=concurrency,
            budget_usd=budget_usd,
        )
    )
    if as_json:
        show_json(setting.as_json())
    else:
        show_fields(setting.as_json())
        show_line(str(setting.cascade))
    if out is not None:
        arena.cascades.write(setting, out)
        note(f"Written to {out}: use it as --judge {out}, or by its name in the judges folder.")


def _show_people(report: JudgeCalibration) -> None:
    """How far the judge is from people, system by system, and what people would say themselves."""
    from arena.cli.judge_tables import show_bias, show_human_round

    found = report.people
    if found.bias:
        show_line("")
        show_line("What the judge gives a system beyond people, in shares of the win, with 95 % intervals:")
        show_bias(found.bias)
    show_line("")
    if found.table is None:
        show_line(f"What a full human round would say is not known. {found.unknown}")
        return
    show_line("What a full human round on questions like these would say:")
    show_human_round(found.table)


def _judge_table(
    reports: Sequence[JudgeCalibration],
) -> tuple[Sequence[str], Sequence[Sequence[str | int | float | None]]]:
    """The judges as in the paper's Table 8 where the labels name systems, then what else is measured."""
    pairs = sorted({name for report in reports for name in report.by_pair})
    measures = ("pearson", "kappa", "accuracy", "decisive_accuracy", "tie_rate")
    headers = ("judge", *pairs, *measures, "unreadable", "flips", "length effect", "self-preference")
    rows: list[Sequence[str | int | float | None]] = []
    for report in reports:
        overall = report.calibration.overall
        estimates = overall.estimates()
        rows.append(
            (
                report.judge,
                *(report.by_pair[name].pearson.value if name in report.by_pair else None for name in pairs),
                *(estimates[name].value for name in measures),
                overall.unreadable,
                report.flips,
                report.length_effect.effect,
                report.self_preference.effect,
            )
        )
    column = 1 + len(pairs)
    return headers, sorted(rows, key=lambda row: -_known(row[column]))


def _known(value: str | float | None) -> float:
    return value if isinstance(value, int | float) else float("-inf")


def _plain(value: object) -> str | int | float | None:
    if value is None or isinstance(value, str | int | float):
        return value
    return json.dumps(value, ensure_ascii=False)
