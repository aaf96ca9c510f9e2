"""Rounds in waves: proxy judges decide every battle, the round's own judge a sample, drawn in waves."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from arena.services.rounds.models import LoadSpec, PlannedRound
from data.errors import InputError
from data.records import (
    CheapCounts,
    CheapKind,
    PlannedBattle,
    Round,
    WavesEnd,
)
from data.records.plain import to_json
from data.records.waves import SHARES
from data.store import Store
from data.store.rounds.waves import CheapShares

WAVES = "waves"
"""The key in a round's plan."""
EARLIER = "round:"
REMOVED = re.compile(r"trained(:.*)?")
SPEND = re.compile(r"(?P<verdicts>\d+)|(?P<share>\d+(?:\.\d+)?)%|(?P<usd>\d+(?:\.\d+)?) ?USD", re.IGNORECASE)
LEAST_SPEND = 10
PER_CENT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class CheapJudge:
    """What stands in for the round's own judge: by name, and with its spec where it is a judge."""

    name: str
    kind: CheapKind
    spec: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WaveSettings:
    """What an organiser asks of a round in waves.

    Attributes:
        cheap: Its proxy judges.
        verdicts: The most battles that the round's own judge is asked about; None without such an end.
        usd: What the round may cost in all, as far as can be foreseen; None without such an end.
        target_width: Rating points; None without such an end.
        ask: What is asked, in the words of the command line.
    """

    cheap: tuple[CheapJudge, ...]
    verdicts: int | None
    usd: float | None
    target_width: float | None
    ask: str

    def as_json(self) -> dict[str, Any]:
        """The settings as the round's plan keeps them."""
        return to_json(self)


def waves_of(round_: Round) -> WaveSettings | None:
    """The settings of a round in waves; None of a round that judges everything."""
    stored = round_.plan.get(WAVES)
    if stored is None:
        return None
    settings: WaveSettings = TypeAdapter(WaveSettings).validate_python(stored)
    return settings


def settings_of(store: Store, planned: PlannedRound, *, load_spec: LoadSpec) -> WaveSettings | None:
    """What a request asks of a round in waves; None where it judges everything.

    Raises:
        InputError: The spend or what is asked cannot be read, or a named system has no battle.
        NotFoundError: There is no such judge or round.
    """
    request = planned.request
    if not request.cheap_judges:
        return None
    from leaderboard.sampling.asks import Ask  # noqa: PLC0415 - loads tables, which judging does without

    pair = Ask.parse(request.ask).pair
    names = {entrant.system for entrant in planned.entrants}
    names.add(planned.summary.reference_name)
    absent = [name for name in pair or () if name not in names]
    if absent:
        message = f"The round has no system {', '.join(absent)}."
        raise InputError(message, advice=f"Ask about two of {', '.join(sorted(names))}.")
    open_battles = sum(battle.outcome is None for battle in planned.plan.battles)
    verdicts, usd = _spend(request.spend, open_battles)
    cheap = tuple(_cheap_judge(store, name, load_spec) for name in dict.fromkeys(request.cheap_judges))
    return WaveSettings(
        cheap=cheap, verdicts=verdicts, usd=usd, target_width=request.target_width, ask=request.ask
    )


def _spend(text: str | None, battles: int) -> tuple[int | None, float | None]:
    """Verdicts or USD of `500`, `10%` or `20USD`."""
    if text is None:
        return None, None
    matched = SPEND.fullmatch(text.strip())
    if matched is None:
        message = f"{text!r} is nothing to spend."
        raise InputError(message, advice="Use verdicts (500), a share (10%) or money (20USD).")
    if matched["usd"]:
        return None, float(matched["usd"])
    verdicts = (
        int(matched["verdicts"])
        if matched["verdicts"]
        else round(float(matched["share"]) * battles / PER_CENT)
    )
    if verdicts < LEAST_SPEND:
        message = (
            f"{text} of {battles:,} battles are {verdicts} verdicts, from which nothing can be estimated."
        )
        raise InputError(message, advice=f"Spend {LEAST_SPEND} verdicts or more.")
    return min(verdicts, battles), None


def _cheap_judge(store: Store, name: str, load_spec: LoadSpec) -> CheapJudge:
    if REMOVED.fullmatch(name):
        message = f"{name!r}: trained cheap judges were removed."
        raise InputError(
            message, advice="Name a judge, such as `lexical`, or an earlier round as `round:NAME`."
        )
    if name.startswith(EARLIER):
        store.rounds.get(name.removeprefix(EARLIER))
        return CheapJudge(name=name, kind=CheapKind.ROUND)
    spec = load_spec(name)
    stored = {"source": name, "hash": spec.hash, **spec.canonical}
    return CheapJudge(name=spec.name, kind=CheapKind.JUDGE, spec=stored)


def known_verdicts(
    store: Store, settings: WaveSettings, battles: Sequence[PlannedBattle]
) -> list[CheapShares | None]:
    """For each proxy judge what it is known to say; None where the judge is to be asked.

    Raises:
        InputError: An earlier round judged none of the battles.
    """
    keys = {battle.key for battle in battles}
    known: list[CheapShares | None] = []
    for judge in settings.cheap:
        if judge.kind is CheapKind.JUDGE:
            known.append(None)
            continue
        earlier = shares_of_round(store, judge.name.removeprefix(EARLIER), keys)
        if not earlier:
            message = f"{judge.name} judged none of the round's battles."
            raise InputError(message, advice="Name a round on the same set, version and systems.")
        known.append(earlier)
    return known


def shares_of_round(store: Store, name: str, keys: Container[str]) -> CheapShares:
    """Side a's shares of the win of those battles with these keys that a round judged."""
    return {
        battle.key: SHARES[battle.preference] if battle.score is None else battle.score
        for battle in store.verdicts.battles(name)
        if battle.preference is not None and battle.key in keys
    }


def go_on(store: Store, round_: Round) -> int:
    """Let a round whose cap ended it draw waves again, and return how many battles may be drawn."""
    end = store.waves.end_of(round_.id) if WAVES in round_.plan else None
    return store.waves.go_on(round_.id) if end is not None and end.reason is WavesEnd.BUDGET else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class WaveReport:
    """How far a round in waves is.

    Attributes:
        settings: What was asked of it.
        cheap: How far each proxy judge is that is asked battle by battle.
        waves: Of each wave its number, how many battles it drew, and the width reached before it.
        ended: Why there is no further wave; None while there may be.
        width: The width reached, in rating points, as far as known.
    """

    settings: WaveSettings
    cheap: tuple[CheapCounts, ...]
    waves: tuple[Mapping[str, Any], ...]
    ended: WavesEnd | None
    width: float | None

    def as_json(self) -> dict[str, Any]:
        """`waves` of `rounds status`."""
        cheap = {count.place: count for count in self.cheap}
        return {
            "cheap_judges": [
                {"name": judge.name, "kind": judge.kind.value, **_asked(cheap.get(place))}
                for place, judge in enumerate(self.settings.cheap)
            ],
            "spend": {"verdicts": self.settings.verdicts, "usd": self.settings.usd},
            "target_width": self.settings.target_width,
            "ask": self.settings.ask,
            "waves": [dict(wave) for wave in self.waves],
            "width": self.width,
            "ended": None if self.ended is None else self.ended.value,
        }

    def lines(self) -> dict[str, str]:
        """The same for people, label to value."""
        drawn = ", ".join(f"{wave['battles']:,}" for wave in self.waves)
        width = "not known yet" if self.width is None else f"{self.width:.1f} points"
        return {
            "proxy judges": ", ".join(judge.name for judge in self.settings.cheap),
            "proxy verdicts pending": f"{sum(count.pending for count in self.cheap):,}",
            "battles drawn, by wave": drawn or "none yet",
            "width": f"{width} ({self.settings.ask})",
            "ended by": "" if self.ended is None else REASONS[self.ended],
        }


REASONS = {
    WavesEnd.WIDTH: "the width that was wanted",
    WavesEnd.SPEND: "what it was to spend",
    WavesEnd.BUDGET: "its budget",
    WavesEnd.NOTHING_LEFT: "there being nothing more to learn",
}


def wave_report(store: Store, round_: Round) -> WaveReport | None:
    """How far a round in waves is; None of a round that judges everything."""
    settings = waves_of(round_)
    if settings is None:
        return None
    drawn, end = store.waves.of_round(round_.id), store.waves.end_of(round_.id)
    return WaveReport(
        settings=settings,
        cheap=store.waves.cheap(round_.id),
        waves=tuple({"number": wave.number, "battles": wave.battles, "width": wave.width} for wave in drawn),
        ended=None if end is None else end.reason,
        width=end.width if end is not None else drawn[-1].width if drawn else None,
    )


def _asked(counts: CheapCounts | None) -> dict[str, Any]:
    if counts is None:
        return {}
    outcomes = {outcome.value: count for outcome, count in counts.outcomes.items()}
    return {"outcomes": outcomes, "pending": counts.pending, "cost_usd": counts.cost_usd}
