"""What is to be generated, and what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from arena.services.generation.missed_answers import MissedAnswer, missed_answer_of
from arena.services.retrieval.requests import RetrievalRequest
from data.records import Outcome, Question, SystemCard
from judges.generation import Generated, Generation
from judges.llm.costs import Usage
from judges.llm.requests import Sampling
from submissions.card import LONGEST, LONGEST_NOTES

HASH_SHOWN = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationRequest:
    """What is to be generated.

    Attributes:
        set_name: The questions.
        generation: The LLM and what it is asked.
        file: The answers are written to it, and the system card beside it.
        retrieval: How passages are found; None takes those of the set.
        domains: Of these alone; all where none is named.
        sample: In the words of the command line.
        seed: Of the sample.
        concurrency: Most calls in flight.
        budget_usd: The most that all answers may cost, replies of an earlier run of the same included.
    """

    set_name: str
    generation: Generation
    file: Path
    retrieval: RetrievalRequest | None = None
    domains: tuple[str, ...] = ()
    sample: str | None = None
    seed: int = 0
    concurrency: int = 16
    budget_usd: float | None = None

    @property
    def card(self) -> Path:
        """Where the system card is written."""
        return self.file.with_name(f"{self.file.name.removesuffix('.jsonl')}.card.yaml")


@dataclass(slots=True)
class GenerationReport:
    """What came of a generation: outcomes by name, and answers with those that find none, by domain.

    `most_passages` is how many the question with the most has; `paid_usd` is what replies of earlier runs
    cost that were used again, `retrieval_usd` what an LLM that reranked may have cost now; `missed` are the
    "no answer" replies whose thinking found something, `left_out` the settings that the endpoint refuses.
    """

    file: Path
    card: Path
    questions: int
    most_passages: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)
    no_answers: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    missed: list[MissedAnswer] = field(default_factory=list)
    with_thinking: int = 0
    usage: Usage = field(default_factory=Usage)
    paid_usd: float = 0.0
    retrieval_usd: float = 0.0
    left_out: set[str] = field(default_factory=set)

    def count(self, question: Question, generated: Generated) -> None:
        """Count one question."""
        outcome = "answered" if generated.outcome is Outcome.JUDGED else generated.outcome.value
        self.outcomes[outcome] += 1
        if generated.reply is not None and generated.reply.left_out:
            self.left_out.update(generated.reply.left_out.split(", "))
        if generated.answer is None:
            self.reasons[f"{outcome}: {generated.detail}"] += 1
            return
        self.answers[question.domain] += 1
        self.no_answers[question.domain] += generated.no_answer
        self.with_thinking += bool(generated.answer.thinking)
        missed_answer = missed_answer_of(question, generated.answer)
        if missed_answer is not None and missed_answer.found:
            self.missed.append(missed_answer)

    def to_json(self) -> dict[str, Any]:
        """The object that `arena answers generate --json` prints."""
        answered = self.answers.total()
        return {
            "file": str(self.file),
            "card": str(self.card),
            "questions": self.questions,
            "most_passages": self.most_passages,
            "answers": answered,
            "outcomes": dict(self.outcomes),
            "no_answer_share": self.no_answers.total() / answered if answered else None,
            "no_answer_by_domain": {
                domain: self.no_answers[domain] / count for domain, count in self.answers.items()
            },
            "with_thinking": self.with_thinking,
            "no_answer_after_finding": [missed_answer.question_id for missed_answer in self.missed],
            "calls": self.usage.calls,
            "input_tokens": self.usage.input_tokens,
            "output_tokens": self.usage.output_tokens,
            "cost_usd": self.usage.total_usd,
            "lost_usd": self.usage.lost_usd,
            "paid_before_usd": self.paid_usd,
            "retrieval_usd": self.retrieval_usd,
            "left_out": sorted(self.left_out),
            "reasons": dict(self.reasons.most_common(20)),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CardFacts:
    """What a card tells; counts and costs are of the run that wrote it, `paid_usd` of replies used again."""

    set_name: str
    model: str
    endpoint: str
    prompt: str
    prompt_hash: str
    thinking: bool
    sampling: Sampling
    retriever: str
    passages: int
    questions: int
    answers: int
    no_answers: int
    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    paid_usd: float
    left_out: Sequence[str] = ()


def card_of(facts: CardFacts, at: datetime) -> SystemCard:
    """Write the card. Of the endpoint it tells the host alone: a path may hold what is nobody's business."""
    cost = "at no known price" if facts.cost_usd is None else f"{facts.cost_usd:.4f} USD"
    refused = facts.left_out
    temperature = "of the model's own" if "temperature" in refused else facts.sampling.temperature
    limits = f"temperature {temperature}, at most {facts.sampling.max_tokens} tokens"
    if refused:
        limits = f"{limits}; not sent, since the endpoint refuses it: {', '.join(refused)}"
    asked = f"Prompt {facts.prompt} (sha256 {facts.prompt_hash[:HASH_SHOWN]})"
    tokens = f"{facts.calls} calls, {facts.input_tokens} tokens in, {facts.output_tokens} out"
    notes = (
        f"Generated on {at:%Y-%m-%d} for the set {facts.set_name} at {urlsplit(facts.endpoint).hostname}.",
        f"{asked}, {'with' if facts.thinking else 'without'} thinking; {limits}.",
        f"{facts.answers} of {facts.questions} questions answered, {facts.no_answers} with no answer found.",
        f"{tokens}, {cost}; replies used again cost {facts.paid_usd:.4f} USD before.",
    )
    return SystemCard(
        model=facts.model[:LONGEST],
        retriever=facts.retriever[:LONGEST],
        passages=str(facts.passages),
        notes="\n".join(notes)[:LONGEST_NOTES],
    )


def write_card(path: Path, facts: CardFacts) -> None:
    """Write the card as YAML, as `arena submissions add --card` takes it.

    Raises:
        OSError: The file cannot be written.
    """
    fields = {name: value for name, value in asdict(card_of(facts, datetime.now(UTC))).items() if value}
    path.write_text(yaml.safe_dump(fields, allow_unicode=True, sort_keys=False), encoding="utf-8")
