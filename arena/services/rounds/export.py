"""Export of a round as verifiable files with checksums."""

import hashlib
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, fields
from operator import attrgetter
from pathlib import Path
from typing import Any

from arena.services.accounts.auth import Caller
from arena.services.accounts.redaction import hide_field_addresses, without_locations
from arena.services.rounds.battle_table import WINNERS
from arena.services.rounds.visibility import RoundAccess
from data.errors import FileFormatError
from data.models import BattleEvidence, BattleRecord, Judgment, Reply
from data.progress import counted
from data.store import Store
from data.store.boards import hash_of
from data.store.replies import NOT_KEPT

CHECKSUMS = "checksums.json"
FILES = ("battles.jsonl", "judgments.jsonl", "outcomes.jsonl", "round.json", "standings.json")


SHOWN_HASH = "hash_without_addresses"


def hash_of_judge(judge: Mapping[str, Any]) -> str:
    """Return the sha256 of a judge's settings without its source and hashes."""
    return hash_of({name: judge[name] for name in judge.keys() - {"source", "hash", SHOWN_HASH}})


def make_folder(folder: Path) -> None:
    """Create a folder and check that it is writable before a long computation."""
    with _written(folder):
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()


@contextmanager
def _written(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = f"{folder} cannot be written: {error.strerror or error}."
        raise FileFormatError(message, advice="Choose a folder that you can write to.") from error


def write_round(
    store: Store, name: str, standings: Mapping[str, Any], folder: Path, *, caller: Caller
) -> Mapping[str, str]:
    """Write a round into a folder.

    - `battles.jsonl`: the judged battles in the native format, ready for `arena battles rate`;
    - `outcomes.jsonl`: every planned battle with its outcome;
    - `judgments.jsonl`: every judgment with its provenance and raw reply;
    - `round.json`: plan, judge, seed and counts; `standings.json`: the board;
    - `checksums.json`: the SHA-256 of each file.

    Quotations from texts that the caller may not see are left out.
    """
    round_, counts = store.rounds.get(name), store.rounds.counts(name)
    total = counts.planned
    access = RoundAccess(store, caller, round_)
    head = {
        "name": round_.name,
        "set": round_.set_name,
        "state": round_.state.value,
        "judge": _judge(round_.judge),
        "plan": hide_field_addresses(round_.plan),
        "seed": round_.seed,
        "budget_usd": round_.budget_usd,
        "books": asdict(counts),
    }
    make_folder(folder)
    with _written(folder):
        # Write three files in one pass over the battles.
        evidence = counted(store.verdicts.evidence(name), "writing battles and their judgments", total)
        _write_evidence(folder, map(access.evidence, evidence))
        _write_json(folder / "round.json", head)
        _write_json(folder / "standings.json", standings)
        sums = {name: checksum(folder / name) for name in FILES}
        _write_json(folder / CHECKSUMS, sums)
    return sums


def battle_row(battle: BattleRecord) -> dict[str, Any]:
    """Return a judged battle with the field's names (docs/design.md)."""
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
        earlier = [dict(zip(_REPLY, _reply(row), strict=True)) for row in judgment.earlier]
        values = dict(zip(_JUDGMENT, _judgment(judgment), strict=True))
        yield {**battle, **values, "reply": reply, "earlier": earlier}


# Several times faster than `dataclasses.asdict`, which copies every value.
_JUDGMENT = tuple(field.name for field in fields(Judgment))
_REPLY = tuple(field.name for field in fields(Reply) if field.name not in NOT_KEPT)
_judgment, _reply = attrgetter(*_JUDGMENT), attrgetter(*_REPLY)
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def _judge(judge: Mapping[str, Any]) -> dict[str, Any]:
    public = without_locations(judge)
    return {**public, SHOWN_HASH: hash_of_judge(public)}


def _write_evidence(folder: Path, evidence: Iterable[BattleEvidence]) -> None:
    with ExitStack() as files:
        battles, outcomes, judgments = (
            files.enter_context((folder / f"{name}.jsonl").open("w", encoding="utf-8"))
            for name in ("battles", "outcomes", "judgments")
        )
        for row in evidence:
            if row.battle.preference is not None:
                battles.write(_line(battle_row(row.battle)))
            outcomes.write(_line(_as_outcome(row.battle)))
            judgments.writelines(map(_line, _as_judgments(row)))


def _line(row: Mapping[str, Any]) -> str:
    return _ENCODER.encode(row) + "\n"


def _write_json(path: Path, value: Mapping[str, Any]) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False, default=dict)
    path.write_text(text + "\n", encoding="utf-8")


def checksum(path: Path) -> str:
    """Return the sha256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
