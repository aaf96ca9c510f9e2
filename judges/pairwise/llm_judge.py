"""LLM judge of one prompt and one model, and settlement of stored judgments."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from statistics import fmean
from typing import Any

from data.errors import ReplayMissError, WorkError
from data.models import (
    GroundTruth,
    JudgeKind,
    Judgment,
    OrderPolicy,
    Outcome,
    Preference,
    Presentation,
    Question,
    Reply,
    Verdict,
)
from judges.base import HERE, JudgeInput, TextWork, failed_verdict, reason_of
from judges.llm.chat_format import as_sent
from judges.llm.costs import reserve_together
from judges.llm.requests import CallFailure, LlmClient, Request
from judges.pairwise.panel import blocking_votes, by_votes, certain_requests, degree, most_retryable, settle
from judges.pairwise.parsing import PARSERS, Choice, Reading, read
from judges.pairwise.prompt import Prompt
from judges.pairwise.rendering import Renderer, Sides, presentations, samples_after, sanitised_sides, uniform
from judges.pairwise.screening import InjectionFinding, gate, inspect
from judges.spec import Cleaning, JudgeSpec, PanelRule, Protection, ReplyFormat

GATE = "gate/1"
MAX_RATIONALE = 100_000
"""Maximum length of a stored rationale; the reply contains the rest."""
AS_IS = "as given"
STRIPPED = "stripped"
_CHOICES = {Choice.FIRST: Preference.A, Choice.SECOND: Preference.B, Choice.NEITHER: Preference.TIE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """Prepared answers of a battle.

    Attributes:
        sides: The answers, cleaned and sanitised.
        gated: Preference if an answer has no content, else None.
        finding: Answers without suspicious parts.
    """

    sides: Sides
    gated: Preference | None
    finding: InjectionFinding


@dataclass(frozen=True, slots=True)
class Preparation:
    """Callable that prepares two answers; a worker process sets it up once."""

    cleaning: Cleaning
    protection: Protection

    def __call__(self, answer_a: str, answer_b: str) -> Prepared:
        """Clean and sanitise two answers and detect attempts to steer the judge."""
        sides = sanitised_sides(self.cleaning, self.protection, answer_a, answer_b)
        full = self.protection is Protection.FULL
        gated = gate(sides) if full else None
        finding = inspect(sides) if full and gated is None else InjectionFinding(sides=sides)
        return Prepared(sides=sides, gated=gated, finding=finding)

    def __reduce__(self) -> "tuple[Callable[..., Preparation], tuple[Cleaning, Protection]]":
        """Set up on unpickling, so that the time limit of the first text does not include it."""
        return _load_preparation, (self.cleaning, self.protection)


@lru_cache
def _load_preparation(cleaning: Cleaning, protection: Protection) -> Preparation:
    preparation = Preparation(cleaning, protection)
    preparation("Yes.", "No.")
    return preparation


@dataclass(slots=True)
class _CallTotals:
    """Total usage of a judgment's calls."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None

    def add(self, result: Reply | CallFailure, calls: int) -> None:
        self.calls += calls
        self.input_tokens += result.input_tokens
        self.output_tokens += result.output_tokens
        if result.cost_usd is not None:
            self.cost_usd = (self.cost_usd or 0.0) + result.cost_usd


@dataclass(frozen=True)
class PairwiseJudge:
    """Settles battles by asking an LLM which of two answers is better.

    Build it with `judges.catalogue.build_judge`.
    """

    spec: JudgeSpec
    prompt: Prompt
    client: LlmClient
    work: TextWork = HERE

    @property
    def name(self) -> str:
        """The name of the judge spec."""
        return self.spec.name

    @cached_property
    def renderer(self) -> Renderer:
        """Renderer of this judge's requests."""
        return Renderer(self.spec, self.prompt)

    @cached_property
    def preparation(self) -> Preparation:
        """Preparation of this judge's answers."""
        return Preparation(self.spec.cleaning, self.spec.protection)

    async def judge(self, judge_input: JudgeInput) -> Verdict:
        """Settle one battle.

        The outcome is `unreadable`, without a judgment, if the ground truth is missing or is one of the two
        answers. A suspicious answer is judged as it is and without the suspicious parts; the latter counts.
        """
        with reserve_together(self._requests):
            return await self._judge(judge_input)

    @cached_property
    def _requests(self) -> Mapping[tuple[str, str], int]:
        return certain_requests(self.spec)

    async def _judge(self, judge_input: JudgeInput) -> Verdict:
        reason = declined(self.spec.ground_truth, judge_input)
        if reason:
            return Verdict(outcome=Outcome.UNREADABLE, detail=reason)
        try:
            prepared = await self.work.do(self.preparation, judge_input.answer_a, judge_input.answer_b)
        except WorkError as error:
            return failed_verdict(error)
        if prepared.gated is not None:
            return self._settle_gated(judge_input, prepared.gated)
        sides, finding = prepared.sides, prepared.finding
        verdict = await self._settle(judge_input, sides, AS_IS)
        if finding.families and verdict.outcome not in {Outcome.SKIPPED, Outcome.FAILED}:
            verdict = await self._rejudge(judge_input, finding, verdict)
        return _with_note(verdict, sanitised_note(sides))

    def _settle_gated(self, judge_input: JudgeInput, preference: Preference) -> Verdict:
        """Settle a battle in which an answer has no content, and so loses or ties."""
        empty = "both answers" if preference is Preference.TIE else f"answer {preference.flipped}"
        judgment = Judgment(
            judge=self.name,
            model=self.spec.model,
            presentation=presentations(judge_input, self.spec.order)[0],
            outcome=Outcome.JUDGED,
            preference=preference,
            rationale=f"No content in {empty}, so the model was not asked.",
            settings=self._settings(AS_IS),
            prompt_hash=self.prompt.hash,
            parser=GATE,
        )
        detail = f"no content in {empty}"
        return Verdict(outcome=Outcome.JUDGED, preference=preference, detail=detail, judgments=(judgment,))

    async def _rejudge(self, judge_input: JudgeInput, finding: InjectionFinding, first: Verdict) -> Verdict:
        """Judge again without the suspicious parts; that verdict counts, with a note."""
        bare = await self._settle(judge_input, finding.sides, STRIPPED)
        same = bare.preference is first.preference
        effect = "the verdict is the same without it" if same else f"with it the verdict was {_word(first)}"
        excerpts = " … ".join(f"“{excerpt}”" for excerpt in finding.excerpts)
        note = f"flagged: {', '.join(finding.families)}; {effect}; seen: {excerpts}"
        return _with_note(replace(bare, judgments=first.judgments + bare.judgments), note)

    async def _settle(self, judge_input: JudgeInput, sides: Sides, text: str) -> Verdict:
        orders = presentations(judge_input, self.spec.order)
        first = await self._in_order(judge_input, sides, orders[0], text)
        both = self.spec.order is OrderPolicy.BOTH
        reason = "" if both else self._second_order(judge_input, first)
        # Without a verdict in the first order, the second would cost money for nothing.
        if not (both or reason) or blocking_votes(first):
            return settle([first], reply_format=self.spec.reply)
        second = await self._in_order(judge_input, sides, orders[0].other, text)
        return settle([first, second], reply_format=self.spec.reply, note=reason)

    def _second_order(self, judge_input: JudgeInput, first: Sequence[Judgment]) -> str:
        if not self.spec.adaptive or any(judgment.outcome is not Outcome.JUDGED for judgment in first):
            return ""
        if uniform(judge_input.battle_id, "audit") < self.spec.swap_audit:
            return "second order: audit"
        if (
            self.spec.swap_margin is not None
            and abs(fmean(degree(judgment) for judgment in first)) <= self.spec.swap_margin
        ):
            return "second order: near a tie"
        return ""

    async def _in_order(
        self, judge_input: JudgeInput, sides: Sides, presentation: Presentation, text: str
    ) -> tuple[Judgment, ...]:
        judgments: list[Judgment] = []
        for vote in range(self.spec.votes):
            judgments.append(await self._vote(judge_input, sides, presentation, text, vote))
            if judgments[-1].outcome in {Outcome.SKIPPED, Outcome.FAILED}:
                break
        texts = {judgment.reply and judgment.reply.text for judgment in judgments}
        if len(judgments) > 1 and self.spec.temperature != 0 and None not in texts and len(texts) == 1:
            note = f"all {len(judgments)} votes are one text: the endpoint may ignore the temperature"
            judgments = [
                replace(judgment, detail="; ".join(filter(None, (judgment.detail, note))))
                for judgment in judgments
            ]
        return tuple(judgments)

    async def _vote(
        self, judge_input: JudgeInput, sides: Sides, presentation: Presentation, text: str, vote: int
    ) -> Judgment:
        totals = _CallTotals()
        build = partial(self.renderer.request, judge_input, sides, presentation)
        reading, replies = await self._ask(build, vote, totals)
        for sample in samples_after(vote):
            # Ask again where an earlier run's cached reply has no verdict.
            if reading.outcome is Outcome.JUDGED or not replies or not replies[-1].cached:
                break
            try:
                reading, replies = await self._ask(build, sample, totals)
            except ReplayMissError:
                break
        preference, margin = in_battle_terms(reading, presentation)
        last = replies[-1] if replies else None
        return Judgment(
            judge=self.name,
            model=last.model if last is not None and last.model else self.spec.model,
            presentation=presentation,
            outcome=reading.outcome,
            preference=preference,
            margin=margin,
            rationale=reading.rationale[:MAX_RATIONALE],
            detail=reading.detail,
            grade=reading.grade,
            settings=self._settings(text, vote, "" if last is None else last.left_out),
            prompt_hash=self.prompt.hash,
            parser=reading.parser,
            calls=totals.calls,
            reply=last,
            earlier=tuple(replies[:-1]),
            input_tokens=totals.input_tokens,
            output_tokens=totals.output_tokens,
            cost_usd=totals.cost_usd,
        )

    async def _ask(
        self, build: Callable[..., Request], sample: int, totals: _CallTotals
    ) -> tuple[Reading, list[Reply]]:
        """Ask until a reply is readable, within the limit of retries."""
        replies: list[Reply] = []
        reading = Reading(outcome=Outcome.FAILED, parser=PARSERS[self.spec.reply])
        for attempt in range(1 + self.spec.reasks):
            result = await self.client.ask(build(sample=sample, again=attempt > 0))
            if isinstance(result, CallFailure):
                totals.add(result, result.calls)
                return self._failed(result), replies
            replies.append(result)
            if not result.cached:
                totals.add(result, 1)
            reading = await self._read(result)
            if reading.outcome is not Outcome.UNREADABLE:
                break
        return reading, replies

    async def _read(self, reply: Reply) -> Reading:
        """Parse a reply; a parser failure counts as failed, with its cost."""
        try:
            return await self.work.do(read, reply, self.spec.reply, self.spec.verdict_words)
        except WorkError as error:
            parser = PARSERS[self.spec.reply]
            return Reading(outcome=Outcome.FAILED, parser=parser, detail=reason_of(error))

    def _failed(self, failure: CallFailure) -> Reading:
        parser = PARSERS[self.spec.reply]
        if self.spec.failures_tie and failure.outcome is not Outcome.SKIPPED:
            detail = f"{failure.outcome}, counted as a tie: {failure.detail}"
            return Reading(outcome=Outcome.JUDGED, parser=parser, choice=Choice.NEITHER, detail=detail)
        return Reading(outcome=failure.outcome, parser=parser, detail=failure.detail)

    def _settings(self, text: str, vote: int = 0, left_out: str = "") -> str:
        settings = {
            "endpoint": self.spec.endpoint,
            "spec": self.spec.hash,
            "text": text,
            "vote": vote,
            **as_sent(self.spec.sampling, left_out),
        }
        return json.dumps(settings, sort_keys=True, separators=(",", ":"))


def sanitised_note(sides: Sides) -> str:
    """Describe the sanitised parts of the answers, or return an empty string."""
    flags = [f"{flag} in a" for flag in sides.flags_a] + [f"{flag} in b" for flag in sides.flags_b]
    return f"sanitised: {', '.join(flags)}" if flags else ""


def _with_note(verdict: Verdict, note: str) -> Verdict:
    return replace(verdict, detail="; ".join(filter(None, (verdict.detail, note))))


def _word(verdict: Verdict) -> str:
    return str(verdict.outcome if verdict.preference is None else verdict.preference)


def declined(ground_truth: GroundTruth, judge_input: JudgeInput) -> str:
    """Return the reason why a judge with this ground truth declines the battle, or an empty string."""
    question = judge_input.question
    if ground_truth is GroundTruth.REFERENCE:
        if judge_input.reference_side is not None:
            return "the reference is one of the two answers, so it cannot also be the ground truth"
        if not has_reference(question):
            return f"question {question.id} has no reference as ground truth"
    if ground_truth is GroundTruth.PASSAGES and not has_passages(question):
        return f"question {question.id} has no passages as ground truth"
    return ""


def has_passages(question: Question) -> bool:
    """Return whether a passage of the question has text."""
    return any(passage.text.strip() for passage in question.passages)


def has_reference(question: Question) -> bool:
    """Return whether the question's reference has text."""
    return bool((question.reference or "").strip())


def in_battle_terms(reading: Reading, presentation: Presentation) -> tuple[Preference | None, float | None]:
    """Convert a reading's choice and margin from first and second to a and b."""
    preference = None if reading.choice is None else _CHOICES[reading.choice]
    if presentation is Presentation.A_FIRST:
        return preference, reading.margin
    return preference and preference.flipped, None if reading.margin is None else -reading.margin


def settled(judge: Mapping[str, Any], judgments: Sequence[Judgment]) -> Verdict | None:
    """Settle judgments again by the rules of a stored judge."""
    if not judgments:
        return None
    names = list(dict.fromkeys(judgment.judge for judgment in judgments))
    members = judge.get("members") or ()
    if judge["kind"] != JudgeKind.PANEL:
        current = _counted(judgments, names[-1])
        return _settle_by_order(current, ReplyFormat(judge.get("reply") or ReplyFormat.RATING))
    verdicts = [
        _settle_by_order(_counted(judgments, name), ReplyFormat(member.get("reply") or ReplyFormat.RATING))
        for name, member in zip(names, members, strict=False)
    ]
    rule = PanelRule(judge.get("rule") or PanelRule.MAJORITY)
    quorum = judge.get("quorum") or len(members)
    preference = by_votes(verdicts, judge.get("weights") or (), quorum=quorum, rule=rule)
    if preference is None:
        return Verdict(
            outcome=most_retryable(verdict.outcome for verdict in verdicts), judgments=tuple(judgments)
        )
    return Verdict(outcome=Outcome.JUDGED, preference=preference, judgments=tuple(judgments))


def _counted(judgments: Sequence[Judgment], judge: str) -> list[Judgment]:
    """Return a judge's judgments of its last attempt, without suspicious parts if there are such judgments.

    Battles keep earlier attempts. A new attempt begins where the same order, text and vote repeat, or where
    the hash of the judge's spec changes.
    """
    last: dict[tuple[str, str, int], Judgment] = {}
    state = None
    for judgment in judgments:
        if judgment.judge != judge:
            continue
        settings = json.loads(judgment.settings or "{}")
        key = (settings.get("text", ""), judgment.presentation.value, settings.get("vote", 0))
        if key in last or settings.get("spec") != state:
            last.clear()
        state = settings.get("spec")
        last[key] = judgment
    stripped = [judgment for key, judgment in last.items() if key[0] == STRIPPED]
    return stripped or list(last.values())


def _settle_by_order(judgments: Sequence[Judgment], reply_format: ReplyFormat) -> Verdict:
    orders = dict.fromkeys(judgment.presentation for judgment in judgments)
    return settle(
        [[judgment for judgment in judgments if judgment.presentation is order] for order in orders],
        reply_format=reply_format,
    )
