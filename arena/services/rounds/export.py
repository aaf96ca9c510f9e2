"""A round as files that anybody can check: battles, judgments, counts, standings, checksums."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, fields
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

from arena.services.accounts.auth import Caller
from arena.services.judging.cascade_report import cascade_report
from arena.services.rounds.battle_table import WINNERS
from arena.services.rounds.visibility import RoundAccess
from data.errors import FileFormatError
from data.files.text_files import ReadLimits, parse_json, read_text
from data.progress import counted, working
from data.records import BattleEvidence, BattleRecord, Judgment, Reply
from data.store import Store
from leaderboard.vocabulary import OVERALL

CHECKSUMS = "checksums.json"
ESTIMATES = "estimates.jsonl"
FILES = ("battles.jsonl", "judgments.jsonl", "outcomes.jsonl", "round.json", "standings.json")
TOLERANCE = 1e-6


def make_folder(folder: Path) -> None:
    """Make a folder and write into it, before anything is computed that would be written there.

    Raises:
        FileFormatError: It cannot be made, or nothing can be written there.
    """
    with _written(folder):
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()


@contextmanager
def _written(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = f"{folder} cannot be written: {error.strerror or error}."
        raise FileFormatError(message, advice="Name a folder that you can write to.") from error


def write_round(
    store: Store,
    name: str,
    standings: Mapping[str, Any],
    folder: Path,
    *,
    caller: Caller,
    estimates: Iterable[Mapping[str, Any]] | None = None,
) -> Mapping[str, str]:
    """Write a round into a folder.

    - `battles.jsonl`: the judged battles in the field's format, ready for `arena battles rate`;
    - `outcomes.jsonl`: every planned battle with its outcome;
    - `judgments.jsonl`: every judgment with its provenance and raw reply;
    - `canaries.jsonl`: every canary, the attack, its verdict and judgments;
    - `round.json`: plan, judge, seed and counts; `standings.json`: the board;
    - `estimates.jsonl`, of a round in waves (`estimates`): what each battle's estimate is made of;
    - `checksums.json`: the sha256 of each.

    What quotes texts that the caller may not see, such as those of a withdrawn submission, is left out.

    Returns:
        The checksums by file name.

    Raises:
        FileFormatError: The folder cannot be written.
        NotFoundError: There is no such round.
    """
    round_, counts = store.rounds.get(name), store.rounds.counts(name)
    total = counts.planned
    seen, cascade = RoundAccess(store, caller, round_), cascade_report(store, round_)
    head = {
        "name": round_.name,
        "set": round_.set_name,
        "state": round_.state.value,
        "judge": round_.judge,
        "plan": round_.plan,
        "seed": round_.seed,
        "budget_usd": round_.budget_usd,
        "books": asdict(counts),
        **({} if cascade is None else {"cascade": cascade.as_json()}),
    }
    make_folder(folder)
    with _written(folder):
        # One pass writes the three, so that no battle is read thrice.
        evidence = counted(store.verdicts.evidence(name), "writing battles and their judgments", total)
        _write_evidence(folder, map(seen.evidence, evidence))
        _write_lines(folder / "canaries.jsonl", map(asdict, seen.canaries(store.canaries.of_round(name))))
        _write_json(folder / "round.json", head)
        _write_json(folder / "standings.json", standings)
        if estimates is not None:
            _write_lines(folder / ESTIMATES, counted(estimates, "writing estimates", total))
        files = FILES if estimates is None else (*FILES, ESTIMATES)
        sums = {name: _checksum(folder / name) for name in files}
        _write_json(folder / CHECKSUMS, sums)
    return sums


def verify_folder(folder: Path) -> list[str]:
    """Check an exported round: every checksum, and that rates and ratings follow from the battles.

    Returns:
        The names of the files that were checked.

    Raises:
        FileFormatError: A file is missing or changed, or a number does not follow.
    """
    sums = _read_json(folder / CHECKSUMS)
    unlisted = [name for name in FILES if name not in sums]
    if unlisted:
        message = f"{folder / CHECKSUMS} lists no {unlisted[0]}."
        raise FileFormatError(message, advice="Get the export again.", code="changed-file")
    for name, expected in counted(sums.items(), "checking files", len(sums)):
        path = folder / Path(name).name
        if not path.is_file() or _checksum(path) != expected:
            state = "differs from what was exported" if path.is_file() else "is missing"
            raise FileFormatError(f"{path} {state}.", advice="Get the export again.", code="changed-file")
    _verify_cascade(folder, _read_json(folder / "round.json").get("cascade"))
    with working("computing rates and ratings from the battles"):
        _verify_numbers(folder, _read_json(folder / "standings.json"))
    return sorted(sums)


def _verify_cascade(folder: Path, stated: Mapping[str, Any] | None) -> None:
    """Check that what the members of a cascade are said to have decided follows from the outcomes."""
    if stated is None:
        return
    from judges.pairwise.cascade import DECIDED, Escalation  # noqa: PLC0415 - few rounds need it

    lines = read_text(folder / "outcomes.jsonl", ReadLimits()).splitlines()
    details = [line["detail"] for line in (parse_json(text, 0) for text in lines) if line["outcome"]]
    decided = sum(detail.startswith(DECIDED) for detail in details)
    if decided != stated["cheap"]["decided"]:
        raise _unfounded("what the cheap member decided", f"the outcomes give {decided:,} battles")
    for reason in Escalation:
        count = sum(detail.startswith(reason.mark) for detail in details)
        if count != stated["escalated"].get(reason.value, 0):
            raise _unfounded(f"the battles escalated as {reason.value}", f"the outcomes give {count:,}")


def _verify_numbers(folder: Path, standings: Mapping[str, Any]) -> None:
    # To write an export takes none of what reads and rates battles.
    from leaderboard.formats.reading import read_battles  # noqa: PLC0415
    from leaderboard.rates import win_rates  # noqa: PLC0415
    from leaderboard.ratings import IntervalKind, rate  # noqa: PLC0415

    lines = {line["system"]: line for line in standings["lines"]["overall"]}
    if not (folder / "battles.jsonl").stat().st_size:
        if any(line["rating"] for line in lines.values()):
            raise _unfounded("ratings", "there are no judged battles")
        return
    table = read_battles(folder / "battles.jsonl").table
    if standings.get("estimated"):
        from arena.services.rounds.waves.estimate_lines import read_estimates  # noqa: PLC0415 - few rounds need it

        estimates = read_estimates(folder / ESTIMATES, table, standings["estimated"]["ask"])
        scored, rates = estimates.powered.table, estimates.rates
    else:
        scored, rates = table, partial(win_rates, table, by_domain=False)
    reference = standings["reference"] if standings["reference"] in scored.systems else None
    for row in rates(reference=reference).rows:
        if row.domain == OVERALL and _differs(row.win_rate, lines[row.system]["rate"]["win_rate"]):
            raise _unfounded(f"the win rate of {row.system}", f"the battles give {row.win_rate:.6f}")
    if standings["rating_settings"] is None:
        return
    for rating in rate(scored, interval=IntervalKind.SANDWICH).ratings:
        if _differs(rating.rating, lines[rating.system]["rating"]["rating"]):
            raise _unfounded(f"the rating of {rating.system}", f"the battles give {rating.rating}")


def _differs(stated: float | None, counted_again: float | None) -> bool:
    if stated is None or counted_again is None:
        return stated is not counted_again
    return abs(stated - counted_again) > TOLERANCE * max(1.0, abs(stated))


def _unfounded(figure: str, why: str) -> FileFormatError:
    return FileFormatError(
        f"The standings give {figure}, but {why}.", advice="Do not trust this export.", code="unfounded"
    )


def battle_row(battle: BattleRecord) -> dict[str, Any]:
    """A judged battle in the field's names (docs/design.md, section 4)."""
    row: dict[str, Any] = {
        "question_id": battle.question_id,
        "domain": battle.domain,
        "model_a": battle.system_a,
        "model_b": battle.system_b,
        "winner": None if battle.preference is None else WINNERS[battle.preference],
    }
    return row if battle.score is None else {**row, "score": battle.score}


def _as_outcome(battle: BattleRecord) -> dict[str, Any]:
    return {
        "battle": battle.key,
        "question_id": battle.question_id,
        "model_a": battle.system_a,
        "model_b": battle.system_b,
        "outcome": battle.outcome,
        "flipped": battle.flipped,
        "detail": battle.detail,
    }


def _as_judgments(evidence: BattleEvidence) -> Iterator[dict[str, Any]]:
    battle = {"battle": evidence.battle.key, "question_id": evidence.battle.question_id}
    for judgment in evidence.judgments:
        reply = None if judgment.reply is None else dict(zip(_REPLY, _reply(judgment.reply), strict=True))
        yield {**battle, **dict(zip(_JUDGMENT, _judgment(judgment), strict=True)), "reply": reply}


# Several times as quick as `dataclasses.asdict`, which copies every value.
_JUDGMENT = tuple(field.name for field in fields(Judgment))
_REPLY = tuple(field.name for field in fields(Reply))
_judgment, _reply = attrgetter(*_JUDGMENT), attrgetter(*_REPLY)
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def _write_evidence(folder: Path, evidence: Iterable[BattleEvidence]) -> None:
    """The judged battles, the outcomes of all, and the judgments, a file each."""
    with ExitStack() as files:
        battles, outcomes, judgments = (
            files.enter_context((folder / f"{name}.jsonl").open("w", encoding="utf-8"))
            for name in ("battles", "outcomes", "judgments")
        )
        for one in evidence:
            if one.battle.preference is not None:
                battles.write(_line(battle_row(one.battle)))
            outcomes.write(_line(_as_outcome(one.battle)))
            judgments.writelines(map(_line, _as_judgments(one)))


def _write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(map(_line, rows))


def _line(row: Mapping[str, Any]) -> str:
    return _ENCODER.encode(row) + "\n"


def _write_json(path: Path, value: Mapping[str, Any]) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False, default=dict)
    path.write_text(text + "\n", encoding="utf-8")


def _read_json(path: Path) -> dict[str, Any]:
    value = parse_json(read_text(path, ReadLimits()), 0)
    if not isinstance(value, dict):
        raise FileFormatError(f"{path} is no JSON object.", advice="Get the export again.")
    return value


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
