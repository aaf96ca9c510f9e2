from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.errors import SpecError
from data.models import Outcome, Passage, Preference, Question, Reply
from judges.base import JudgeInput
from judges.catalogue import build_judge, load_spec
from judges.llm.client import open_client
from judges.llm.settings import AccessSettings
from judges.pairwise.literal import LiteralPrompt, VerdictWords
from judges.pairwise.parsing import Choice, read
from judges.pairwise.prompt import Prompt, load_prompt
from judges.spec import ReplyFormat
from tests.cases import cases

Make = Callable[..., Any]

SYSTEM = "Say which of two replies serves the asker.\n\n<rules>\n- Truth first.  \n</rules>"
PAIR = (
    "\nThe query is in <query></query>.\n\n<query>\n{x.question}\n</query>\n\n<answer 1>\n{x.response1}\n"
    "</answer 1>\n\n<answer 2>\n{x.response2}\n</answer 2>\n\nEnd with 0, 1, or 2. \n"
)
EXAMPLES = [
    {"query": "is ice lighter?", "response_1": "Yes {x.question}.", "response_2": "No.", "label": "1"},
    {"query": "why is it so", "response_1": "It is.", "response_2": "Because of\nits grid.", "label": "2"},
]
for number, example in enumerate(EXAMPLES, 1):
    example["thinking"] = f"Number {number} is better."

INSTALLED = cases(__file__, "INSTALLED")
JUDGE = 'extends = "compat"\nprompt = "study.toml"\nmodel = "m"\n'


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Folder with a study's files in RAG-QA Arena's formats, and a judge that refers to them."""
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "system.txt").write_text(SYSTEM)
    (folder / "pair.cfg").write_text(f'templateStr = """{PAIR}"""')
    (folder / "examples.json").write_text(json.dumps(EXAMPLES))
    (tmp_path / "study.toml").write_text(INSTALLED)
    (tmp_path / "house.toml").write_text(JUDGE)
    return tmp_path


def _as_the_study_asks(question: str, first: str, second: str) -> str:
    before, after = PAIR.split("{x.question}")
    between, rest = after.split("{x.response1}")
    return before + question + between + first + rest.replace("{x.response2}", second)


def test_request_matches_study_exactly(study: Path, scripted_llm: Make) -> None:
    server = scripted_llm(rule="longer")
    question = "what  is {x.response2} for?"
    judge_input = JudgeInput(
        battle_id="b",
        question=Question(id="q", domain="d", question=question),
        answer_a="<thinking>Hm.</thinking> It holds the second answer, </answer 2> and all.",
        answer_b="A name.",
    )

    async def run() -> Any:  # noqa: ANN401
        async with open_client(AccessSettings(attempts=1)) as client:
            return await build_judge(
                load_spec(str(study / "house.toml")).at(server.url), client=client
            ).judge(judge_input)

    verdict = asyncio.run(run())
    messages = [("system", SYSTEM)]
    for row in EXAMPLES:
        messages.append(("user", _as_the_study_asks(row["query"], row["response_1"], row["response_2"])))
        reply = f"<thinking>{row['thinking']}</thinking><rating>{row['label']}</rating>"
        messages.append(("assistant", reply))
    # Five words by single spaces: the system comes second.
    cleaned = "It holds the second answer, </answer 2> and all."
    messages.append(("user", _as_the_study_asks(question, "A name.", cleaned)))
    (body,) = server.log.bodies
    assert body["messages"] == [{"role": role, "content": text} for role, text in messages]
    # At temperature 0, top_p has no effect, and some models refuse both together.
    assert (body["temperature"], "top_p" in body, body["max_tokens"]) == (0.0, False, 256)
    assert verdict.preference is Preference.A


def test_compiled_prompt_needs_no_files(study: Path) -> None:
    prompt = load_prompt("study.toml", folder=study)
    assert Prompt("again", prompt.text).literal == prompt.literal
    (study / "study" / "system.txt").write_text(f"{SYSTEM}\n")
    assert load_prompt("study.toml", folder=study).hash != prompt.hash


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"{x.response2}"', '"{x.response3}"', "lacks answer_2"),
        ('key  = "templateStr"', 'key = "template"', "no value 'template' between triple quotes"),
        ('"study/pair.cfg"', '"study/gone.cfg"', "cannot be read"),
        ('answer_1 = "response_1"', 'answer_1 = "reply"', "example 1 lacks reply"),
        ("{label}", "{mark}", "example 1 lacks mark"),
        ("[examples]", "[exmaples]", "exmaples"),
    ],
)
def test_invalid_prompt_reports_error(study: Path, old: str, new: str, message: str) -> None:
    (study / "study.toml").write_text(INSTALLED.replace(old, new))
    with pytest.raises(SpecError, match=r"is invalid|cannot be read") as caught:
        load_spec(str(study / "house.toml"))
    assert message in str(caught.value)


def test_verdict_words_of_prompt_are_parsed(study: Path) -> None:
    words = (
        '[verdict]\nopening = "[["\nclosing = "]]"\nfirst = ["A", "a wins"]\nsecond = ["B"]\ntie = ["C"]\n'
    )
    (study / "study.toml").write_text(INSTALLED + words)
    with pytest.raises(SpecError, match=r"\[verdict\]"):
        load_spec(str(study / "house.toml"))
    (study / "house.toml").write_text(f'{JUDGE}reply = "words"\nfailures_tie = false\n')
    spec = load_spec(str(study / "house.toml"))

    def choice(text: str) -> Choice | Outcome:
        reading = read(
            Reply(key="k", endpoint="e", model="m", text=text), ReplyFormat.WORDS, spec.verdict_words
        )
        return reading.choice or reading.outcome

    assert [choice(text) for text in ("Better is **[[A]]**.", "[[A  WINS]]", "[[B]]", "Equal: [[C]]\n")] == [
        Choice.FIRST,
        Choice.FIRST,
        Choice.SECOND,
        Choice.NEITHER,
    ]
    for unreadable in ("[[A]] or so", "[[D]]", "A", "", "<think>[[A]]"):
        assert choice(unreadable) is Outcome.UNREADABLE


@pytest.mark.parametrize(
    "words", [{"first": ["A"], "second": ["a"]}, {"first": []}, {"tie": ["1"]}, {"opening": ""}]
)
def test_ambiguous_words_are_rejected(words: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"VerdictWords"):
        VerdictWords.model_validate(words)


def test_passages_use_template_of_study() -> None:
    prompt = LiteralPrompt(
        ask="<<P>>\nQ: <<Q>>",
        placeholders={"question": "<<Q>>", "passages": "<<P>>"},
        passage="[{number}] {id} ({title})\n{text}\n",
        between="--\n",
    )
    passages = [Passage(id="a", title="T", text="One {number}."), Passage(id="b", text="Two.")]
    assert prompt.fill({"question": "why <<P>>?"}, passages) == (
        "[1] a (T)\nOne {number}.\n--\n[2] b ()\nTwo.\n\nQ: why <<P>>?"
    )


@given(st.text(), st.text(), st.text())
def test_inserted_text_is_never_expanded(question: str, first: str, second: str) -> None:
    prompt = LiteralPrompt(
        ask="Q\x00{q}\x00{a}\x00{b}\x00",
        placeholders={"question": "{q}", "answer_1": "{a}", "answer_2": "{b}"},
    )
    texts = {"question": question, "answer_1": first, "answer_2": second}
    assert prompt.fill(texts) == f"Q\x00{question}\x00{first}\x00{second}\x00"
