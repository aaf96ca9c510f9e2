"""`arena judges`: list, show, price, try, calibrate."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.options import AsJson, Budget, Cache, open_with_cache, whole_file, whole_if_named
from arena.cli.output import note, show_fields, show_json, show_line, show_rows, show_table
from arena.container import open_arena
from data.errors import InputError, JudgeError
from data.models import JudgeKind, Outcome
from data.models.words import to_json
from judges.lexical import AGREEMENT
from judges.llm.settings import CacheMode

ADVICE = {
    Outcome.FAILED: "Check that the endpoint (OPENAI_BASE_URL, or the spec's) runs and serves the model.",
    Outcome.REFUSED: "The model or a filter declined; try another model or other texts.",
    Outcome.UNREADABLE: "The model does not follow the reply format; try another one (docs/judges.md).",
}

IN_TABLES = ("by_domain", "labels_left_out")

if TYPE_CHECKING:
    from arena.services.judging.calibration import JudgeCalibration

commands = typer.Typer(
    help="Judges: a model with its prompt and settings, or an embedded method.",
    epilog="Also: `list`.",
    no_args_is_help=True,
)


@commands.command()
def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="JUDGE", show_default="all judges", help="Name of a judge, or the path of its spec."
        ),
    ] = "",
    *,
    as_json: AsJson = False,
) -> None:
    """List the judges, or show one with its settings, hash and prompt.

    $ arena judges show lexical
    """
    if not name:
        list_(as_json=as_json)
        return
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
        show_line("", AGREEMENT)
    if prompt:
        show_line("", prompt)


@commands.command("list", hidden=True)
def list_(*, as_json: AsJson = False) -> None:
    """List the bundled judges and those in the judges folder.

    $ arena judges list
    """
    from dataclasses import asdict

    judges = open_arena().judges.known()
    rows = [(line.name, line.kind, line.model, line.problem or line.description) for line in judges]
    headers = ("judge", "kind", "model", "description")
    show_rows([asdict(line) for line in judges], headers, rows, as_json=as_json)


@commands.command()
def price(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Name of the LLM, as in judge specs.")],
    read: Annotated[
        float | None, typer.Argument(metavar="[IN]", min=0.0, help="USD per million input tokens.")
    ] = None,
    written: Annotated[
        float | None, typer.Argument(metavar="[OUT]", min=0.0, help="USD per million output tokens.")
    ] = None,
) -> None:
    """Show the price of a model, or set it for plans and caps.

    $ arena judges price gpt-5-mini
    $ arena judges price house-model 0.25 2

    Your price is stored in prices.toml in ARENA_HOME and overrides the listed one. A judge with `price = 0`
    is free, and so is a model without a price at an endpoint on this machine or a private network.
    """
    from judges.llm.prices import Price, price_advice

    judges = open_arena().judges
    if read is None and written is None:
        listed, source = judges.prices().with_source(judges.endpoint, model)
        if listed is None:
            raise InputError(f"No price is known for {model}.", advice=price_advice(model))
        values = listed.model_dump(exclude_none=True, exclude={"long", "long_from"})
        if listed.long is not None:
            values[f"above {listed.long_from:,}"] = f"{listed.long.input:g} in, {listed.long.output:g} out"
        show_fields({"model": model, **values, "source": source})
        return
    if read is None or written is None:
        raise typer.BadParameter("Give both IN and OUT, or neither.")
    file = judges.set_price(model, Price(input=read, output=written))
    show_line(f"{model} costs {read:g} USD in and {written:g} USD out per million tokens ({file}).")


@commands.command("try")
def try_(
    judge: Annotated[
        str, typer.Option(metavar="JUDGE|MODEL", help="A judge by name or path, or the name of a model.")
    ],
    question: Annotated[
        str | None, typer.Option(metavar="Q", help="A question's text, or `SET/ID` of a stored question.")
    ] = None,
    a: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A text file with answer a.", callback=whole_if_named)
    ] = None,
    b: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A text file with answer b.", callback=whole_if_named)
    ] = None,
    cache_mode: Cache = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Try a judge on one pair of answers, or on three demo battles in both orders.

    $ arena judges try --judge lexical --question demo/q1 --a first.txt --b second.txt
    $ arena judges try --judge judge.toml

    Nothing is stored. Without a pair, it prints the requests and replies, the cost, the latency, and whether
    both orders agree. The first request is a probe, so a wrong key fails early. The exit code is 1 if a
    battle has no verdict.
    """
    if question is None and a is None and b is None:
        _try_demo(judge, cache_mode, as_json=as_json)
        return
    if question is None or a is None or b is None:
        raise typer.BadParameter("Give --question, --a and --b together, or none of them.")
    verdict = open_arena().judges.try_files(judge, question, a, b)
    fields = to_json(verdict, "judgments")
    if as_json:
        from dataclasses import asdict

        show_json({**fields, "judgments": [asdict(judgment) for judgment in verdict.judgments]})
    else:
        show_fields({name: _plain(value) for name, value in fields.items()})
        for judgment in verdict.judgments:
            outcome = f"{judgment.judge}, order {judgment.presentation.value}: {judgment.outcome.value}"
            show_line("", outcome, judgment.rationale)
    if verdict.outcome is not Outcome.JUDGED:
        raise JudgeError(
            f"The judge {judge} did not decide ({verdict.outcome}): {verdict.detail.rstrip('.')}.",
            advice=ADVICE.get(verdict.outcome, ""),
        )


def _try_demo(name: str, cache_mode: CacheMode | None, *, as_json: bool) -> None:
    trial = open_with_cache(cache_mode).judges.test(name)
    if as_json:
        show_json({**to_json(trial), "passed": trial.passed})
    else:
        for battle in trial.battles:
            show_line(f"# {battle['question']}", f"a: {battle['answer_a']}", f"b: {battle['answer_b']}")
            for judgment in battle["judgments"]:
                verdict = judgment["preference"] or judgment["outcome"]
                why = f" ({judgment['detail']})" if judgment["detail"] else ""
                show_line(f"{judgment['judge']}, order {judgment['presentation']}: {verdict}{why}")
                for reply in judgment["replies"]:
                    show_line(f"  [{reply['finish_reason'] or 'no finish reason'}] {reply['text']}")
            show_line("")
        fields = {name: getattr(trial, name) for name in ("judge", "calls", "cost_usd", "latency")}
        sent = next(
            (judgment["settings"] for battle in trial.battles for judgment in battle["judgments"]), ""
        )
        show_fields({**fields, "models": ", ".join(trial.models), "sent with": sent})
        show_line(trial.sentence)
    if not trial.passed:
        outcome = next(Outcome(battle["outcome"]) for battle in trial.battles if battle["preference"] is None)
        raise JudgeError(f"The judge is not usable. {trial.sentence}", advice=ADVICE.get(outcome, ""))


@commands.command()
def calibrate(
    judge: Annotated[
        list[str], typer.Option(metavar="JUDGE", help="Name of a judge, or the path of its spec; repeatable.")
    ],
    labels: Annotated[Path, typer.Option(metavar="FILE", help="File of human labels.", callback=whole_file)],
    concurrency: Annotated[int, typer.Option(metavar="C", min=1, help="Maximum pairs in flight.")] = 16,
    budget_usd: Budget = None,
    cache_mode: Cache = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Compare judges with human labels.

    $ arena judges calibrate --judge lexical --labels labels.jsonl

    Prints agreement, ties, unreadable replies and position flips. Several judges are printed as a table,
    highest Pearson correlation first. They share the budget; pairs beyond it have no verdict.
    """
    reports = open_with_cache(cache_mode).calibrations.calibrate(
        judge, labels, concurrency=concurrency, budget_usd=budget_usd
    )
    note(*(f"{count:,} labels left out: {reason}" for reason, count in reports[0].left_out.items()))
    if as_json:
        show_json(reports[0].to_json() if len(reports) == 1 else [report.to_json() for report in reports])
    elif len(reports) == 1:
        fields = {name: value for name, value in reports[0].to_json().items() if name not in IN_TABLES}
        show_fields({name: _plain(value) for name, value in fields.items()})
    else:
        show_table(*_judge_table(reports))


def _judge_table(
    reports: "Sequence[JudgeCalibration]",
) -> tuple[Sequence[str], Sequence[Sequence[str | int | float | None]]]:
    measures = ("pearson", "kappa", "alpha", "accuracy", "decisive_accuracy", "tie_rate")
    rows = [
        (
            report.judge,
            *(report.calibration.overall.estimates()[name].value for name in measures),
            report.calibration.overall.unreadable,
            report.flips,
        )
        for report in reports
    ]
    return ("judge", *measures, "unreadable", "flips"), sorted(rows, key=lambda row: -_number(row[1]))


def _number(value: str | float | None) -> float:
    return value if isinstance(value, int | float) else float("-inf")


def _plain(value: object) -> str | int | float | None:
    if value is None or isinstance(value, str | int | float):
        return value
    return json.dumps(value, ensure_ascii=False)
