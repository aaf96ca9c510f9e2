"""From a judge spec to a judge that can be asked."""

from __future__ import annotations

from importlib import import_module

from data.errors import SpecError
from data.records import JudgeKind
from judges.base import Judge
from judges.llm.requests import Asker
from judges.pairwise import PairwiseJudge
from judges.panel import PanelJudge
from judges.spec import JudgeSpec


def build_judge(spec: JudgeSpec, *, asker: Asker | None = None) -> Judge:
    """Build the judge of a spec.

    Args:
        spec: What decides; `spec.at(endpoint)` fills in the endpoint of the settings first.
        asker: What sends requests; the lexical judge needs none.

    Raises:
        SpecError: The judge asks an LLM and there is nothing to ask with, or no endpoint.
    """
    match spec.kind:
        case JudgeKind.LEXICAL:
            judge: Judge = import_module("judges.lexical").LexicalJudge(spec)
            return judge
        case JudgeKind.PANEL:
            return PanelJudge(spec, tuple(build_judge(member, asker=asker) for member in spec.members))
        case JudgeKind.LLM:
            return _pairwise(spec, asker)


def _pairwise(spec: JudgeSpec, asker: Asker | None) -> PairwiseJudge:
    if asker is None or spec.prompt is None:
        message = f"Judge {spec.name} asks an LLM and there is nothing to ask with."
        raise SpecError(message, advice="Give an asker, or use the lexical judge, which needs no network.")
    if not spec.endpoint:
        message = f"Judge {spec.name} has no endpoint."
        raise SpecError(message, advice="Set OPENAI_BASE_URL, or `endpoint` in the judge spec.")
    return PairwiseJudge(spec, spec.prompt, asker)
