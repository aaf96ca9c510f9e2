"""Battles, specs and a scripted client."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from data.models import JudgeKind, Passage, Question, Reply
from judges.base import JudgeInput
from judges.llm.requests import CallFailure, Request
from judges.pairwise.prompt import load_prompt
from judges.spec import JudgeSpec, make_spec

Answering = Callable[[Request], str | Reply | CallFailure]
QUESTION = Question(
    id="q1",
    domain="science",
    question="why is the sky blue",
    reference="Air scatters blue light more than red light.",
    passages=(Passage(id="p1", title="Scattering", text="Short waves are scattered more."),),
)


@dataclass
class TellingAsker:
    """Answers every request with a function, and records requests."""

    answering: Answering
    requests: list[Request] = field(default_factory=list)

    async def ask(self, request: Request) -> Reply | CallFailure:
        self.requests.append(request)
        answered = self.answering(request)
        if isinstance(answered, str):
            return Reply(key=request.key, endpoint=request.endpoint, model=request.model, text=answered)
        return replace(answered, key=request.key) if isinstance(answered, Reply) else answered

    @property
    def prompts(self) -> list[str]:
        return [request.messages[-1].content for request in self.requests]


def asker_of(answering: str | Answering) -> TellingAsker:
    """Return an asker with a constant reply, or the replies of a function."""
    return TellingAsker((lambda _: answering) if isinstance(answering, str) else answering)


def contest_of(
    a: str = "Because of scattering.",
    b: str = "The sea reflects.",
    *,
    battle_id: str = "b1",
    question: Question = QUESTION,
    reference_side: str | None = None,
) -> JudgeInput:
    return JudgeInput(
        battle_id=battle_id, question=question, answer_a=a, answer_b=b, reference_side=reference_side
    )


def spec_of(prompt: str = "pairwise", **settings: object) -> JudgeSpec:
    """Return an LLM judge's spec with the bundled prompt."""
    values = {"name": "j", "kind": JudgeKind.LLM, "model": "m", "endpoint": "http://llm.test/v1"}
    return make_spec({**values, "prompt": load_prompt(prompt), **settings})
