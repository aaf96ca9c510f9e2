"""Tables of replies and judgments, as plain columns since rounds have millions of them."""

from data.models import base as col
from data.models.base import table
from data.models.words import Outcome, Preference, Presentation

replies = table(
    "reply",
    key=col.label(64, primary_key=True),
    endpoint=col.prose(),
    model=col.prose(),
    text=col.prose(),
    finish_reason=col.prose(),
    input_tokens=col.whole(),
    output_tokens=col.whole(),
    cost_usd=col.real(nullable=True),
    latency=col.real(),
    logprobs=col.prose(nullable=True),
    thinking=col.prose(nullable=True),
    response_id=col.prose(default=""),
    response_model=col.prose(default=""),
    fingerprint=col.prose(default=""),
    left_out=col.prose(default=""),
    created_at=col.created(),
)
"""Replies of LLMs by the key of their request."""
batches = table(
    "batch",
    name=col.label(64, primary_key=True),
    endpoint=col.prose(),
    batch_id=col.prose(),
    keys=col.json(),
    created_at=col.created(),
)
"""Batches at providers whose replies are not all stored; `batch_id` is empty until it is known."""
judgments = table(
    "judgment",
    id=col.number(),
    battle_id=col.parent("battle.id", index=True),
    judge=col.label(100),
    model=col.prose(),
    endpoint=col.prose(),
    presentation=col.word(Presentation, 2),
    outcome=col.word(Outcome),
    preference=col.word(Preference, 4, nullable=True),
    margin=col.real(nullable=True),
    rationale=col.prose(),
    detail=col.prose(),
    grade=col.prose(),
    settings=col.prose(),
    prompt_hash=col.label(64),
    parser=col.prose(),
    calls=col.whole(),
    reply_key=col.label(64, nullable=True),
    earlier_keys=col.maybe_json(),
    input_tokens=col.whole(),
    output_tokens=col.whole(),
    cost_usd=col.real(nullable=True),
    latency=col.real(),
    cached=col.flag(),
    created_at=col.created(),
)
"""Judgments; `earlier_keys` are the keys of replies that were retried, null if none were."""
