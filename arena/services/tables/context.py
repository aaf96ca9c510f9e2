"""How the coverage of contexts ranks systems as the coverage of their answers does.

Source: CRUX, section 5 and its tables 2 and 3: Cov(Z), Cov(y) and Kendall's tau between them.
"""

from __future__ import annotations

from arena.services.metrics.agreement import AgreementRequest, AgreementService
from data.stats import Interval
from leaderboard.export.paper import Cell, Column, Measured, PaperTable, Unit

NAMES = {"kendall": "Kendall's τ", "spearman": "Spearman's ρ", "pearson": "Pearson's r"}
COVERAGE = ("context-crux", "answer-crux")


def coverage_by_system(agreement: AgreementService, set_name: str, judge: str) -> PaperTable:
    """Mean coverage of contexts and answers of each system, by the questions that all of them have."""
    found = agreement.systems(AgreementRequest(set_name=set_name, judge=judge))
    return PaperTable(
        columns=(
            Column(key="system", header="system"),
            *(
                Column(key=name, header=header, unit=Unit.SHARE, best_first=True)
                for name, header in zip(COVERAGE, ("context", "answer"), strict=True)
            ),
        ),
        rows=tuple((row["system"], row["context"], row["answer"]) for row in found["systems"]),
        notes=_notes(found["undefined"], found["questions"]),
    )


def correlations(agreement: AgreementService, set_name: str, judge: str) -> PaperTable:
    """Correlations over systems of the two coverages, with intervals by questions."""
    found = agreement.systems(AgreementRequest(set_name=set_name, judge=judge))
    rows: list[tuple[Cell, ...]] = []
    for name, header in NAMES.items():
        one = found["correlations"].get(name)
        if one is None:
            continue
        whole = one["lower"] is not None and one["upper"] is not None
        interval = Interval(one["lower"], one["upper"]) if whole else None
        rows.append((header, Measured(value=one["value"], interval=interval), len(found["systems"])))
    return PaperTable(
        columns=(
            Column(key="coefficient", header="coefficient"),
            Column(
                key="correlation",
                header="context with answer",
                unit=Unit.COEFFICIENT,
                bounds=("lower", "upper"),
            ),
            Column(key="systems", header="systems", unit=Unit.COUNT),
        ),
        rows=tuple(rows),
        notes=_notes(found["undefined"], found["questions"]),
    )


def _notes(undefined: str, questions: int) -> tuple[str, ...]:
    return (undefined,) if undefined else (f"{questions:,} questions that every system has scores of.",)
