"""People's labels of aspects, and how well coverage agrees with them.

Source: ICAT, section 6: three annotators say of each aspect whether an answer covers it; the majority holds,
and the shares of covered aspects are correlated with the metric's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from data.errors import RecordError
from data.files import ReadLimits
from data.jsonl import read_records
from data.records import ProblemList
from judges.coverage.correlation import RESAMPLES, Coefficient, Correlation, correlate
from judges.coverage.measures import share


@dataclass(frozen=True, slots=True, kw_only=True)
class AspectLabel:
    """What one annotator says of one aspect in one answer.

    Attributes:
        question: The question's id.
        system: Whose answer it is.
        aspect: The aspect.
        covered: Whether the answer covers it.
        annotator: Who says so.
    """

    question: str
    system: str
    aspect: str
    covered: bool
    annotator: str = ""


Answered = tuple[str, str]
"""A question's id and a system."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelAgreement:
    """How well a metric's coverage agrees with people's.

    Attributes:
        correlations: By coefficient, whole questions resampled.
        answers: How many answers have both.
        questions: To how many questions.
        unlabelled: Answers with a score and no label: left out.
        unscored: Answers with labels and no score: left out.
        undecided: Aspects on which annotators split evenly: left out of their answer's share.
    """

    correlations: Mapping[Coefficient, Correlation]
    answers: int
    questions: int
    unlabelled: int
    unscored: int
    undecided: int


def human_coverage(labels: Iterable[AspectLabel]) -> tuple[Mapping[Answered, float], int]:
    """The share of the aspects that most annotators find covered, for each answer.

    Returns:
        The shares, and how many aspects were left out because annotators split evenly. An answer with no
        other aspects has no share.

    Raises:
        RecordError: An annotator labelled one aspect of one answer twice.
    """
    votes: dict[Answered, dict[str, dict[str, bool]]] = {}
    for label in labels:
        own = votes.setdefault((label.question, label.system), {}).setdefault(label.aspect, {})
        if label.annotator in own:
            message = (
                f"Annotator {label.annotator!r} labelled the aspect {label.aspect!r} twice for the answer of "
                f"{label.system} to {label.question}."
            )
            raise RecordError(message, advice="Keep one label an annotator and aspect.")
        own[label.annotator] = label.covered
    shares: dict[Answered, float] = {}
    split = 0
    for answered, aspects in votes.items():
        margins = [2 * sum(own.values()) - len(own) for own in aspects.values()]
        decided = [margin > 0 for margin in margins if margin]
        split += len(margins) - len(decided)
        covered = share(sum(decided), len(decided))
        if covered is not None:
            shares[answered] = covered
    return MappingProxyType(shares), split


def label_agreement(
    labels: Iterable[AspectLabel],
    coverage: Mapping[Answered, float],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> LabelAgreement:
    """Correlate a metric's coverage with people's, answer by answer.

    Args:
        labels: People's labels.
        coverage: The metric's coverage by question and system; answers that could not be scored are absent.
        resamples: For the intervals; whole questions are drawn, since answers to one are not independent.
        seed: Makes the intervals repeatable.

    Raises:
        RecordError: An annotator labelled one aspect of one answer twice.
        StatisticsError: A coverage is no finite number.
    """
    people, undecided = human_coverage(labels)
    both = sorted(set(people) & set(coverage))
    questions = [question for question, _ in both]
    found = correlate(
        [coverage[answered] for answered in both],
        [people[answered] for answered in both],
        questions=questions,
        resamples=resamples,
        seed=seed,
    )
    return LabelAgreement(
        correlations=found,
        answers=len(both),
        questions=len(set(questions)),
        unlabelled=len(set(coverage) - set(people)),
        unscored=len(set(people) - set(coverage)),
        undecided=undecided,
    )


def read_aspect_labels(path: Path, limits: ReadLimits) -> tuple[AspectLabel, ...]:
    """Read labels: JSONL lines `{"question_id", "system", "aspect", "covered": true, "annotator"}`.

    Raises:
        InvalidFileError: The file has problems; all of them are listed.
    """
    return read_records(path, limits, _label)


def _label(line: int, row: object, problems: ProblemList) -> AspectLabel | None:
    if not isinstance(row, Mapping):
        problems.add(line, "not-object", "This line is not a JSON object.")
        return None
    texts = {name: row.get(name) for name in ("question_id", "system", "aspect")}
    wrong = [name for name, value in texts.items() if not isinstance(value, str) or not value.strip()]
    covered = row.get("covered")
    if not isinstance(covered, bool):
        wrong.append("covered (true or false)")
    if wrong or not isinstance(covered, bool):
        problems.add(line, "missing-field", f"There is no usable {', '.join(wrong)}.")
        return None
    return AspectLabel(
        question=str(texts["question_id"]),
        system=str(texts["system"]),
        aspect=str(texts["aspect"]),
        covered=covered,
        annotator=str(row.get("annotator") or ""),
    )
