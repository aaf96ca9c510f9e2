"""Verification of an exported round without a database.

It checks that files match their checksums and none was added; that the judge matches its hash (a second hash
covers exports without endpoints); that each verdict follows from its judgments or is marked as corrected;
that outcomes match counts; and that rates and ratings follow from the battles.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.services.rounds.battle_table import WINNERS
from arena.services.rounds.export import CHECKSUMS, FILES, SHOWN_HASH, checksum, hash_of_judge
from data.errors import FileFormatError
from data.files.strict_json import parse_json
from data.files.text_files import ReadLimits, read_text
from data.models import Judgment, OrderPolicy, Outcome, Preference, Presentation
from data.models.judgments import CORRECTION, NOT_HANDED_IN
from data.progress import counted, working
from data.store.boards import hash_of
from judges.pairwise.llm_judge import settled
from leaderboard.vocabulary import OVERALL

TOLERANCE = 1e-6
SIGNATURE = f"{CHECKSUMS}.minisig"
DISTRUST = "Do not trust this export."
STOPPED = frozenset({Outcome.FAILED, Outcome.REFUSED, Outcome.UNREADABLE, Outcome.SKIPPED})
"""Outcomes that a battle with complete judgments and a verdict cannot have."""


@dataclass(frozen=True, slots=True)
class Verified:
    """Result of a verification.

    Attributes:
        battles: Battles whose verdicts follow from their judgments.
        corrected: Judged battles whose verdict organisers corrected.
        without_judge: Battles lost without a judgment, since an answer is missing.
        content_hash: The sha256 of the standings, which identifies a published board.
    """

    files: tuple[str, ...]
    battles: int
    corrected: int
    without_judge: int
    content_hash: str


def verify_folder(folder: Path) -> Verified:
    """Check an exported round."""
    sums = _read_json(folder / CHECKSUMS)
    head, standings = _read_json(folder / "round.json"), _read_json(folder / "standings.json")
    _verify_files(folder, sums)
    _verify_judge(head, standings)
    with working("settling battles from their judgments"):
        battles, corrected, without_judge = _verify_battles(folder, head)
    with working("computing rates and ratings from the battles"):
        _verify_numbers(folder, standings)
    return Verified(tuple(sorted(sums)), battles, corrected, without_judge, hash_of(standings))


def _verify_files(folder: Path, sums: Mapping[str, Any]) -> None:
    for name in FILES:
        if name not in sums:
            message = f"{folder / CHECKSUMS} lists no {name}."
            raise FileFormatError(message, advice="Get a new copy of the export.", code="changed-file")
    for name, expected in counted(sums.items(), "checking files", len(sums)):
        path = folder / Path(name).name
        if not path.is_file() or checksum(path) != expected:
            state = "differs from what was exported" if path.is_file() else "is missing"
            raise FileFormatError(
                f"{path} {state}.", advice="Get a new copy of the export.", code="changed-file"
            )
    for path in sorted(folder.iterdir()):
        if path.name not in {*sums, CHECKSUMS, SIGNATURE}:
            advice = "Remove it, or get a new copy of the export."
            message = f"{path} is not part of the export: it has no checksum."
            raise FileFormatError(message, advice=advice, code="changed-file")


def _verify_judge(head: Mapping[str, Any], standings: Mapping[str, Any]) -> None:
    judge = head["judge"]
    # Older exports publish the endpoint, so their hash includes it.
    if hash_of_judge(judge) != judge.get(SHOWN_HASH, judge["hash"]):
        raise _wrong("The judge in round.json does not match its hash.")
    if judge["hash"] != standings["facts"]["judge hash"]:
        raise _wrong("The judge in round.json differs from the judge in standings.json.")


def _verify_battles(folder: Path, head: Mapping[str, Any]) -> tuple[int, int, int]:
    """Derive each verdict from its judgments, and compare it with its outcome and battle."""
    judgments: dict[str, list[Judgment]] = defaultdict(list)
    for row in _rows(folder / "judgments.jsonl"):
        judgments[row["battle"]].append(_judgment(row))
    counts: Counter[str] = Counter()
    corrected = without_judge = 0
    battles = _rows(folder / "battles.jsonl")
    for outcome in _rows(folder / "outcomes.jsonl"):
        counts[outcome["outcome"]] += 1
        corrected += _is_corrected(outcome)
        without_judge += _is_without_judge(outcome)
        own = judgments.pop(outcome["battle"], [])
        battle = next(battles, None) if outcome["outcome"] == Outcome.JUDGED else None
        _verify_battle(outcome, battle, own, head)
    if (left := next(battles, None)) is not None:
        raise _wrong(f"battles.jsonl has a battle on {left['question_id']} without a judged outcome.")
    if judgments:
        raise _wrong(
            f"judgments.jsonl has judgments of {next(iter(judgments))}, which is not a battle of the round."
        )
    _verify_books(head["books"], counts)
    planned = head["plan"].get("without_judge", 0)
    if without_judge > planned:
        raise _wrong(f"{without_judge} battles are lost because of missing answers; the plan has {planned}.")
    return counts[Outcome.JUDGED] - corrected - without_judge, corrected, without_judge


def _is_corrected(outcome: Mapping[str, Any]) -> bool:
    return outcome["outcome"] == Outcome.JUDGED and str(outcome["detail"]).startswith(CORRECTION)


def _is_without_judge(outcome: Mapping[str, Any]) -> bool:
    return outcome["outcome"] == Outcome.JUDGED and str(outcome["detail"]) == NOT_HANDED_IN


def _verify_battle(
    outcome: Mapping[str, Any],
    battle: Mapping[str, Any] | None,
    judgments: Sequence[Judgment],
    head: Mapping[str, Any],
) -> None:
    key, stated = outcome["battle"], Outcome(outcome["outcome"])
    verdict = settled(head["judge"], judgments)
    if stated is Outcome.JUDGED:
        names = ("question_id", "model_a", "model_b")
        if battle is None or any(battle[name] != outcome[name] for name in names):
            raise _wrong(f"Battle {key} is judged, but battles.jsonl does not have it.")
        if _is_corrected(outcome) or (_is_without_judge(outcome) and not judgments):
            return
        if verdict is None or verdict.preference is None:
            raise _wrong(f"Battle {key} is judged, but its judgments give no verdict.")
        if battle["winner"] != WINNERS[verdict.preference]:
            winner = WINNERS[verdict.preference]
            raise _wrong(f"Battle {key} has the winner {battle['winner']}, but its judgments give {winner}.")
        return
    orders = len({judgment.presentation for judgment in judgments})
    whole = orders >= (2 if head["judge"].get("order") == OrderPolicy.BOTH else 1)
    if verdict is not None and verdict.preference is not None and whole and stated in STOPPED:
        raise _wrong(f"Battle {key} is {stated}, but its judgments give {WINNERS[verdict.preference]}.")


def _verify_books(books: Mapping[str, Any], counts: Mapping[str, int]) -> None:
    for outcome, count in counts.items():
        if outcome in books and books[outcome] != count:
            raise _wrong(
                f"round.json counts {books[outcome]} battles as {outcome}, outcomes.jsonl has {count}."
            )
    if books["planned"] != sum(counts.values()):
        message = f"round.json plans {books['planned']} battles, outcomes.jsonl has {sum(counts.values())}."
        raise _wrong(message)


def _judgment(row: Mapping[str, Any]) -> Judgment:
    try:
        return Judgment(
            judge=row["judge"],
            model=row["model"],
            presentation=Presentation(row["presentation"]),
            outcome=Outcome(row["outcome"]),
            preference=None if row["preference"] is None else Preference(row["preference"]),
            margin=row["margin"],
            detail=row["detail"],
            settings=row["settings"],
        )
    except (KeyError, ValueError) as error:
        raise _wrong(f"Battle {row.get('battle')} has an invalid judgment: {error}.") from error


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            row = parse_json(line, number)
            if not isinstance(row, dict):
                raise FileFormatError(f"{path} has a line that is not a JSON object.", line=number)
            yield row


def _wrong(message: str) -> FileFormatError:
    return FileFormatError(message, advice=DISTRUST, code="unfounded")


def _verify_numbers(folder: Path, standings: Mapping[str, Any]) -> None:
    # Exports do not need these slow imports.
    from leaderboard.formats.reading import read_battles
    from leaderboard.rates import win_rates
    from leaderboard.ratings import IntervalKind, rate
    from leaderboard.standings.build import without_systems

    lines = {line["system"]: line for line in standings["lines"]["overall"]}
    if not (folder / "battles.jsonl").stat().st_size:
        if any(line["rating"] for line in lines.values()):
            raise _unfounded("ratings", "there are no judged battles")
        return
    table = read_battles(folder / "battles.jsonl").table
    reference = standings["reference"] if standings["reference"] in table.systems else None
    for row in win_rates(table, by_domain=False, reference=reference).rows:
        if row.domain == OVERALL and _differs(row.win_rate, lines[row.system]["rate"]["win_rate"]):
            raise _unfounded(f"the win rate of {row.system}", f"the battles give {row.win_rate:.6f}")
    if standings["rating_settings"] is None:
        return
    ranked = without_systems(table, {name for name, line in lines.items() if line.get("unranked")})
    for rating in rate(ranked, interval=IntervalKind.SANDWICH).ratings:
        if _differs(rating.rating, lines[rating.system]["rating"]["rating"]):
            raise _unfounded(f"the rating of {rating.system}", f"the battles give {rating.rating}")


def _differs(stated: float | None, computed: float | None) -> bool:
    if stated is None or computed is None:
        return stated is not computed
    return abs(stated - computed) > TOLERANCE * max(1.0, abs(stated))


def _unfounded(figure: str, why: str) -> FileFormatError:
    return FileFormatError(
        f"The standings give {figure}, but {why}.", advice="Do not trust this export.", code="unfounded"
    )


def _read_json(path: Path) -> dict[str, Any]:
    value = parse_json(read_text(path, ReadLimits()), 0)
    if not isinstance(value, dict):
        raise FileFormatError(f"{path} is not a JSON object.", advice="Get a new copy of the export.")
    return value
