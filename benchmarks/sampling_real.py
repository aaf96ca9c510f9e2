"""How many verdicts of an expensive judge, or of people, a cheap one saves on real data, at equal width.

    python -m benchmarks.sampling_real [DATA] [repeats]

DATA has the folders `crowd_rag`, `qa_feedback` and `wikicontradict`; what is absent is skipped. Each row lets
rounds in waves (docs/method/sampling.md) end at the mean width of plain samples of a quarter of the battles
(150 at least), over many draws of both, and says how many verdicts that took. The gain is what the rounds
themselves estimate, with its interval. Cascades: what part the proxy judge decides at a promised agreement.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from data.records import Passage, Question
from judges.base import JudgeInput
from judges.catalogue import load_spec
from judges.lexical import LexicalJudge
from judges.metrics.comprehensiveness.meta_files import Label, read_wikicontradict
from judges.metrics.registry import build_metric
from leaderboard.battles import BattleTable
from leaderboard.sampling.asks import Ask, widths_of
from leaderboard.sampling.forecast import PILOT
from leaderboard.sampling.means import PoweredMean, ScoredAnswers, powered_means, sample_answers
from leaderboard.sampling.waves import Ended, WavePlan, next_wave, scores_of
from tests.sampled_rounds import after_wave, begin

Floats = NDArray[np.float64]
DATA = Path(__file__).parents[1] / "../shared/data"
PLAIN, LEAST_PLAIN = 0.25, 150
SIDES = {"a": 1.0, "n": 0.5, "tie": 0.5, "b": 0.0}
QUALITY = "quality_overall"
GRADES = {Label.INCORRECT: 0.0, Label.PARTIAL: 0.5, Label.CORRECT: 1.0}


@dataclass(frozen=True)
class Doubled:
    """Battles that both judges decided.

    Attributes:
        planned: Battles with the proxy judge's shares.
        verdicts: (N,) the expensive one's.
        others: Shares of further proxy judges.
    """

    planned: BattleTable
    verdicts: Floats
    others: tuple[Floats, ...] = ()


def rows_of(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSONL file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def table_of(rows: Sequence[Mapping[str, Any]], names: tuple[str, str], share: Floats) -> BattleTable:
    """Battles of one domain."""
    size = len(rows)
    words = ["model_a" if value > 0.5 else "model_b" if value < 0.5 else "tie" for value in share]
    columns = [[row[name] for row in rows] for name in (*names, "question")]
    return BattleTable.from_columns(columns[2], ["all"] * size, columns[0], columns[1], words, share)


def crowd(path: Path) -> dict[str, Doubled]:
    """Crowd-RAG-25: LLM verdicts in one order and in both, and five people's votes."""
    rows = [row for row in rows_of(path) if all(row["llm_combined"].values())]

    def llm(kind: str, order: str, asked: str = QUALITY) -> Floats:
        return np.array([SIDES.get(row[kind][order].get(asked), np.nan) for row in rows])

    first, second = llm("llm_combined", "a_first"), llm("llm_combined", "b_first")
    filled = np.where(np.isfinite(first), first, 0.5)
    both = np.nanmean([first, second], axis=0)
    people = np.array([np.mean([SIDES[vote] for vote in row["people"][QUALITY]]) for row in rows])
    aspects = [name for name in rows[0]["llm_combined"]["a_first"] if name != QUALITY]
    votes = np.nanmean([llm("llm_combined", "a_first", name) for name in [QUALITY, *aspects]], axis=0)
    apart = np.nanmean([llm("llm_individual", "a_first", name) for name in [QUALITY, *aspects]], axis=0)
    names = ("model_a", "model_b")
    planned = table_of(rows, names, filled)
    return {
        "crowd_rag: LLM, one order → both orders": Doubled(planned, both),
        "crowd_rag: LLM, one order, 3 readings → both orders": Doubled(planned, both, (votes, apart)),
        "crowd_rag: LLM, one order → people": Doubled(planned, people),
        "crowd_rag: LLM, both orders, 3 readings → people": Doubled(
            replace(planned, score=both), people, (votes, apart)
        ),
    }


def preferences(path: Path) -> dict[str, Doubled]:
    """QA-Feedback: people's preferences, and the embedded judge, which costs nothing."""
    rows = rows_of(path)
    judge = LexicalJudge(load_spec("lexical"))
    shares = []
    for row in rows:
        passages = tuple(Passage(p["id"], p["text"]) for p in row["passages"])
        question = Question(
            id="q", domain="d", question=row["question"], reference=row["reference"], passages=passages
        )
        judge_input = JudgeInput(
            battle_id="x", question=question, answer_a=row["answer_a"], answer_b=row["answer_b"]
        )
        margin = judge.settle(judge_input).judgments[0].margin
        shares.append(0.5 if margin is None else 1 / (1 + np.exp(margin)))
    share = np.array(shares)
    verdicts = np.array([SIDES[row["label"]] for row in rows])
    planned = table_of(rows, ("system_a", "system_b"), share)
    return {"qa_feedback: embedded judge → people": Doubled(planned, verdicts)}


def show_rounds(title: str, battles: Doubled, ask: Ask, repeats: int) -> None:
    """One row of the table: verdicts of rounds in waves and of plain samples at equal width."""
    random = np.random.default_rng(3)
    size = len(battles.verdicts)
    count = max(LEAST_PLAIN, round(PLAIN * size))
    everything = replace(battles.planned, score=battles.verdicts)
    widths = [
        widths_of(everything.select(np.sort(random.permutation(size)[:count])), ask).widest
        for _ in range(repeats)
    ]
    width = float(np.mean([value for value in widths if np.isfinite(value)]))
    taken, gains = [], []
    for seed in range(repeats):
        pilot = min(PILOT, size // 15)
        plan = WavePlan(ask=ask, target_width=width, cap=size, pilot=pilot, seed=1000 * seed)
        state = begin(battles.planned, battles.others)
        while not isinstance(wave := next_wave(plan, state), Ended):
            state = after_wave(state, wave, battles.verdicts[wave.chosen])
        taken.append(int(state.judged.sum()))
        gain = scores_of(state, wave.widths.contested if wave.widths else ())
        gains.append((gain.gain, gain.gain_interval.lower, gain.gain_interval.upper))
    share = np.mean(taken) / count
    middle = np.median(gains, axis=0)
    known = np.corrcoef(battles.planned.share, battles.verdicts)[0, 1]
    print(
        f"| {title} | {ask} | {known:.2f} | {width:.0f} | {count} | {np.mean(taken):.0f} | {1 - share:.0%} | "
        f"{middle[0]:.2f} ({middle[1]:.2f} to {middle[2]:.2f}) |",
        flush=True,
    )


def contradictions(path: Path) -> ScoredAnswers:
    """WikiContradict: people's grades of five systems' answers, and embedded comprehensiveness."""
    items = read_wikicontradict(rows_of(path), where=str(path))
    metric = build_metric("comprehensiveness-nli", options={})

    async def scores() -> list[float | None]:
        return [(await metric.score(entry.item)).score for entry in items]

    cheap = [np.nan if score is None else score for score in asyncio.run(scores())]
    questions = np.unique([entry.item.question for entry in items], return_inverse=True)[1]
    return ScoredAnswers(
        systems=tuple(f"answer{n}" for n in range(5)),
        system=(np.arange(len(items)) % 5).astype(np.int32),
        question=questions.astype(np.int32),
        cheap=np.array(cheap),
        expensive=np.array([GRADES[entry.label] for entry in items]),
        sampling_prob=np.ones(len(items)),
    )


def show_means(every: ScoredAnswers, repeats: int) -> None:
    """Gain for means and for paired differences, over many samples of a quarter of the answers."""
    known = [
        float(np.corrcoef(every.cheap[every.system == n], every.expensive[every.system == n])[0, 1])
        for n in range(5)
    ]
    print(f"\nWikiContradict: correlation within each system {', '.join(f'{r:.2f}' for r in known)}")
    gains: dict[str, list[tuple[float, float, float]]] = {"means": [], "differences": []}
    for seed in range(repeats):
        taken, chance = sample_answers(every.system, round(PLAIN * len(every.system)), seed)
        expensive = np.full(len(chance), np.nan)
        expensive[taken] = every.expensive[taken]
        estimates = powered_means(replace(every, expensive=expensive, sampling_prob=chance))
        parts: tuple[tuple[str, Sequence[PoweredMean]], ...] = (
            ("means", estimates.means),
            ("differences", estimates.differences),
        )
        for name, part in parts:
            gains[name] += [(e.gain, e.gain_interval.lower, e.gain_interval.upper) for e in part]
    for name, values in gains.items():
        middle = np.median(values, axis=0)
        print(
            f"| wikicontradict: comprehensiveness-nli → people's grades | {name} | "
            f"{1 - 1 / middle[0]:.0%} | {middle[0]:.2f} ({middle[1]:.2f} to {middle[2]:.2f}) |"
        )


def main() -> None:
    """Print every table whose data there is."""
    data = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 30
    sets: dict[str, Doubled] = {}
    for name, read in (("crowd_rag", crowd), ("qa_feedback", preferences)):
        path = data / name / "pairs.jsonl"
        sets |= read(path) if path.exists() else {}
        if not path.exists():
            print(f"{path} is absent: skipped.")
    print("| cheap → expensive | asked | correlation | width | plain | in waves | saved | gain |")
    print("|---|---|---|---|---|---|---|---|")
    for title, battles in sets.items():
        for question in ("ranking", "leaders"):
            show_rounds(title, battles, Ask.parse(question), repeats)
    path = data / "wikicontradict" / "dev.jsonl"
    if path.exists():
        show_means(contradictions(path), repeats)
    else:
        print(f"{path} is absent: skipped.")


if __name__ == "__main__":
    main()
