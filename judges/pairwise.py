"""The LLM judge: one prompt, one model, a verdict a battle."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean

from data.records import (
    Judgment,
    OrderPolicy,
    Outcome,
    Preference,
    Presentation,
    Reply,
    Verdict,
    Yardstick,
)
from judges.base import Contest
from judges.guard import Suspicion, gate, inspect
from judges.llm.requests import Asker, Unanswered
from judges.orders import presentations, uniform
from judges.prompt import Prompt
from judges.rendering import Renderer, Sides
from judges.replies import PARSERS, Choice, Reading, read
from judges.settling import degree, settle
from judges.spec import JudgeSpec, Protection

GATE = "gate/1"
AS_IS = "as given"
STRIPPED = "stripped"
_CHOICES = {Choice.FIRST: Preference.A, Choice.SECOND: Preference.B, Choice.NEITHER: Preference.TIE}


@dataclass(slots=True)
class _Paid:
    """What the calls of one judgment took, whether they brought a reply or not."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None

    def add(self, answered: Reply | Unanswered, calls: int) -> None:
        self.calls += calls
        self.input_tokens += answered.input_tokens
        self.output_tokens += answered.output_tokens
        if answered.cost_usd is not None:
            self.cost_usd = (self.cost_usd or 0.0) + answered.cost_usd


@dataclass(frozen=True)
class PairwiseJudge:
    """Settles battles by asking an LLM which of two answers is better.

    Build it with `judges.factory.build_judge`.
    """

    spec: JudgeSpec
    prompt: Prompt
    asker: Asker

    @property
    def name(self) -> str:
        """The name of the judge spec."""
        return self.spec.name

    @cached_property
    def renderer(self) -> Renderer:
        """What turns this judge's battles into requests."""
        return Renderer(self.spec, self.prompt)

    async def judge(self, contest: Contest) -> Verdict:
        """Settle one battle.

        A judge that cannot decide the battle (its yardstick is missing, or is one of the two answers)
        declines it: `unreadable`, with the reason and without a judgment. An answer that seems to
        steer the judge is judged as given and again without the suspicious parts, and the latter counts.

        Raises:
            JudgeError: Judging as a whole cannot go on.
        """
        reason = declined(self.spec.yardstick, contest)
        if reason:
            return Verdict(outcome=Outcome.UNREADABLE, detail=reason)
        sides = self.renderer.sides(contest)
        gated = self._gated(contest, sides)
        if gated is not None:
            return gated
        found = inspect(sides) if self.spec.protection is Protection.FULL else Suspicion(sides=sides)
        verdict = await self._settle(contest, sides, AS_IS)
        if found.families and verdict.outcome not in {Outcome.SKIPPED, Outcome.FAILED}:
            verdict = await self._rejudged(contest, found, verdict)
        return _noted(verdict, harmless(sides))

    def _gated(self, contest: Contest, sides: Sides) -> Verdict | None:
        """The verdict where an answer has no content at all: it loses to one that has some."""
        preference = gate(sides) if self.spec.protection is Protection.FULL else None
        if preference is None:
            return None
        empty = "both answers" if preference is Preference.TIE else f"answer {preference.flipped}"
        judgment = Judgment(
            judge=self.name,
            model=self.spec.model,
            presentation=presentations(contest, self.spec.order)[0],
            outcome=Outcome.JUDGED,
            preference=preference,
            rationale=f"There is no content in {empty}, so the model was not asked.",
            settings=self._settings(AS_IS),
            prompt_hash=self.prompt.hash,
            parser=GATE,
        )
        detail = f"no content in {empty}"
        return Verdict(outcome=Outcome.JUDGED, preference=preference, detail=detail, judgments=(judgment,))

    async def _rejudged(self, contest: Contest, found: Suspicion, given: Verdict) -> Verdict:
        """Judge again without the suspicious parts; that verdict counts, and the flag is kept."""
        bare = await self._settle(contest, found.sides, STRIPPED)
        same = bare.preference is given.preference
        effect = "the verdict is the same without it" if same else f"with it the verdict was {_word(given)}"
        note = f"flagged: {', '.join(found.families)}; {effect}"
        return _noted(replace(bare, judgments=given.judgments + bare.judgments), note)

    async def _settle(self, contest: Contest, sides: Sides, text: str) -> Verdict:
        orders = presentations(contest, self.spec.order)
        first = await self._in_order(contest, sides, orders[0], text)
        reason = "" if self.spec.order is OrderPolicy.BOTH else self._second_order(contest, first)
        if self.spec.order is not OrderPolicy.BOTH and not reason:
            return settle([first], reply_format=self.spec.reply)
        if all(judgment.outcome is Outcome.SKIPPED for judgment in first):
            return settle([first], reply_format=self.spec.reply)
        second = await self._in_order(contest, sides, orders[0].other, text)
        return settle([first, second], reply_format=self.spec.reply, note=reason)

    def _second_order(self, contest: Contest, first: Sequence[Judgment]) -> str:
        """Why the swapped order is asked too, empty where it is not."""
        if not self.spec.adaptive or any(judgment.outcome is not Outcome.JUDGED for judgment in first):
            return ""
        if uniform(contest.battle_id, "audit") < self.spec.swap_audit:
            return "second order: audit"
        if (
            self.spec.swap_margin is not None
            and abs(fmean(degree(one) for one in first)) <= self.spec.swap_margin
        ):
            return "second order: near a tie"
        return ""

    async def _in_order(
        self, contest: Contest, sides: Sides, presentation: Presentation, text: str
    ) -> tuple[Judgment, ...]:
        """One judgment a vote, up to the first that the budget or a failure stops."""
        judgments: list[Judgment] = []
        for vote in range(self.spec.votes):
            judgments.append(await self._vote(contest, sides, presentation, text, vote))
            if judgments[-1].outcome in {Outcome.SKIPPED, Outcome.FAILED}:
                break
        return tuple(judgments)

    async def _vote(
        self, contest: Contest, sides: Sides, presentation: Presentation, text: str, vote: int
    ) -> Judgment:
        paid, last = _Paid(), None
        reading = Reading(outcome=Outcome.FAILED, parser=PARSERS[self.spec.reply])
        for attempt in range(1 + self.spec.reasks):
            request = self.renderer.request(contest, sides, presentation, sample=vote, again=attempt > 0)
            answered = await self.asker.ask(request)
            if isinstance(answered, Unanswered):
                paid.add(answered, answered.calls)
                reading = self._unanswered(answered)
                break
            last = answered
            if not answered.cached:
                paid.add(answered, 1)
            reading = read(answered, self.spec.reply)
            if reading.outcome is not Outcome.UNREADABLE:
                break
        preference, margin = in_battle_terms(reading, presentation)
        return Judgment(
            judge=self.name,
            model=last.model if last is not None and last.model else self.spec.model,
            presentation=presentation,
            outcome=reading.outcome,
            preference=preference,
            margin=margin,
            rationale=reading.rationale,
            detail=reading.detail,
            grade=reading.grade,
            settings=self._settings(text, vote),
            prompt_hash=self.prompt.hash,
            parser=reading.parser,
            calls=paid.calls,
            reply=last,
            input_tokens=paid.input_tokens,
            output_tokens=paid.output_tokens,
            cost_usd=paid.cost_usd,
        )

    def _unanswered(self, unanswered: Unanswered) -> Reading:
        parser = PARSERS[self.spec.reply]
        if self.spec.failures_tie and unanswered.outcome is not Outcome.SKIPPED:
            detail = f"{unanswered.outcome}, counted as a tie: {unanswered.detail}"
            return Reading(outcome=Outcome.JUDGED, parser=parser, choice=Choice.NEITHER, detail=detail)
        return Reading(outcome=unanswered.outcome, parser=parser, detail=unanswered.detail)

    def _settings(self, text: str, vote: int = 0) -> str:
        """What shaped a judgment beside its prompt, as canonical JSON; made once for each text and vote."""
        known = self._known_settings
        if (text, vote) not in known:
            known[text, vote] = self._described(text, vote)
        return known[text, vote]

    @cached_property
    def _known_settings(self) -> dict[tuple[str, int], str]:
        return {}

    def _described(self, text: str, vote: int) -> str:
        sampling = self.spec.sampling
        settings = {
            "endpoint": self.spec.endpoint,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "max_tokens": sampling.max_tokens,
            "seed": sampling.seed,
            "spec": self.spec.hash,
            "text": text,
            "vote": vote,
        }
        return json.dumps(settings, sort_keys=True, separators=(",", ":"))


def harmless(sides: Sides) -> str:
    """What was made harmless in the answers, empty where nothing was."""
    found = [f"{flag} in a" for flag in sides.flags_a] + [f"{flag} in b" for flag in sides.flags_b]
    return f"made harmless: {', '.join(found)}" if found else ""


def _noted(verdict: Verdict, note: str) -> Verdict:
    return (
        replace(verdict, detail="; ".join(part for part in (verdict.detail, note) if part))
        if note
        else verdict
    )


def _word(verdict: Verdict) -> str:
    return str(verdict.outcome if verdict.preference is None else verdict.preference)


def declined(yardstick: Yardstick, contest: Contest) -> str:
    """Why a judge with this yardstick cannot decide the battle, empty where it can."""
    question = contest.question
    if yardstick is Yardstick.REFERENCE:
        if contest.reference_side is not None:
            return "the reference is one of the two answers, so it cannot be the yardstick as well"
        if not (question.reference or "").strip():
            return f"question {question.id} has no reference to be the yardstick"
    if yardstick is Yardstick.PASSAGES and not any(passage.text.strip() for passage in question.passages):
        return f"question {question.id} has no passages to be the yardstick"
    return ""


def in_battle_terms(reading: Reading, presentation: Presentation) -> tuple[Preference | None, float | None]:
    """A reading's choice and margin, its first and second turned into a and b."""
    preference = None if reading.choice is None else _CHOICES[reading.choice]
    if presentation is Presentation.A_FIRST:
        return preference, reading.margin
    return preference and preference.flipped, None if reading.margin is None else -reading.margin
