from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from data.errors import SpecError
from data.models import GroundTruth, JudgeKind, OrderPolicy
from judges.catalogue import load_spec, spec_names
from judges.pairwise.prompt import Prompt, load_prompt
from judges.spec import JudgeSpec, PanelRule, ReplyFormat
from tests.judges.battles import spec_of

Make = Callable[..., Any]
LLM = 'kind = "llm"\nmodel = "m"\nprompt = "pairwise"\n'


def written(folder: Path, text: str, name: str = "own.toml") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("name", spec_names())
def test_bundled_judges_load(name: str) -> None:
    spec = load_spec(name)
    assert (spec.name, len(spec.hash)) == (name, 64)
    assert spec.description
    assert len({load_spec(name).hash for name in spec_names()}) == len(spec_names())


def test_spec_file_is_loaded(tmp_path: Path) -> None:
    table = "[sampling]\ntemperature = 0.7\nmax_tokens = 99\n"
    text = f'{LLM}ground_truth = "none"\norder = "both"\nvotes = 3\n{table}'
    spec = load_spec(written(tmp_path, text))
    assert (spec.name, spec.kind, spec.order, spec.votes) == ("own", JudgeKind.LLM, OrderPolicy.BOTH, 3)
    assert (spec.sampling.temperature, spec.sampling.max_tokens, spec.sampling.top_p) == (0.7, 99, 1.0)


def test_older_specs_keep_their_hash(tmp_path: Path) -> None:
    text = 'extends = "reference-free"\nmodel = "m"\n{key} = "reference"\nprompt = "pairwise-reference"\n'
    now, before = (
        load_spec(written(tmp_path, text.format(key=key), "own.toml"))
        for key in ("ground_truth", "yardstick")
    )
    assert before.ground_truth is now.ground_truth is GroundTruth.REFERENCE
    assert before.hash == now.hash
    assert load_spec("reference").hash.startswith("68a96487a9")


def test_organisers_add_judges_and_prompts_as_files(tmp_path: Path) -> None:
    (tmp_path / "mine.md").write_text("## pair\n{question} {answer_1} {answer_2}", encoding="utf-8")
    written(tmp_path, 'extends = "reference-free"\nprompt = "mine.md"\nmodel = "own-model"\n', "house.toml")
    assert "house" in spec_names(folders=[tmp_path])
    spec = load_spec("house", folders=[tmp_path])
    assert (spec.name, spec.model, spec.prompt and spec.prompt.name) == ("house", "own-model", "mine")
    assert spec.hash != load_spec("reference-free").hash


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{LLM}vots = 3\n", "unknown key 'vots'"),
        (f'{LLM}votes = "3"\n', "'votes'"),
        (f"{LLM}temperature = nan\n", "'temperature'"),
        (f"{LLM}votes = 3\n", "raise the temperature"),
        (f'{LLM}ground_truth = "reference"\n', "lacks {reference}"),
        (f'{LLM}order = "both"\nswap_margin = 0.5\n', "already judges every battle twice"),
        (f'{LLM}endpoint = "localhost:80"\n', "not an http"),
        (f"{LLM}temperature = 0.0\n[sampling]\ntemperature = 1.0\n", "twice"),
        ('kind = "llm"\nmodel = "m"\nprompt = "nowhere"\n', "Unknown prompt 'nowhere'"),
        ('model = "m"\n', "'kind' is missing"),
        ('kind = "panel"\n', "needs judges"),
        ('kind = "panel"\nmembers = ["lexical", "lexical"]\n', "two members are named"),
        ('kind = "panel"\nmembers = ["lexical"]\nrule = "weighted"\n', "one weight per member"),
        ('kind = "panel"\nmembers = ["lexical"]\nquorum = 2\n', "exceeds the number of members"),
        ('extends = "own.toml"\n', "not another judge"),
        ('kind = "lexical"\nmodel = "m"\n', "no 'model'"),
        ("kind = \n", "not valid TOML"),
    ],
)
def test_invalid_spec_reports_error(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        load_spec(written(tmp_path, text))
    assert message in str(caught.value)
    assert "own" in caught.value.message or "nowhere" in caught.value.message
    assert caught.value.advice


@pytest.mark.parametrize(
    ("settings", "prompt"),
    [
        ("", "pairwise"),
        ('ground_truth = "none"\n', "pairwise"),
        ('ground_truth = "reference"\n', "pairwise-reference"),
        ('ground_truth = "passages"\n', "pairwise-passages"),
        ('reply = "grades"\n', "pairwise-grades"),
        ('reply = "logprobs"\n', "pairwise"),
    ],
)
def test_prompt_follows_from_ground_truth(settings: str, prompt: str, tmp_path: Path) -> None:
    """A judge without a prompt equals the judge with its ground truth's prompt, also by hash."""
    spec = load_spec(written(tmp_path, f'kind = "llm"\nmodel = "m"\n{settings}'))
    named = load_spec(written(tmp_path, f'kind = "llm"\nmodel = "m"\nprompt = "{prompt}"\n{settings}'))
    assert spec.prompt == load_prompt(prompt)
    assert spec.hash == named.hash


def test_extended_prompt_precedes_default(tmp_path: Path) -> None:
    """Another ground truth changes only default prompts."""
    other = load_spec(written(tmp_path, 'extends = "reference-free"\nground_truth = "passages"\n'))
    assert other.hash == load_spec("passages").hash
    (tmp_path / "mine.md").write_text("## pair\n{question} {answer_1} {answer_2}", encoding="utf-8")
    written(tmp_path, 'extends = "reference-free"\nprompt = "mine.md"\n', "base.toml")
    spec = load_spec(written(tmp_path, 'extends = "base.toml"\nmodel = "m"\n'))
    assert spec.prompt is not None
    assert spec.prompt.name == "mine"
    panel = 'kind = "panel"\nmembers = ["reference", "base.toml"]\n'
    members = load_spec(written(tmp_path, panel, "panel.toml")).members
    assert [member.prompt and member.prompt.name for member in members] == ["pairwise-reference", "mine"]


def test_panels_accept_names_and_tables(tmp_path: Path) -> None:
    members = 'members = ["lexical", {extends = "compat", model = "m", name = "x"}]'
    text = f'kind = "panel"\nrule = "weighted"\nweights = [2.0, 1.0]\n{members}\n'
    spec = load_spec(written(tmp_path, text))
    assert [(member.name, member.kind, member.model) for member in spec.members] == [
        ("lexical", JudgeKind.LEXICAL, ""),
        ("x", JudgeKind.LLM, "m"),
    ]
    assert (spec.rule, spec.models) == (PanelRule.WEIGHTED, ("m",))


def test_hash_covers_only_decisive_settings() -> None:
    base: JudgeSpec = spec_of()
    edited = Prompt("pairwise", f"{load_prompt('pairwise').text}\nOne more note.\n")
    variants = [
        base.using(prompt=edited),
        base.using(endpoint="https://else.test/v1"),
        base.using(model="m2"),
        base.using(temperature=0.1),
        base.using(reply=ReplyFormat.LOGPROBS),
    ]
    assert len({base.hash, *(other.hash for other in variants)}) == 6
    assert base.using(name="other", description="d").hash == base.hash


def test_default_endpoint_fills_only_gaps() -> None:
    panel = load_spec("panel").at("http://x.test/v1")
    assert {member.endpoint for member in panel.members} == {"http://x.test/v1"}
    assert panel.at("http://y.test/v1").members[0].endpoint == "http://x.test/v1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nothing", "no `## pair` section"),
        ("## pair\n{question} {answer_1}", "lacks {answer_2}"),
        ("## pair\n{question} {answer_1} {answer_2} {refrence}", "did you mean 'reference'"),
        ("## pair\n{question}{answer_1}{answer_2}\n## pear\n", "unknown section"),
        ("## pair\n{question}{answer_1}{answer_2}\n## pair\nx", "2 times"),
        ("## pair\n{question}{answer_1}{answer_2}\n## example\n### question\nx", "lacks `### reply`"),
    ],
)
def test_invalid_prompt_reports_error(text: str, message: str) -> None:
    with pytest.raises(SpecError, match="Prompt p is invalid") as caught:
        Prompt("p", text)
    assert message in str(caught.value)


def test_default_sampling_settings_are_unset(tmp_path: Path) -> None:
    path = tmp_path / "j.toml"
    sampling = "\n".join(f'{name} = "default"' for name in ("temperature", "top_p", "max_tokens", "seed"))
    path.write_text(f'extends = "reference-free"\n[sampling]\n{sampling}\n')
    loaded = load_spec(str(path)).sampling
    assert (loaded.temperature, loaded.top_p, loaded.max_tokens, loaded.seed) == (None,) * 4
    path.write_text('extends = "reference-free"\ntemperature = "none"\n')
    with pytest.raises(SpecError, match="temperature"):
        load_spec(str(path))
