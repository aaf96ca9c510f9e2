"""The LLM judge: one prompt, one model, a verdict a battle, also of stored judgments."""

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
from judges.base import HERE, JudgeInput, TextWork, reason_of, undone
from judges.llm.chat_format import as_sent
from judges.llm.costs import paid_whole
from judges.llm.requests import CallFailure, LlmClient, Request
from judges.pairwise.panel import blocking_votes, by_votes, certain_requests, degree, most_retryable, settle
from judges.pairwise.parsing import PARSERS, Choice, Reading, read
from judges.pairwise.prompt import Prompt
from judges.pairwise.rendering import Renderer, Sides, harmless_sides, presentations, samples_after, uniform
from judges.pairwise.screening import InjectionFinding, gate, inspect
from judges.spec import Cleaning, JudgeSpec, PanelRule, Protection, ReplyFormat

GATE = "gate/1"
MAX_RATIONALE = 100_000
"""Characters of a rationale that are kept; the reply has the rest."""
AS_IS = "as given"
STRIPPED = "stripped"
_CHOICES = {Choice.FIRST: Preference.A, Choice.SECOND: Preference.B, Choice.NEITHER: Preference.TIE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """Both answers of a battle before a judge is asked.

    Attributes:
        sides: The answers, cleaned and sanitised.
        gated: The preference where an answer has no content; None where both have some.
        finding: The answers without what seems to steer the judge.
    """

    sides: Sides
    gated: Preference | None
    finding: InjectionFinding


@dataclass(frozen=True, slots=True)
class Preparation:
    """Prepares pairs of answers alike; where it is sent to another process, that is made ready first."""

    cleaning: Cleaning
    protection: Protection

    def __call__(self, answer_a: str, answer_b: str) -> Prepared:
        """Clean two answers, sanitise them, and look for attempts to steer the judge."""
        sides = harmless_sides(self.cleaning, self.protection, answer_a, answer_b)
        full = self.protection is Protection.FULL
        gated = gate(sides) if full else None
        finding = inspect(sides) if full and gated is None else InjectionFinding(sides=sides)
        return Prepared(sides=sides, gated=gated, finding=finding)

    def __reduce__(self) -> "tuple[Callable[..., Preparation], tuple[Cleaning, Protection]]":
        """Pickle without the lazy set-up, whose time would count as that of a first text."""
        return _ready_preparation, (self.cleaning, self.protection)


@lru_cache
def _ready_preparation(cleaning: Cleaning, protection: Protection) -> Preparation:
    ready = Preparation(cleaning, protection)
    ready("Yes.", "No.")
    return ready


@dataclass(slots=True)
class _CallTotals:
    """Usage of one judgment's calls, with or without a reply."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None

    def add(self, answered: Reply | CallFailure, calls: int) -> None:
        self.calls += calls
        self.input_tokens += answered.input_tokens
        self.output_tokens += answered.output_tokens
        if answered.cost_usd is not None:
            self.cost_usd = (self.cost_usd or 0.0) + answered.cost_usd


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

        A judge that cannot decide the battle (its ground truth is missing, or is one of the two answers)
        declines it: `unreadable`, with the reason and without a judgment. An answer that seems to
        steer the judge is judged as given and again without the suspicious parts, and the latter counts.
        """
        with paid_whole(self._asks):
            return await self._judge(judge_input)

    @cached_property
    def _asks(self) -> Mapping[tuple[str, str], int]:
        return certain_requests(self.spec)

    async def _judge(self, judge_input: JudgeInput) -> Verdict:
        reason = declined(self.spec.ground_truth, judge_input)
        if reason:
            return Verdict(outcome=Outcome.UNREADABLE, detail=reason)
        try:
            prepared = await self.work.do(self.preparation, judge_input.answer_a, judge_input.answer_b)
        except WorkError as error:
            return undone(error)
        if prepared.gated is not None:
            return self._gated(judge_input, prepared.gated)
        sides, finding = prepared.sides, prepared.finding
        verdict = await self._settle(judge_input, sides, AS_IS)
        if finding.families and verdict.outcome not in {Outcome.SKIPPED, Outcome.FAILED}:
            verdict = await self._rejudged(judge_input, finding, verdict)
        return _noted(verdict, sanitised_note(sides))

    def _gated(self, judge_input: JudgeInput, preference: Preference) -> Verdict:
        """Return the verdict where an answer has no content at all: it loses to one that has some."""
        empty = "both answers" if preference is Preference.TIE else f"answer {preference.flipped}"
        judgment = Judgment(
            judge=self.name,
            model=self.spec.model,
            presentation=presentations(judge_input, self.spec.order)[0],
            outcome=Outcome.JUDGED,
            preference=preference,
            rationale=f"There is no content in {empty}, so the model was not asked.",
            settings=self._settings(AS_IS),
            prompt_hash=self.prompt.hash,
            parser=GATE,
        )
        detail = f"no content in {empty}"
        return Verdict(outcome=Outcome.JUDGED, preference=preference, detail=detail, judgments=(judgment,))

    async def _rejudged(self, judge_input: JudgeInput, finding: InjectionFinding, first: Verdict) -> Verdict:
        """Judge again without the suspicious parts; that verdict counts, and the flag is kept."""
        bare = await self._settle(judge_input, finding.sides, STRIPPED)
        same = bare.preference is first.preference
        effect = "the verdict is the same without it" if same else f"with it the verdict was {_word(first)}"
        excerpts = " … ".join(f"“{excerpt}”" for excerpt in finding.excerpts)
        note = f"flagged: {', '.join(finding.families)}; {effect}; seen: {excerpts}"
        return _noted(replace(bare, judgments=first.judgments + bare.judgments), note)

    async def _settle(self, judge_input: JudgeInput, sides: Sides, text: str) -> Verdict:
        orders = presentations(judge_input, self.spec.order)
        first = await self._in_order(judge_input, sides, orders[0], text)
        both = self.spec.order is OrderPolicy.BOTH
        reason = "" if both else self._second_order(judge_input, first)
        # What has no verdict in one order has none at all, so that the other would be paid for in vain.
        if not (both or reason) or blocking_votes(first):
            return settle([first], reply_format=self.spec.reply)
        second = await self._in_order(judge_input, sides, orders[0].other, text)
        return settle([first, second], reply_format=self.spec.reply, note=reason)

    def _second_order(self, judge_input: JudgeInput, first: Sequence[Judgment]) -> str:
        """Return the reason for asking in the swapped order too; empty without one."""
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
            same = f"all {len(judgments)} votes are one text: the endpoint may ignore the temperature"
            judgments = [
                replace(each, detail="; ".join(filter(None, (each.detail, same)))) for each in judgments
            ]
        return tuple(judgments)

    async def _vote(
        self, judge_input: JudgeInput, sides: Sides, presentation: Presentation, text: str, vote: int
    ) -> Judgment:
        paid = _CallTotals()
        asked = partial(self.renderer.request, judge_input, sides, presentation)
        reading, replies = await self._ask(asked, vote, paid)
        for sample in samples_after(vote):
            # A reply of an earlier run that gave no verdict is asked for anew.
            if reading.outcome is Outcome.JUDGED or not replies or not replies[-1].cached:
                break
            try:
                reading, replies = await self._ask(asked, sample, paid)
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
            calls=paid.calls,
            reply=last,
            earlier=tuple(replies[:-1]),
            input_tokens=paid.input_tokens,
            output_tokens=paid.output_tokens,
            cost_usd=paid.cost_usd,
        )

    async def _ask(
        self, asked: Callable[..., Request], sample: int, paid: _CallTotals
    ) -> tuple[Reading, list[Reply]]:
        """Ask until a reply is readable, as often as the judge may."""
        replies: list[Reply] = []
        reading = Reading(outcome=Outcome.FAILED, parser=PARSERS[self.spec.reply])
        for attempt in range(1 + self.spec.reasks):
            answered = await self.client.ask(asked(sample=sample, again=attempt > 0))
            if isinstance(answered, CallFailure):
                paid.add(answered, answered.calls)
                return self._unanswered(answered), replies
            replies.append(answered)
            if not answered.cached:
                paid.add(answered, 1)
            reading = await self._read(answered)
            if reading.outcome is not Outcome.UNREADABLE:
                break
        return reading, replies

    async def _read(self, reply: Reply) -> Reading:
        """Parse a reply; one that cannot be used counts as failed, with its cost."""
        try:
            return await self.work.do(read, reply, self.spec.reply, self.spec.verdict_words)
        except WorkError as error:
            parser = PARSERS[self.spec.reply]
            return Reading(outcome=Outcome.FAILED, parser=parser, detail=reason_of(error))

    def _unanswered(self, unanswered: CallFailure) -> Reading:
        parser = PARSERS[self.spec.reply]
        if self.spec.failures_tie and unanswered.outcome is not Outcome.SKIPPED:
            detail = f"{unanswered.outcome}, counted as a tie: {unanswered.detail}"
            return Reading(outcome=Outcome.JUDGED, parser=parser, choice=Choice.NEITHER, detail=detail)
        return Reading(outcome=unanswered.outcome, parser=parser, detail=unanswered.detail)

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
    """Describe what was sanitised in the answers; empty where nothing was."""
    flags = [f"{flag} in a" for flag in sides.flags_a] + [f"{flag} in b" for flag in sides.flags_b]
    return f"made harmless: {', '.join(flags)}" if flags else ""


def _noted(verdict: Verdict, note: str) -> Verdict:
    return replace(verdict, detail="; ".join(filter(None, (verdict.detail, note))))


def _word(verdict: Verdict) -> str:
    return str(verdict.outcome if verdict.preference is None else verdict.preference)


def declined(ground_truth: GroundTruth, judge_input: JudgeInput) -> str:
    """Return the reason why a judge with this ground truth declines the battle; empty where it does not."""
    question = judge_input.question
    if ground_truth is GroundTruth.REFERENCE:
        if judge_input.reference_side is not None:
            return "the reference is one of the two answers, so it cannot be the ground truth as well"
        if not has_reference(question):
            return f"question {question.id} has no reference to be the ground truth"
    if ground_truth is GroundTruth.PASSAGES and not has_passages(question):
        return f"question {question.id} has no passages to be the ground truth"
    return ""


def has_passages(question: Question) -> bool:
    """Return whether a passage of the question has text."""
    return any(passage.text.strip() for passage in question.passages)


def has_reference(question: Question) -> bool:
    """Return whether the question's reference has text."""
    return bool((question.reference or "").strip())


def in_battle_terms(reading: Reading, presentation: Presentation) -> tuple[Preference | None, float | None]:
    """Return a reading's choice and margin, its first and second turned into a and b."""
    preference = None if reading.choice is None else _CHOICES[reading.choice]
    if presentation is Presentation.A_FIRST:
        return preference, reading.margin
    return preference and preference.flipped, None if reading.margin is None else -reading.margin


def settled(judge: Mapping[str, Any], judgments: Sequence[Judgment]) -> Verdict | None:
    """Return the verdict that judgments settle by the rules of a judge as a round has written it down."""
    if not judgments:
        return None
    names = list(dict.fromkeys(judgment.judge for judgment in judgments))
    members = judge.get("members") or ()
    if judge["kind"] != JudgeKind.PANEL:
        counted = _counted(judgments, names[-1])
        return _settled_by_order(counted, ReplyFormat(judge.get("reply") or ReplyFormat.RATING))
    verdicts = [
        _settled_by_order(_counted(judgments, name), ReplyFormat(member.get("reply") or ReplyFormat.RATING))
        for name, member in zip(names, members, strict=False)
    ]
    rule = PanelRule(judge.get("rule") or PanelRule.MAJORITY)
    quorum = judge.get("quorum") or len(members)
    preference = by_votes(verdicts, judge.get("weights") or (), quorum=quorum, rule=rule)
    if preference is None:
        return Verdict(outcome=most_retryable(one.outcome for one in verdicts), judgments=tuple(judgments))
    return Verdict(outcome=Outcome.JUDGED, preference=preference, judgments=tuple(judgments))


def _counted(judgments: Sequence[Judgment], judge: str) -> list[Judgment]:
    """Return the judgments of one judge that count: of the last attempt, those without suspicious parts.

    A battle that was tried again keeps what was tried before. An attempt begins where an order, text and vote
    come again, or with another state of the judge; one may ask less than the one before it did.
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


def _settled_by_order(judgments: Sequence[Judgment], reply_format: ReplyFormat) -> Verdict:
    orders = dict.fromkeys(judgment.presentation for judgment in judgments)
    return settle(
        [[judgment for judgment in judgments if judgment.presentation is order] for order in orders],
        reply_format=reply_format,
    )
