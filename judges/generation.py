"""Answer generation: the task of the paper's systems, a question and its passages in, an answer out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from data.errors import SpecError
from data.no_answer import is_no_answer
from data.records import Answer, Outcome, Passage, Question, Reply
from judges.llm.requests import CallFailure, LlmClient, Message, Request, Sampling
from judges.pairwise.cleaning import clean, split_thinking
from judges.pairwise.prompt import Prompt, fill, load_prompt
from judges.pairwise.rendering import passage_blocks, passage_text
from judges.protection.sanitise import delimit, mark_of, sanitise
from judges.spec import Cleaning

DEFAULT_PROMPT = "generate"
COMPREHENSIVE_PROMPT = "generate-comprehensive"
PAPER_PASSAGES = 5
MOST_TOKENS = 512
UNCLOSED = ("<thinking>", "<think>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """How answers are generated.

    Attributes:
        model: The LLM's name at the endpoint.
        endpoint: Base URL of an OpenAI-compatible endpoint.
        passages: How many of a question's passages are shown, first ones first (the paper: 5 or 10).
        thinking: Whether the model thinks first; the paper did without for GPT-4o alone.
        sampling: The settings that shape a reply.
        prompt: What is asked; by default the paper's task in our words.
    """

    model: str
    endpoint: str
    passages: int = PAPER_PASSAGES
    thinking: bool = True
    sampling: Sampling = field(default_factory=lambda: Sampling(max_tokens=MOST_TOKENS))
    prompt: Prompt = field(default_factory=lambda: load_prompt(DEFAULT_PROMPT))

    def __post_init__(self) -> None:
        if self.passages < 1:
            message = f"An answer cannot be generated from {self.passages} passages."
            raise SpecError(message, advice="Show at least one passage, as with --passages 5.")
        if not self.prompt.section("task"):
            message = f"Prompt {self.prompt.name} asks for no answer: it has no `## task` section."
            raise SpecError(message, advice="Write one with {question} and {passages}.")

    def request(self, question: Question) -> Request:
        """The request of one question; of a study's own prompt the bytes, with the texts as they are."""
        messages = self._messages(question) if self.prompt.literal is None else self._literal(question)
        return Request(
            endpoint=self.endpoint,
            model=self.model,
            messages=messages,
            sampling=self.sampling,
            keeps_thinking=True,
        )

    def _literal(self, question: Question) -> tuple[Message, ...]:
        prompt = self.prompt.literal
        if prompt is None:
            return ()
        content = prompt.fill({"question": question.question}, self.shown(question))
        return (*(Message(role, text) for role, text in prompt.messages), Message("user", content))

    def _messages(self, question: Question) -> tuple[Message, ...]:
        texts = [sanitise(passage_text(passage)).text for passage in self.shown(question)]
        question_text = sanitise(question.question).text
        prompt = self.prompt
        mark = mark_of(prompt.hash, question_text, *texts)
        values = {
            "question": delimit("question", question_text, mark),
            "passages": passage_blocks(texts, mark),
        }
        content = fill(prompt.section("task"), values)
        if self.thinking and prompt.section("thinking"):
            content = f"{content}\n\n{prompt.section('thinking')}"
        system = prompt.section("system")
        return (*([Message("system", system)] if system else []), Message("user", content))

    def shown(self, question: Question) -> tuple[Passage, ...]:
        """The passages of a question that are shown."""
        return question.passages[: self.passages]


@dataclass(frozen=True, slots=True, kw_only=True)
class Generated:
    """What came of one question.

    `answer` is there exactly when `outcome` is `judged`; `no_answer` says that it is a "no answer" reply.
    """

    question_id: str
    outcome: Outcome
    answer: Answer | None = None
    no_answer: bool = False
    detail: str = ""
    reply: Reply | None = None


@dataclass(frozen=True)
class AnswerGenerator:
    """Generates answers with one LLM."""

    settings: Generation
    client: LlmClient

    async def generate(self, question: Question) -> Generated:
        """Answer one question from its passages; the answer is cleaned as in the paper, its thinking kept.

        Raises:
            JudgeError: Asking as a whole cannot go on.
        """
        if not self.settings.shown(question):
            detail = f"question {question.id} has no passages to answer from"
            return Generated(question_id=question.id, outcome=Outcome.MISSING, detail=detail)
        reply = await self.client.ask(self.settings.request(question))
        if isinstance(reply, CallFailure):
            return Generated(question_id=question.id, outcome=reply.outcome, detail=reply.detail)
        thinking, rest = split_thinking(reply.text)
        text = clean(rest, Cleaning.COMPAT).strip()
        cut_off = reply.finish_reason == "length"
        if not text or text.startswith(UNCLOSED) or (cut_off and any(tag in text for tag in UNCLOSED)):
            detail = (
                "the reply was cut off before the answer" if cut_off else "the reply holds no answer text"
            )
            return Generated(question_id=question.id, outcome=Outcome.UNREADABLE, detail=detail, reply=reply)
        return Generated(
            question_id=question.id,
            outcome=Outcome.JUDGED,
            answer=Answer(
                question_id=question.id,
                answer=text,
                contexts=self.settings.shown(question),
                thinking="\n\n".join(filter(None, (reply.thinking or "", thinking))),
            ),
            no_answer=is_no_answer(text),
            detail="the answer was cut off at its token limit" if cut_off else "",
            reply=reply,
        )


def no_answer_share(answers: Iterable[str]) -> float | None:
    """The share of answers that say that none was found (Table 9 of the paper); None without answers."""
    no_answers = [is_no_answer(answer) for answer in answers]
    return sum(no_answers) / len(no_answers) if no_answers else None
