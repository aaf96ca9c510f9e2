"""How probable the values of a reply were, by the log-probabilities of its tokens."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from data.models import Reply

LEAST_SHARE = 0.5
AROUND_VALUES = " \t\n\"'"


def token_shares(reply: Reply, before: str, values: Sequence[str]) -> Mapping[str, float] | None:
    """How probable each value was at the place where the reply states one of them.

    Args:
        reply: A reply with log-probabilities.
        before: A regular expression for what stands right before the value; its last occurrence counts.
        values: The values that could stand there.

    Returns:
        The share of each value, adding up to 1; None where the reply has no log-probabilities, the
        value is not one token, or most of the probability is on something else.
    """
    tokens = _tokens(reply.logprobs)
    text = "".join(token["token"] for token in tokens)
    alternatives = "|".join(map(re.escape, sorted(values, key=len, reverse=True)))
    matches = list(re.finditer(rf"(?:{before})({alternatives})(?!\w|\.\d)", text))
    if not matches:
        return None
    token = _covering(tokens, *matches[-1].span(matches[-1].re.groups))
    if token is None:
        return None
    shares = dict.fromkeys(values, 0.0)
    for alternative in token.get("top_logprobs") or [token]:
        value = str(alternative["token"]).strip(AROUND_VALUES)
        if value in shares:
            logprob = alternative.get("logprob")
            if not isinstance(logprob, int | float) or not math.isfinite(logprob):
                return None
            shares[value] += math.exp(min(0.0, logprob))
    total = sum(shares.values())
    return {value: share / total for value, share in shares.items()} if total >= LEAST_SHARE else None


def weighted_score(reply: Reply, field: str, values: Sequence[int]) -> float | None:
    """The expected value of a JSON field that holds one of a few whole numbers.

    Returns:
        The sum of each value times its share; None where `token_shares` gives none.

    Source: Liu et al. (2023), G-Eval, equation 1.
    """
    shares = token_shares(reply, rf'"{re.escape(field)}"\s*:\s*"?', [str(value) for value in values])
    return None if shares is None else sum(value * shares[str(value)] for value in values)


def _covering(tokens: Sequence[Mapping[str, Any]], start: int, end: int) -> Mapping[str, Any] | None:
    """The token that holds all of a stretch of the text, None where several share it."""
    place = 0
    for token in tokens:
        after = place + len(token["token"])
        if place <= start < after:
            return token if end <= after else None
        place = after
    return None


def _tokens(logprobs: str | None) -> list[dict[str, Any]]:
    if not logprobs:
        return []
    rows = json.loads(logprobs)
    return [row for row in rows if isinstance(row, dict) and isinstance(row.get("token"), str)]
