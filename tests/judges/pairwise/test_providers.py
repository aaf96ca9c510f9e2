from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import pytest

from data.errors import EndpointError
from data.models import Judgment, Outcome, Verdict
from judges.base import JudgeInput
from judges.catalogue import build_judge
from judges.llm.client import Scheduler, open_client
from judges.llm.costs import MemoryLedger
from judges.llm.prices import Price, PriceFile, Prices
from judges.llm.settings import AccessSettings
from judges.spec import JudgeSpec
from tests.cases import cases
from tests.judges.battles import contest_of, spec_of
from tests.memory import MemoryJournal
from tests.providers.base import READ, WRITTEN, End, Mode
from tests.providers.server import MODES, ScriptedProviders

KEY = "sk-scripted-key"
UNFIT = {
    transport: [name for names in reasons.values() for name in names]
    for transport, reasons in cases(__file__, "UNFIT").items()
}
"""Modes that do not apply to a transport; the file has the reasons."""
LONG, SHORT = "Air scatters blue light far more than red light, so it comes from everywhere.", "The sea."


@pytest.fixture(scope="module")
def providers() -> Iterator[ScriptedProviders]:
    with ScriptedProviders().running() as server:
        yield server


def judged(
    server: ScriptedProviders,
    spec: JudgeSpec,
    battle: JudgeInput,
    transport: str,
    ledger: MemoryLedger | None = None,
) -> tuple[Verdict | EndpointError, Scheduler]:
    """Judge a battle at 2 and 8 USD per million tokens; return its end and the scheduler."""
    server.reset()
    prices = PriceFile(endpoints={server.url: Price(input=2.0, output=8.0)})
    settings = AccessSettings(
        api_key=KEY,
        transport=transport,
        backoff=0.005,
        longest_backoff=0.01,
        attempts=3,
        rate_limit_attempts=20,
        timeout=5,
        batch_poll=0.01,
        batch_gather=0.01,
    )
    journal = MemoryJournal() if transport == "batch" else None

    async def run() -> tuple[Verdict | EndpointError, Scheduler]:
        async with open_client(settings, ledger=ledger, journal=journal, prices=Prices(prices)) as client:
            try:
                return await build_judge(spec.at(server.url), client=client).judge(battle), client
            except EndpointError as error:
                return error, client

    return asyncio.run(run())


def judge_of(mode: Mode) -> JudgeSpec:
    return spec_of(model=mode.name, **{"endpoint": "", **mode.settings})


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("transport", "mode"),
    [
        pytest.param(transport, mode, id=f"{transport}-{mode.name}")
        for transport, unfit in UNFIT.items()
        for mode in MODES.values()
        if mode.name not in unfit
    ],
)
def test_batches_and_litellm_give_same_result(
    transport: str, mode: Mode, providers: ScriptedProviders
) -> None:
    if transport == "litellm":
        pytest.importorskip("litellm", reason="NO LITELLM: its transport is not tested on the providers")
    spec = judge_of(mode)
    if transport == "litellm":
        spec = spec.using(model=f"openai/{mode.name}")
    verdict, client = judged(providers, spec, contest_of(LONG, SHORT), transport)
    calls = providers.calls[mode.name]
    assert calls <= 20
    assert (client.usage.lost_usd > 0) in {mode.lost, mode.lost or transport == "litellm"}
    _judgment(verdict, mode)


def _judgment(verdict: Verdict | EndpointError, mode: Mode) -> Judgment | None:
    """Return the last judgment, with the mode's outcome and text; None if the judge was given up."""
    if isinstance(verdict, EndpointError):
        assert mode.end is End.GIVEN_UP
        assert mode.says in str(verdict)
        assert KEY not in str(verdict)
        return None
    judgment = verdict.judgments[-1]
    assert judgment.outcome is Outcome(mode.end), judgment.detail
    assert mode.says in f"{verdict.detail} {judgment.detail}"
    if judgment.outcome is Outcome.JUDGED:
        assert judgment.reply is not None
        assert judgment.reply.left_out == mode.left_out
    return judgment


@pytest.mark.parametrize("transport", ["direct", "openai"])
@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
def test_every_mode_has_its_battle_result(mode: Mode, transport: str, providers: ScriptedProviders) -> None:
    spec = judge_of(mode)
    verdict, client = judged(providers, spec, contest_of(LONG, SHORT), transport)
    calls = providers.calls[mode.name]
    if mode.calls is not None:
        assert calls == mode.calls
    assert calls <= 20
    assert (client.usage.lost_usd > 0) == mode.lost
    judgment = _judgment(verdict, mode)
    if judgment is not None and judgment.reply is not None and judgment.outcome is Outcome.JUDGED:
        reply = judgment.reply
        record = json.loads(judgment.settings)
        assert record.get("left_out", []) == (mode.left_out.split(", ") if mode.left_out else [])
        if reply.metered and calls == 1 and "logprobs" not in mode.settings.values():
            assert (reply.input_tokens, reply.output_tokens) in {(READ, WRITTEN), (1000, 256)}
        last = providers.bodies[-1]
        sent = {"system role": any(item["role"] == "system" for item in last["messages"])}
        for name in filter(None, mode.left_out.split(", ")):
            assert not sent.get(name, name in last), name
        for name in ("temperature", "max_tokens"):
            is_sent = name in last or (name == "max_tokens" and "max_completion_tokens" in last)
            assert is_sent == (record[name] is not None)


@pytest.mark.parametrize(
    ("key", "named", "gone"),
    [
        ("system_role", "system role", "system"),
        ("logprobs", "logprobs", "logprobs"),
        ("response_format", "", "response_format"),
    ],
)
def test_judge_omits_parameters_of_its_spec(
    key: str, named: str, gone: str, providers: ScriptedProviders
) -> None:
    reply = "logprobs" if key == "logprobs" else "rating"
    usual = judge_of(MODES["openai-chat"]).using(reply=reply)
    spec = usual.using(**{key: "default"})
    assert key not in usual.canonical
    assert spec.canonical[key] == "default"
    assert spec.hash != usual.hash
    verdict, _ = judged(providers, spec, contest_of(LONG, SHORT), "direct")
    assert isinstance(verdict, Verdict)
    assert verdict.outcome is Outcome.JUDGED
    (body,) = providers.bodies
    assert gone not in {*body, *(message["role"] for message in body["messages"])}
    assert "top_logprobs" not in body
    judgment = verdict.judgments[-1]
    assert judgment.reply is not None
    assert judgment.reply.left_out == named
    assert json.loads(judgment.settings).get("left_out", []) == ([named] if named else [])


@pytest.mark.parametrize("name", ["openrouter-no-usage", "vllm-null-usage", "llama-cpp-negative-usage"])
def test_cap_is_respected_without_reported_tokens(name: str, providers: ScriptedProviders) -> None:
    ledger, spec = MemoryLedger(0.05), judge_of(MODES[name])
    outcomes = []
    for number in range(20):
        battle = contest_of(LONG, f"{number}", battle_id=f"b{number}")
        verdict, _ = judged(providers, spec, battle, "direct", ledger)
        assert isinstance(verdict, Verdict)
        outcomes.append(verdict.outcome)
    assert set(outcomes) == {Outcome.JUDGED, Outcome.SKIPPED}
    assert 0 < ledger.lost <= 0.05
    assert ledger.spent == 0
