"""The judge of a round as records of evaluations name it: its LLMs, their settings, their prompts."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from data.errors import ArenaError
from data.records import JudgeKind, Round
from judges.spec import JudgeSpec, PanelRule, leaves
from leaderboard.export.eval_records import JudgeConfig, LlmScoring, ModelInfo


def scoring_of(round_: Round, spec_of: Callable[[Round], JudgeSpec]) -> LlmScoring | None:
    """The LLMs that judged a round; None where none did.

    A round keeps the settings of its judge, but of a prompt its hash alone: where `spec_of` finds the judge
    changed since, the hash stands for the prompt.
    """
    if round_.judge["kind"] in {JudgeKind.LEXICAL, JudgeKind.FUNCTION}:
        return None
    try:
        return _scoring(round_, spec_of(round_))
    except ArenaError:
        return _stored_scoring(round_)


def published_scoring(facts: Mapping[str, str]) -> LlmScoring | None:
    """The judge of a board that was published elsewhere, as its source names it; None where it names none."""
    if not facts.get("judge"):
        return None
    return LlmScoring(
        judges=[JudgeConfig(model_info=_model(facts["judge"]))],
        input_prompt=f"That of the source: {facts.get('source', 'not named')}",
    )


def _scoring(round_: Round, spec: JudgeSpec) -> LlmScoring:
    asked = [leaf for leaf in leaves(spec) if leaf.kind is JudgeKind.LLM]
    weights = dict(zip((member.name for member in spec.members), spec.weights, strict=False))
    weighted = spec.rule is PanelRule.WEIGHTED
    return LlmScoring(
        judges=[
            JudgeConfig(
                model_info=_model(leaf.model),
                temperature=leaf.temperature,
                weight=weights.get(leaf.name),
                additional_details={"judge": leaf.name, "order": leaf.order.value, "votes": f"{leaf.votes}"},
            )
            for leaf in asked
        ],
        input_prompt="\n\n".join(dict.fromkeys(leaf.prompt.text for leaf in asked if leaf.prompt)),
        aggregation_method=("weighted_average" if weighted else "majority_vote") if spec.members else None,
        additional_details=_named(round_),
    )


def _stored_scoring(round_: Round) -> LlmScoring:
    stored = round_.judge
    asked = [member for member in stored["members"] if member["model"]] or [stored]
    hashes = ", ".join(dict.fromkeys(str(judge["prompt"]) for judge in asked))
    return LlmScoring(
        judges=[
            JudgeConfig(model_info=_model(judge["model"]), temperature=judge["temperature"])
            for judge in asked
        ],
        input_prompt=f"The text is no longer there; its sha256: {hashes}",
        additional_details=_named(round_),
    )


def _named(round_: Round) -> dict[str, str]:
    return {"judge": round_.judge_name, "judge_sha256": str(round_.judge["hash"])}


def _model(name: str) -> ModelInfo:
    return ModelInfo(name=name, id=name)
