"""The system card of generated answers: what made them, so that they can be made again."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from data.records import SystemCard
from judges.llm.requests import Sampling
from submissions.card import LONGEST, LONGEST_NOTES

HASH_SHOWN = 12


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


def card_of(facts: CardFacts, at: datetime) -> SystemCard:
    """Write the card. Of the endpoint it tells the host alone: a path may hold what is nobody's business."""
    cost = "at no known price" if facts.cost_usd is None else f"{facts.cost_usd:.4f} USD"
    limits = f"temperature {facts.sampling.temperature}, at most {facts.sampling.max_tokens} tokens"
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
