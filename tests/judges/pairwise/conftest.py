from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from data.models import JudgeKind, Passage, Question, Reply
from judges.base import JudgeInput
from judges.llm.requests import CallFailure, Request
from judges.pairwise.prompt import load_prompt
from judges.spec import JudgeSpec, make_spec

Answering = Callable[[Request], str | Reply | CallFailure]


@dataclass
class TellingAsker:
    """Answers every request by a function and remembers what it was asked."""

    answering: Answering
    requests: list[Request] = field(default_factory=list)

    async def ask(self, request: Request) -> Reply | CallFailure:
        self.requests.append(request)
        answered = self.answering(request)
        if isinstance(answered, str):
            return Reply(key=request.key, endpoint=request.endpoint, model=request.model, text=answered)
        return replace(answered, key=request.key) if isinstance(answered, Reply) else answered

    @property
    def shown(self) -> list[str]:
        return [request.messages[-1].content for request in self.requests]


@pytest.fixture
def asker_of() -> Callable[[str | Answering], TellingAsker]:
    """Make an asker that always says one thing, or what a function says."""

    def make(answering: str | Answering) -> TellingAsker:
        return TellingAsker((lambda _: answering) if isinstance(answering, str) else answering)

    return make


@pytest.fixture
def question() -> Question:
    return Question(
        id="q1",
        domain="science",
        question="why is the sky blue",
        reference="Air scatters blue light more than red light.",
        passages=(Passage(id="p1", title="Scattering", text="Short waves are scattered more."),),
    )


@pytest.fixture
def contest_of(question: Question) -> Callable[..., JudgeInput]:
    def make(
        a: str = "Because of scattering.",
        b: str = "The sea reflects.",
        *,
        battle_id: str = "b1",
        question: Question = question,
        reference_side: str | None = None,
    ) -> JudgeInput:
        return JudgeInput(
            battle_id=battle_id, question=question, answer_a=a, answer_b=b, reference_side=reference_side
        )

    return make


@pytest.fixture
def spec_of() -> Callable[..., JudgeSpec]:
    """Make an LLM judge's spec with the bundled prompt; every setting can be given."""

    def make(prompt: str = "pairwise", **settings: object) -> JudgeSpec:
        values = {
            "name": "j",
            "kind": JudgeKind.LLM,
            "model": "m",
            "endpoint": "http://llm.test/v1",
            "prompt": load_prompt(prompt),
            **settings,
        }
        return make_spec(values)

    return make
