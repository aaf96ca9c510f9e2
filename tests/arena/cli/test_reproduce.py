"""docs/reproduce.md, done as it is written: from a corpus to the papers' tables, with a scripted LLM."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from arena.container import Arena
from arena.settings import Settings
from data.records import Preference
from tests.forked_arena import serving, shell

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "reproduce.md"
JUDGES = ROOT / "docs" / "judges.md"
MODELS = ("gpt-4o", "llama-3-70b", "mixtral-8x22b")
DOMAINS = {
    "science": ("agate", "beryl", "copper", "dolomite", "emerald", "flint"),
    "writing": ("gall", "hectograph", "ink", "jotter", "kraft", "ledger"),
}
FACETS = {"hard": "How hard is it?", "found": "Where is it found?", "coloured": "How is it coloured?"}
TRADERS = ("buyers", "sellers", "clerks", "carriers")
SILENT = "I couldn't find an answer."
Ask = Any
Server = Any


def blocks(heading: str) -> str:
    """The code of a section of the page, as one script."""
    section = PAGE.read_text(encoding="utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return "\n".join(re.findall(r"^```bash\n(.*?)^```", section, re.DOTALL | re.MULTILINE))


def sections() -> list[str]:
    """The headings of the page that have code, in order."""
    return [
        name
        for name in re.findall(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
        if blocks(name)
    ]


def what_you_need(place: Path) -> None:
    """A corpus in BEIR's form, files in LFRQA's, votes, and the authors' files in words of ours."""
    documents, things = [], [(domain, name) for domain, names in DOMAINS.items() for name in names]
    for domain, name in things:
        for facet in FACETS:
            text = f"The {name} is {facet} in its own way."
            documents.append({"_id": f"{name}-{facet}", "title": "", "text": text})
        # They rank above the facets, so that five passages leave some facets out and ten do not.
        for trader in TRADERS:
            text = f"What is known of the {name}, {trader} ask those who know {domain}."
            documents.append({"_id": f"{name}-{trader}", "title": "", "text": text})
    (place / "corpus").mkdir()
    (place / "corpus" / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in documents))
    (place / "lfrqa").mkdir()
    for domain, names in DOMAINS.items():
        rows = [
            {
                "qid": f"q{number}",
                "question": f"what is known of the {name}{' today' * (number % 2)}, those who know {domain}?",
                "answer": f"The {name} is hard. It is found and coloured in its own way.",
                "citation_numbers": [[1], [2, 3]],
                "faithful_answer_w_citation": f"The {name} is hard. [1]\nIt is found and coloured in its own "
                "way. [2, 3]",
                "gold_doc_ids": [f"{name}-{facet}" for facet in FACETS],
                "short_answers": [f"hard {name}", f"found {name} here"],
            }
            for number, name in enumerate(names)
        ]
        file = place / "lfrqa" / f"annotations_{domain}_with_citation.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    pairs = [
        {"question_id": f"{domain}-q{number}", "model_a": first, "model_b": second}
        for domain, names in DOMAINS.items()
        for number in range(len(names))
        for first, second in (("RobustQA", "LFRQA"), ("gpt-4o-5", "LFRQA"), ("mixtral-8x22b-5", "LFRQA"))
    ]
    (place / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in pairs))
    votes = [
        {**pair, "winner": ("model_a", "model_b", "tie")[chance(pair, person) % 3], "annotator": person}
        for pair in pairs
        for person in ("ada", "ben", "cleo")
    ]
    (place / "votes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in votes))
    install_prompts(place)


def install_prompts(place: Path) -> None:
    """`lfrqa.toml` and `paper.toml` as docs/judges.md has them, over files of the authors' shapes."""
    for name in ("lfrqa.toml", "paper.toml"):
        text = re.search(
            rf"^```toml\n(# {name}.*?)^```", JUDGES.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
        )
        assert text is not None
        (place / name).write_text(text[1])
    templates = place / "rag-qa-arena" / "templates"
    templates.mkdir(parents=True)
    (templates / "pairwise_lfrqa_system.txt").write_text("Say which answer is better.")
    (templates / "pairwise_lfrqa.cfg").write_text(
        'templateStr = """\n<query>\n{x.question}\n</query>\n<answer 1>\n{x.response1}\n</answer 1>\n'
        '<answer 2>\n{x.response2}\n</answer 2>\nRate. \n"""'
    )
    example = {"query": "q", "response_1": "a", "response_2": "b", "thinking": "t", "label": "1"}
    (templates / "pairwise_lfrqa_examples.json").write_text(json.dumps([example]))


def chance(*parts: object) -> int:
    """A number that depends on its parts alone."""
    return int(hashlib.sha256(repr(parts).encode()).hexdigest()[:8], 16)


def answer(ask: Ask) -> str:
    """Some sentences of the passages, the more the more there are; now and then none was found."""
    model, passages = ask.body["model"], re.findall(r"The \w+ is \w+ in its own way", ask.text)
    if chance(model, ask.digest) % 5 == 0:
        return f"<thinking>Nothing.</thinking>{SILENT}"
    kept = sorted(set(passages), key=lambda text: chance(model, text))[: 1 + chance(model, ask.digest) % 4]
    return f"<thinking>Well.</thinking>{'. '.join(kept) or 'It is known'}."


def serve_rules(server: Server) -> None:
    """Answers from passages; sub-questions by facet, answered where a text names the facet."""

    def rate(ask: Ask) -> object:
        (asked,), (text,) = ask.tagged("sub_question"), ask.tagged("passage")
        facet = next(name for name, question in FACETS.items() if question == asked)
        return {"rating": 5 if f"is {facet}" in text else 1}

    server.text_handler = answer
    server.handlers.update(
        {
            "generate_sub_questions": lambda _: {"sub_questions": list(FACETS.values())},
            "rate_answerability": rate,
        }
    )


@pytest.fixture
def walked(scripted_llm: Callable[..., Server], empty_home: Path, tmp_path: Path) -> tuple[Path, Arena]:
    """The folder in which everything was run, and the arena that came of it."""
    server = scripted_llm(rule="hash")
    serve_rules(server)
    programs, place = tmp_path / "bin", tmp_path / "work"
    programs.mkdir()
    place.mkdir()
    what_you_need(place)
    address = f"sqlite:///{empty_home / 'arena.sqlite'}"
    run = partial(
        shell,
        place=place,
        path=str(programs),
        ARENA_HOME=str(empty_home),
        ARENA_DATABASE_URL=address,
        OPENAI_BASE_URL=server.url,
        OPENAI_API_KEY="none",
    )
    people = {"References of your own": write, "An audit of them": audit}
    with serving(programs):
        for name in sections():
            run(blocks(name))
            if name in people:
                people[name](run, place)
    return place, Arena(Settings(home=empty_home, database_url=address))


def write(run: Callable[[str], str], place: Path) -> None:
    """Let the two writers finish: every short answer, with the passage that has it."""
    for writer in ("ada", "ben"):
        while True:
            item = json.loads(run(f"arena labels submit writing --annotator {writer} --agree --json"))["item"]
            if item is None:
                break
            texts = [f"It is {short}. [1]" for short in item["short_answers"]]
            (place / "text.txt").write_text(" ".join(texts))
            run(f"arena labels submit writing {item['number']} --text text.txt --annotator {writer}")


def audit(run: Callable[[str], str], _place: Path) -> None:
    """Find every text of the sample valid."""
    while True:
        item = json.loads(run("arena references audit writing --auditor lin --json"))["item"]
        if item is None:
            break
        run(f"arena references audit writing {item['number']} --auditor lin")


def rows_of(file: Path) -> dict[str, list[str]]:
    """The rows of a LaTeX table by their first cell."""
    body = file.read_text(encoding="utf-8").split("\\midrule\n")[1].split("\\bottomrule")[0]
    cells = [line.removesuffix(" \\\\").split(" & ") for line in body.splitlines()]
    return {row[0]: row[1:] for row in cells}


def number(cell: str) -> float:
    """The number of a cell, without emphasis, marks and intervals."""
    bare = re.sub(r"\\textsuperscript\{[^}]*\}|\{\\footnotesize .*\}", "", cell)
    found = re.search(r"-?[\d.]+", bare)
    assert found is not None, cell
    return float(found[0])


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_page_leads_from_a_corpus_to_the_tables(walked: tuple[Path, Arena]) -> None:
    """Every block runs as written, and the tables hold what the stored battles and answers come to."""
    place, arena = walked
    tables = place / "tables"
    for file in sorted(tables.iterdir()):
        text = file.read_text(encoding="utf-8")
        assert "\\toprule" in text
        assert {len(row) for row in rows_of(file).values()} != {0}, file.name
    systems = {f"{model}-{k}{mode}" for model in MODELS for k in (5, 10) for mode in ("", "-direct")}

    made = rows_of(tables / "table-2.tex")
    assert list(made) == ["science", "writing", "overall"]
    assert [number(cell) for cell in made["overall"][:4]] == [12, 2.0, 2.5, 12]

    rates = rows_of(tables / "table-3.tex")
    assert set(rates) == {*systems, "RobustQA"}
    assert any("\\textsuperscript{" in row[0] for row in rates.values())
    for system in rates:
        battles = [one for one in arena.rounds.battles("main") if system in {one.system_a, one.system_b}]
        won = [
            one
            for one in battles
            if one.preference is (Preference.A if one.system_a == system else Preference.B)
        ]
        assert len(battles) == 12
        assert number(rates[system][0]) == pytest.approx(100 * len(won) / 12, abs=0.05)

    pairs = rows_of(tables / "table-4.tex")
    assert {name for name, row in pairs.items() if row[4] != "--"} == {
        "LFRQA vs RobustQA",
        "LFRQA vs gpt-4o-5",
        "LFRQA vs mixtral-8x22b-5",
    }
    assert set(rows_of(tables / "table-5.tex")) == {*systems, "RobustQA", "LFRQA"}
    assert list(rows_of(tables / "table-8.tex")) == ["complete", "other-judge"]
    written = rows_of(tables / "table-6.tex")
    assert set(written) == {*systems, "RobustQA", "LFRQA"}
    assert number(written["RobustQA"][1]) == 100
    assert arena.sets.summary("written").questions == 4
    silent = rows_of(tables / "table-9.tex")
    for system in systems:
        answers = [
            json.loads(line)["answer"] for line in (place / f"{system}.jsonl").read_text().splitlines()
        ]
        assert number(silent[system][0]) == pytest.approx(100 * answers.count(SILENT) / 12, abs=0.05)
    text = (tables / "table-10.tex").read_text(encoding="utf-8")
    for model in MODELS:
        assert [line.split(" & ")[1] for line in text.splitlines() if line.startswith(f"{model} &")] == [
            "5",
            "5",
            "10",
            "10",
        ]
    coverage = rows_of(tables / "crux-2.tex")
    for model in MODELS:
        assert number(coverage[f"{model}-10"][0]) > number(coverage[f"{model}-5"][0])
    correlations = rows_of(tables / "crux-3.tex")
    assert list(correlations) == ["Kendall's $\\tau$", "Spearman's $\\rho$", "Pearson's r"]
    assert all(-1 <= number(row[0]) <= 1 for row in correlations.values())
    arena.close()
