"""Comprehensiveness by entailment of claims (section 3.1), and by questions and answers (section 3.2)."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, combinations
from typing import Any

from pydantic import BaseModel, Field

from data.models import EMBEDDED_ENGINE, MetricItem, Outcome, Passage
from judges.llm.tasks import Task, TaskRunner
from judges.llm.templates import Input, Tagged
from judges.metrics.comprehensiveness.embedded import RELATIONS
from judges.metrics.comprehensiveness.graph import (
    CONTENT_KINDS,
    Claim,
    Edge,
    FactGraph,
    Node,
    NodeKind,
    Relation,
    Relations,
    Steps,
    UnscoredError,
    Wordings,
    gather_all,
    ground_truth_of,
    require_reply,
)
from judges.metrics.comprehensiveness.llm_steps import AnswerComparer, AnswerRelation, parts
from judges.metrics.comprehensiveness.report import ComprehensivenessSettings, Facts, facts_of
from judges.metrics.dry_run import says, texts
from judges.metrics.relations.model import Entailment, Pair, RelationModel
from judges.text.sentences import split_sentences
from judges.text.tokens import related, terms


def is_similar(premise: str, hypothesis: str, similarity: float) -> bool:
    """Return whether two claims share enough roots of the smaller claim to be worth a request."""
    if similarity <= 0:
        return True
    premise_terms, hypothesis_terms = (
        {related(term) for term in terms(text)} for text in (premise, hypothesis)
    )
    smaller = min(len(premise_terms), len(hypothesis_terms))
    return not smaller or len(premise_terms & hypothesis_terms) / smaller >= similarity


class NliReader:
    """Builds a fact graph from claims and their relations."""

    def __init__(
        self, steps: Callable[[MetricItem], Steps], *, engine: str, settings: ComprehensivenessSettings
    ) -> None:
        self._steps = steps
        self._settings = settings
        self._embedded = engine.startswith(EMBEDDED_ENGINE)
        self.engine = engine

    async def read(self, item: MetricItem) -> Facts:
        """Return the covered and missing facts of an answer."""
        return facts_of(await self.graph(item))

    async def graph(self, item: MetricItem) -> FactGraph:
        """Build the fact graph of one answer."""
        steps = self._steps(item)
        texts = (Passage("", item.answer), *ground_truth_of(item))
        claims = [self._claims(steps, text) for text in texts]
        # Tasks would only cost time if no step waits for a reply.
        results = [await own for own in claims] if self._embedded else await gather_all(claims)
        of_answer, *of_passages = results
        passages = await self._relevant(steps, list(chain.from_iterable(of_passages)))
        nodes = [Node(f"a{at}", NodeKind.ANSWER, claim.text) for at, claim in enumerate(of_answer)]
        nodes += [
            Node(f"c{at}_{claim.source}", NodeKind.PASSAGE, claim.text, claim.source)
            for at, claim in enumerate(passages)
        ]
        return FactGraph(tuple(nodes), await self._edges(steps, nodes))

    @staticmethod
    async def _claims(steps: Steps, text: Passage) -> tuple[Claim, ...]:
        if not text.text.strip():
            return ()
        claims = await steps.claims(text.text, text.id)
        return tuple(dict.fromkeys(claim for claim in claims if claim.kind in CONTENT_KINDS))

    async def _relevant(self, steps: Steps, claims: Sequence[Claim]) -> tuple[Claim, ...]:
        ratings = await steps.relevance(claims) if claims else ()
        return tuple(
            claim for claim, rating in zip(claims, ratings, strict=True) if rating >= self._settings.relevance
        )

    async def _edges(self, steps: Steps, nodes: Sequence[Node]) -> tuple[Edge, ...]:
        """Relate all claims, except pairs within the answer; identical wordings imply each other."""
        of_answer = sum(node.kind is NodeKind.ANSWER for node in nodes)
        pairs = len(nodes) * (len(nodes) - 1) - of_answer * (of_answer - 1)
        if pairs > self._settings.most_pairs:
            reason = f"The texts have {pairs:,} pairs of claims, more than {self._settings.most_pairs:,}."
            raise UnscoredError(Outcome.SKIPPED, reason)
        texts = {
            kind: tuple(dict.fromkeys(node.text for node in nodes if node.kind is kind)) for kind in NodeKind
        }
        wordings = Wordings(texts[NodeKind.ANSWER], texts[NodeKind.PASSAGE])
        minimum = self._settings.similarity
        select = partial(is_similar, similarity=minimum) if minimum > 0 else None
        return _edges_of(nodes, await steps.relations(wordings, select))


def _edges_of(nodes: Sequence[Node], relations: Relations) -> tuple[Edge, ...]:
    places: dict[str, list[int]] = {}
    for place, node in enumerate(nodes):
        places.setdefault(node.text, []).append(place)
    same = (((text, text), Relation.EQUIVALENCE) for text, rows in places.items() if len(rows) > 1)
    edges = [
        (a, b, relation)
        for (first, second), relation in chain(same, relations.items())
        for a in places.get(first, ())
        for b in places.get(second, ())
        if a != b and (nodes[a].kind is NodeKind.PASSAGE or nodes[b].kind is NodeKind.PASSAGE)
    ]
    return tuple(Edge(nodes[a].id, nodes[b].id, relation) for a, b, relation in sorted(edges))


class NliSteps:
    """Steps with relations by an NLI model."""

    def __init__(self, steps: Steps, model: RelationModel, question: str) -> None:
        self._model = model
        self._question = question
        self.claims = steps.claims
        self.relevance = steps.relevance

    async def relations(
        self, wordings: Wordings, select: Callable[[str, str], bool] | None = None
    ) -> Relations:
        """Classify each pair with the model."""
        pairs = [Pair(*pair) for pair in wordings.pairs() if select is None or select(*pair)]
        results = await self._model.relate(pairs, question=self._question)
        relations: dict[tuple[str, str], Relation] = {}
        for pair, relation in zip(pairs, map(require_reply, results), strict=True):
            if relation.stance is not Entailment.NEUTRAL:
                relations[pair.premise, pair.hypothesis] = RELATIONS[relation.stance]
        return relations


UNKNOWN = "unknown"


class MinedQuestions(BaseModel):
    """The reply to `mine_questions`."""

    questions: list[str]


class RefinedQuestion(BaseModel):
    """A question and how much it matters."""

    question: str
    relevance: int = Field(ge=1, le=5, description="1: unrelated … 5: no answer is right without it.")


class RefinedQuestions(BaseModel):
    """The reply to `refine_questions`."""

    questions: list[RefinedQuestion]


class HeldAnswer(BaseModel):
    """An answer that a text gives."""

    answer: str = Field(description="As short as possible; `unknown` where the text does not say.")
    confidence: int = Field(ge=1, le=5, description="1: the text holds it to be wrong … 5: to be right.")


class AnsweredQuestion(BaseModel):
    """The answers that a text gives to one question."""

    number: int = Field(ge=1, description="The id of the question.")
    answers: list[HeldAnswer]


class AnsweredQuestions(BaseModel):
    """The reply to `answer_questions`."""

    answered: list[AnsweredQuestion]


def _mined(inputs: Mapping[str, Input]) -> Mapping[str, Any]:
    return {
        "questions": [f"{sentence}?" for text in texts(inputs["text"]) for sentence in split_sentences(text)]
    }


def _answered(inputs: Mapping[str, Input]) -> Mapping[str, Any]:
    """Return answers to the questions most of whose words the text contains."""
    text = " ".join(texts(inputs["text"]))
    questions = [row for row in enumerate(texts(inputs["questions"]), 1) if says(text, row[1])]
    return {
        "answered": [
            {"number": number, "answers": [{"answer": question[:40], "confidence": 5}]}
            for number, question in questions
        ]
    }


MINE_QUESTIONS = Task(name="mine_questions", reply=MinedQuestions, max_tokens=2_048, stub=_mined)
REFINE_QUESTIONS = Task(
    name="refine_questions",
    reply=RefinedQuestions,
    max_tokens=4_096,
    stub=lambda inputs: {
        "questions": [{"question": text, "relevance": 5} for text in texts(inputs["mined"])]
    },
)
ANSWER_QUESTIONS = Task(name="answer_questions", reply=AnsweredQuestions, max_tokens=4_096, stub=_answered)


@dataclass(frozen=True, slots=True)
class SourcedAnswer:
    """An answer of a source (empty for the evaluated answer) to a question."""

    question: str
    text: str
    source: str


class QaReader:
    """Builds a fact graph from questions and each text's answers to them."""

    def __init__(self, runner: TaskRunner, *, settings: ComprehensivenessSettings) -> None:
        self._runner = runner
        self._settings = settings
        self._compare = AnswerComparer(runner)
        self.engine = runner.model

    async def read(self, item: MetricItem) -> Facts:
        """Return the covered and missing facts of an answer."""
        return facts_of(await self.graph(item))

    async def graph(self, item: MetricItem) -> FactGraph:
        """Build the graph of the texts' answers."""
        texts = [Passage("", item.answer)] if item.answer.strip() else []
        texts += ground_truth_of(item)
        pieces = [Passage(text.id, part) for text in texts for part in parts(text.text)]
        questions = await self._questions(item.question, pieces)
        by_text = await gather_all(self._answers_of(piece, questions) for piece in pieces if questions)
        return await self._graph(tuple(dict.fromkeys(chain.from_iterable(by_text))))

    async def _questions(self, question: str, texts: Sequence[Passage]) -> tuple[str, ...]:
        mined = await asyncio.gather(
            *(
                self._runner.run(MINE_QUESTIONS, {"question": question, "text": tagged(text)})
                for text in texts
            )
        )
        raw: dict[str, None] = {}
        for reply in map(require_reply, mined):
            raw |= dict.fromkeys(text.strip() for text in reply.questions if text.strip())
        if not raw:
            return ()
        inputs: dict[str, Input] = {
            "question": question,
            "mined": [Tagged("mined_question", text) for text in raw],
        }
        refined = require_reply(await self._runner.run(REFINE_QUESTIONS, inputs))
        relevant = [entry for entry in refined.questions if entry.relevance >= self._settings.relevance]
        return tuple(dict.fromkeys(entry.question.strip() for entry in relevant if entry.question.strip()))

    async def _answers_of(self, text: Passage, questions: Sequence[str]) -> list[SourcedAnswer]:
        numbered = [
            Tagged("mined_question", question, str(number)) for number, question in enumerate(questions, 1)
        ]
        inputs: dict[str, Input] = {"text": tagged(text), "questions": numbered}
        reply = require_reply(await self._runner.run(ANSWER_QUESTIONS, inputs))
        return [
            SourcedAnswer(questions[entry.number - 1], candidate.answer.strip(), text.id)
            for entry in reply.answered
            if entry.number <= len(questions)
            for candidate in entry.answers
            if candidate.confidence >= self._settings.confidence and _says(candidate.answer)
        ]

    async def _graph(self, answers: Sequence[SourcedAnswer]) -> FactGraph:
        """Compare the answers to each question, except pairs within the evaluated answer."""
        nodes = [
            Node(
                f"c{at}_{answer.source}" if answer.source else f"a{at}",
                NodeKind.PASSAGE if answer.source else NodeKind.ANSWER,
                f"{answer.question} — {answer.text}",
                answer.source,
            )
            for at, answer in enumerate(answers)
        ]
        pairs = [
            (a, b)
            for a, b in combinations(range(len(answers)), 2)
            if answers[a].question == answers[b].question and (answers[a].source or answers[b].source)
        ]
        triples = list(
            dict.fromkeys((answers[a].question, answers[a].text, answers[b].text) for a, b in pairs)
        )
        relations = await gather_all(self._compare(*triple) for triple in triples)
        by_triple = dict(zip(triples, relations, strict=True))
        edges = [
            edge
            for a, b in pairs
            for edge in _edges(
                nodes[a].id, nodes[b].id, by_triple[answers[a].question, answers[a].text, answers[b].text]
            )
        ]
        return FactGraph(tuple(nodes), tuple(edges))


def tagged(text: Passage) -> Tagged:
    """Return a passage or the evaluated answer as an input."""
    return Tagged("passage", text.text, text.id) if text.id else Tagged("answer", text.text)


def _says(answer: str) -> bool:
    return bool(answer.strip()) and answer.strip().strip(".").casefold() != UNKNOWN


def _edges(first: str, second: str, relation: AnswerRelation) -> Iterable[Edge]:
    if relation is AnswerRelation.SECOND_IMPLIES_FIRST:
        first, second = second, first
    kinds = {
        AnswerRelation.EQUIVALENT: Relation.EQUIVALENCE,
        AnswerRelation.CONTRADICTORY: Relation.CONTRADICTION,
        AnswerRelation.FIRST_IMPLIES_SECOND: Relation.ENTAILMENT,
        AnswerRelation.SECOND_IMPLIES_FIRST: Relation.ENTAILMENT,
    }
    return [Edge(first, second, kinds[relation])] if relation in kinds else []
