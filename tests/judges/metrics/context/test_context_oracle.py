"""Ranked coverage against TREC's own implementation, and the embedded rater on the bundled set."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

from data.files.question_sets.registry import load_set
from data.models import MetricItem
from judges.metrics.context.measures import ranked_coverage
from judges.metrics.context.raters import EmbeddedRater
from judges.metrics.context.ratings import THRESHOLD, Ratings

DEMO = Path(__file__).parents[4] / "data" / "sets" / "demo"


def test_ranked_coverage_is_that_of_ir_measures() -> None:
    """60 random rankings get the value that ir-measures computes by pyndeval, strictly ordered."""
    ir_measures = pytest.importorskip("ir_measures", reason="NO IR-MEASURES: α-nDCG has no oracle here")
    pytest.importorskip("pyndeval", reason="NO PYNDEVAL: α-nDCG has no oracle here")
    generator = np.random.default_rng(5)
    compared = 0
    for number in range(60):
        passages, sub_questions = int(generator.integers(1, 8)), int(generator.integers(1, 9))
        answers = generator.random((passages, sub_questions)) < 0.35
        chosen = generator.permutation(passages)[: int(generator.integers(1, passages + 1))].tolist()
        qrels = [
            ir_measures.Qrel("q", f"d{row}", 1, str(column + 1))
            for row, column in np.argwhere(answers).tolist()
        ]
        judged = sorted({int(qrel.doc_id[1:]) for qrel in qrels})
        ratings = Ratings.of(np.where(answers, 5.0, 0.0).tolist())
        found = ranked_coverage(ratings, chosen, judged=judged)
        if not qrels:
            assert found is None, number
            continue
        run = [ir_measures.ScoredDoc("q", f"d{place}", -float(at)) for at, place in enumerate(chosen)]
        measure = ir_measures.parse_measure("alpha_nDCG(alpha=0.5)@20")
        assert found == pytest.approx(ir_measures.calc_aggregate([measure], qrels, run)[measure], abs=1e-6)
        compared += 1
    assert compared > 40


def test_the_embedded_rater_tells_own_passages_from_others() -> None:
    questions = load_set(DEMO).questions.questions
    own: list[bool] = []
    foreign: list[bool] = []
    cells: list[bool] = []
    for place, question in enumerate(questions):
        item = MetricItem(
            id=question.id,
            question=question.question,
            answer="",
            passages=question.passages,
            reference=question.reference,
        )
        rater = EmbeddedRater(item)
        others = questions[(place + 7) % len(questions)].passages
        rows = asyncio.run(rater.passages(question.passages, question.sub_questions))
        wrong = asyncio.run(rater.passages(others, question.sub_questions))
        assert isinstance(rows, list)
        assert isinstance(wrong, list)
        own.extend(np.max(rows, axis=0) >= THRESHOLD)
        foreign.extend(np.max(wrong, axis=0) >= THRESHOLD)
        cells.extend(np.ravel(np.array(rows) >= THRESHOLD))
    assert np.mean(own) > 0.9
    assert np.mean(foreign) < 0.05
    assert 0.2 < np.mean(cells) < 0.4
