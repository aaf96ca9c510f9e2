"""CRUX metrics: coverage of sub-questions by an answer's context and by the answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from data.declines import declines
from data.models import Json, MetricItem, Outcome, Passage, Score, unscored
from judges.llm.tasks import TaskRunner
from judges.metrics.comprehensiveness.graph import UnscoredError
from judges.metrics.context import ANSWER, CONTEXT, raters
from judges.metrics.context.measures import ContextSettings, answered_by, coverage, density, ranked_coverage
from judges.metrics.context.ratings import Order, Pool, Ratings, required_subset, token_count, uses
from judges.metrics.registry import Metric, read_options
from judges.metrics.shortening import GuardedMetric
from judges.pairwise.cleaning import clean

NO_CONTEXT = "The answer file has no contexts for this answer, so the retrieved passages are unknown."
NOTHING_ANSWERABLE = "No sub-question can be answered from the {oracle}, so there is nothing to cover."
NO_ORACLE = "There are neither passages nor a reference to compare with."
REFERENCE = "reference"


class Oracle:
    """Finds the sub-questions that the question's own texts answer, equal for all systems."""

    def __init__(self, runner: TaskRunner | None, settings: ContextSettings) -> None:
        self.settings = settings
        self._runner = runner

    def rater(self, item: MetricItem) -> raters.Rater:
        """Return the rater of one item's texts."""
        rater: raters.Rater = (
            raters.EmbeddedRater(item)
            if self._runner is None
            else raters.LlmRater(self._runner, weighted=self.settings.weighted)
        )
        return raters.KnownRater(rater, self.settings.ratings) if self.settings.ratings else rater

    async def assess(self, item: MetricItem, contexts: tuple[Passage, ...] = ()) -> "Assessment":
        """Find sub-questions, rate the passages of oracle and context, and filter.

        The oracle is the question's passages, or else its reference. Without both, an LLM still rates, and
        no sub-question is filtered.
        """
        sub_questions = await raters.find_sub_questions(
            item, self._runner, maximum=self.settings.sub_questions
        )
        passages, name = _oracle(item)
        if not passages and self._runner is None:
            raise UnscoredError(Outcome.UNREADABLE, NO_ORACLE)
        pool = Pool.of(passages, contexts)
        rows = await self.rater(item).passages(pool.passages, sub_questions.texts)
        oracle, ratings = pool.ratings(rows, threshold=self.settings.threshold)
        answerable = oracle.answerable if passages else tuple(range(len(sub_questions.texts)))
        if not answerable:
            raise UnscoredError(Outcome.UNREADABLE, NOTHING_ANSWERABLE.format(oracle=name))
        return Assessment(
            sub_questions=sub_questions,
            answerable=answerable,
            pool=pool,
            oracle=oracle,
            ratings=ratings,
            oracle_name=name,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """An item's sub-questions and ratings.

    Attributes:
        sub_questions: All sub-questions, answerable or not.
        answerable: Indexes of the sub-questions that the oracle answers; all without an oracle.
        oracle: Ratings of the oracle's passages, in the order of `pool.oracle`.
        ratings: Ratings of all passages of the pool, 0 for sub-questions that are not answerable.
    """

    sub_questions: raters.SubQuestions
    answerable: tuple[int, ...]
    pool: Pool
    oracle: Ratings
    ratings: Ratings
    oracle_name: str

    def required(self, order: Order) -> tuple[int, ...]:
        """Return the indexes in the pool of a required subset of the oracle's passages, Z*."""
        return tuple(self.pool.oracle[place] for place in required_subset(self.oracle, order))

    def ratings_json(self, places: Sequence[int]) -> list[Json]:
        """Return ids and ratings of distinct passages, in order."""
        return [
            {
                "passage": self.pool.passages[place].id,
                "ratings": [round(float(x), 2) for x in self.ratings.values[place]],
            }
            for place in dict.fromkeys(places)
        ]

    def details(self, threshold: float) -> dict[str, Json]:
        """Return the common details of context and answer scores."""
        return {
            "sub_questions": self.sub_questions.texts,
            "sub_questions_from": self.sub_questions.origin.value,
            "answerable": self.answerable,
            "oracle": self.oracle_name,
            "threshold": threshold,
        }


class ContextCrux:
    """Scores the contexts of an answer by their share of the answerable sub-questions."""

    name = CONTEXT

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle

    async def score(self, item: MetricItem) -> Score:
        """Score one context.

        Returns:
            Cov(Z), with `details`: `answered`, `missing` (indexes of sub-questions), `by` (passages that
            answer each), `alpha_ndcg`, `density`, `tokens`, `required` (`static`, `dynamic`: ids of the
            question's passages), `uses` (of each passage of the context), `missing_passages` (required
            passages for missing sub-questions), `ratings` of the context's distinct passages, `ranking`
            (their indexes in the context's order, with repetitions), `oracle_ratings` of the question's own
            passages. The ideal of `alpha_ndcg` ranks the question's own passages; null if it has none.

        Source: CRUX, section 3.3.
        """
        contexts = tuple(passage for passage in item.contexts if passage.text.strip())
        if not contexts:
            return unscored(item, self.name, Outcome.UNREADABLE, NO_CONTEXT)
        try:
            assessment = await self._oracle.assess(item, contexts)
        except UnscoredError as stop:
            return unscored(item, self.name, stop.outcome, stop.reason)
        score = len(answered_by(assessment.ratings, assessment.pool.context)) / len(assessment.answerable)
        details = {**assessment.details(self._oracle.settings.threshold), **self._details(assessment, score)}
        return Score(id=item.id, metric=self.name, outcome=Outcome.JUDGED, score=score, details=details)

    def _details(self, assessment: Assessment, score: float) -> Mapping[str, Json]:
        settings, pool, ratings = self._oracle.settings, assessment.pool, assessment.ratings
        answered = answered_by(ratings, pool.context)
        missing = tuple(number for number in assessment.answerable if number not in answered)
        required = {order: assessment.required(order) for order in Order}
        best = required[settings.required]
        in_context = tuple(dict.fromkeys(pool.context))
        own_ratings = Ratings(values=ratings.values[list(in_context)], threshold=settings.threshold)
        needed = {in_context[place] for place in required_subset(own_ratings, settings.required)}
        own_uses = uses(own_ratings, [place for place, number in enumerate(in_context) if number in needed])
        return {
            "answered": answered,
            "missing": missing,
            "by": {
                str(number): [
                    pool.passages[place].id for place in in_context if ratings.answers[place, number]
                ]
                for number in answered
            },
            "alpha_ndcg": ranked_coverage(ratings, pool.context, judged=pool.oracle, alpha=settings.alpha),
            "density": density(
                score,
                pool.tokens(pool.context),
                best_covered=coverage(ratings, best),
                best_tokens=pool.tokens(best),
                weight=settings.density_weight,
            ),
            "tokens": pool.tokens(pool.context),
            "required": {order.value: pool.ids(places) for order, places in required.items()},
            "uses": [
                {"passage": pool.passages[place].id, "use": use.value}
                for place, use in zip(in_context, own_uses, strict=True)
            ],
            "missing_passages": [
                pool.passages[place].id
                for place in best
                if place not in in_context and any(ratings.answers[place, number] for number in missing)
            ],
            "ratings": assessment.ratings_json(pool.context),
            "ranking": [in_context.index(place) for place in pool.context],
            "oracle_ratings": assessment.ratings_json(pool.oracle),
        }


class AnswerCrux:
    """Scores an answer by its share of the answerable sub-questions."""

    name = ANSWER

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle

    async def score(self, item: MetricItem) -> Score:
        """Score one answer; an empty answer or a refusal scores 0.

        Returns:
            Cov(y), with `details`: `answered`, `missing`, `density`, `tokens`, `ratings`.

        Source: CRUX, section 3.3 (Cov and Den of the final result).
        """
        text = clean(item.answer)
        try:
            assessment = await self._oracle.assess(item)
            ratings = [0.0] * len(assessment.sub_questions.texts)
            if not declines(text, item.question):
                ratings = await self._oracle.rater(item).answer(text, assessment.sub_questions.texts)
        except UnscoredError as stop:
            return unscored(item, self.name, stop.outcome, stop.reason)
        settings, answerable = self._oracle.settings, assessment.answerable
        answered = tuple(number for number in answerable if ratings[number] >= settings.threshold)
        score = len(answered) / len(answerable)
        best = assessment.required(settings.required)
        details: dict[str, Json] = {
            **assessment.details(settings.threshold),
            "answered": answered,
            "missing": tuple(number for number in answerable if number not in answered),
            "density": density(
                score,
                token_count(text),
                best_covered=coverage(assessment.ratings, best),
                best_tokens=assessment.pool.tokens(best),
                weight=settings.density_weight,
            ),
            "tokens": token_count(text),
            "ratings": [round(rating, 2) for rating in ratings],
        }
        return Score(id=item.id, metric=self.name, outcome=Outcome.JUDGED, score=score, details=details)


def build(name: str, *, runner: TaskRunner | None, options: Mapping[str, Json]) -> Metric:
    """Build `context-crux` or `answer-crux`; without a runner, the embedded version."""
    oracle = Oracle(runner, read_options(ContextSettings, name, options))
    metric = ContextCrux(oracle) if name == CONTEXT else AnswerCrux(oracle)
    return GuardedMetric(metric, of_form=isinstance(metric, AnswerCrux)) if runner is None else metric


def _oracle(item: MetricItem) -> tuple[tuple[Passage, ...], str]:
    passages = tuple(passage for passage in item.passages if passage.text.strip())
    if passages:
        return passages, "passages"
    reference = (item.reference or "").strip()
    if declines(reference, item.question):
        return (), "none"
    return (Passage(REFERENCE, reference),), REFERENCE
