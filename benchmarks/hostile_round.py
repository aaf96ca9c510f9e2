"""Seconds that a whole round takes over the texts of `hostile.py`: check, add, judge, publish, pages.

    python benchmarks/hostile_round.py [--systems 5] [--pages 12]

Every system answers the demo's questions with other texts of 40,000 characters, so that its file has about
5 MB. A step over one text may take 10 s.
"""

from __future__ import annotations

import argparse
import json
import logging
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import cycle, islice
from pathlib import Path

from hostile import ROOT, answers, demo
from streamlit.testing.v1 import AppTest

from arena.container import Arena
from arena.html_pages import as_html
from arena.services.accounts.auth import OPERATOR
from arena.services.evidence.highlights import mark_answer
from arena.services.evidence.questions import QuestionView
from arena.services.rounds.models import RoundRequest
from arena.settings import Settings
from arena.site.questions.answers import answer_text
from arena.site.services import as_secrets
from data.models import Outcome

SET, ROUND = "demo", "hostile"
Step = tuple[str, Callable[[], object]]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--systems", type=int, default=5, help="hostile systems; 5 have every text")
    parser.add_argument("--pages", type=int, default=12, help="question pages that are drawn as a whole")
    given = parser.parse_args()
    print(f"{'step':<22}{'times':>7}{'in all':>9}{'longest':>9}  longest on")
    with tempfile.TemporaryDirectory() as folder:
        arena = Arena(Settings(home=Path(folder), database_url=f"sqlite:///{folder}/arena.sqlite"))
        arena.sets.import_from(ROOT / "data" / "sets" / "demo")
        paths = files(Path(folder), given.systems)
        told("start", [("a process", partial(arena.submissions.check, paths[0], SET))])
        told("check", ((path.name, partial(arena.submissions.check, path, SET)) for path in paths))
        told("add", ((path.name, partial(added, arena, path)) for path in paths))
        arena.rounds.create(RoundRequest(set_name=SET, judge="lexical", name=ROUND, pairs="all"))
        told("judge", [("all", lambda: arena.rounds.run(ROUND, concurrency=8, report=lambda _: None))])
        told("publish", [("all", lambda: arena.boards.publish(ROUND, report=lambda _: None, partial=True))])
        told("evidence", evidence(arena))
        logging.disable()
        told("question page", pages(arena, "questions.question_page", questions(arena)[: given.pages]))
        told("system page", pages(arena, "systems.system_page", [path.stem for path in paths]))
        print(outcomes(arena))
        arena.close()


def told(step: str, some: Iterator[Step] | list[Step]) -> None:
    """Do a step over each text, and print the seconds by the clock."""
    seconds = {}
    for name, work in some:
        start = time.perf_counter()
        work()
        seconds[name] = time.perf_counter() - start
    slowest = max(seconds, key=seconds.__getitem__)
    whole = sum(seconds.values())
    print(f"{step:<22}{len(seconds):>7}{whole:>9.2f}{seconds[slowest]:>9.2f}  {slowest}", flush=True)


def files(folder: Path, systems: int) -> list[Path]:
    """Files of answers, and one of the demo's own systems."""
    # Nothing but white space is an empty answer, which is refused.
    texts = cycle(text for _, text in answers() if text.strip(" \t\r\n\u200b\u2028"))
    ids = [question.id for question in demo().questions]
    paths = []
    for number in range(systems):
        paths.append(folder / f"hostile{number}.jsonl")
        pairs = zip(ids, islice(texts, len(ids)), strict=True)
        rows = ({"question_id": one, "answer": text, "contexts": [text]} for one, text in pairs)
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        paths[-1].write_text("".join(lines), encoding="utf-8")
    return [ROOT / "data/sets/demo/answers/meridian.jsonl", *paths]


def added(arena: Arena, path: Path) -> None:
    """Add a file."""
    arena.submissions.add(path, SET, system=path.stem, team="bench")


def evidence(arena: Arena) -> Iterator[Step]:
    """Everything of a question page that is text."""
    for one in questions(arena):
        yield one, partial(shown, arena, one)


def shown(arena: Arena, question: str) -> None:
    """The texts of one question with their marks."""
    marked(arena.evidence.question(ROUND, question, caller=OPERATOR))


def marked(found: QuestionView) -> None:
    """Answers with their marks, as HTML."""
    for answer in found.answers:
        as_html(answer_text(mark_answer(answer.answer.answer, answer.scores)))


def pages(arena: Arena, name: str, ids: Iterable[str]) -> Iterator[Step]:
    """Pages, drawn as a whole."""
    for one in ids:
        yield one, partial(drawn, arena.settings, name, one)


def drawn(settings: Settings, name: str, one: str) -> None:
    """Draw a page."""
    page = AppTest.from_function(_page, args=(name,), default_timeout=120)
    page.secrets.update({key: dict(value) for key, value in as_secrets(settings).items()})
    page.query_params.update({"board": ROUND, "id": one})
    page.run()
    assert not page.exception, page.exception


def _page(name: str) -> None:
    import importlib  # AppTest runs this function as a script of its own

    importlib.import_module(f"arena.site.{name}").show()


def questions(arena: Arena) -> list[str]:
    """The ids of the questions."""
    return [question.id for _, question in arena.store.sets.numbered(arena.store.sets.summary(SET).id)]


def outcomes(arena: Arena) -> str:
    """How battles and scores ended."""
    battles = Counter(one.outcome or Outcome.SKIPPED for one in arena.rounds.battles(ROUND))
    ids = [one.id for one in arena.store.submissions.find(set_name=SET)]
    scores = Counter(
        (metric.info.name, score.outcome, str(score.details.get("reason", ""))[:60])
        for metric in arena.weaknesses.of(ROUND, "hostile0", caller=OPERATOR).metrics
        for score in arena.store.scores.detailed(ids, metric=metric.info.name, judge="")
    )
    lines = [f"battles {outcome}: {count}" for outcome, count in battles.items()]
    lines += [f"{' '.join(map(str, key))}: {count}" for key, count in sorted(scores.items())]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
