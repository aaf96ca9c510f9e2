"""WikiContradict files as published: questions with two conflicting passages, and the answers of LLMs.

A line is a question, its two passages, and five answers of one model: the first saw no passage, the
second and third saw one, the last two saw both. Lines of several models on one question are one question.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from data.errors import FileFormatError
from data.files.question_sets.registry import SetDraft, SetFormat, questions_file
from data.files.tabular.records import each_record
from data.files.text_files import ReadLimits, decode, parse_json, read_lines
from data.records import Answer, Passage, ProblemList, Question

NAME = "wikicontradict"
LABEL = "WikiContradict"
HEAD = {
    "name": NAME,
    "title": "WikiContradict",
    "licence": "MIT",
    "source": "WikiContradict, Hou et al. (2024)",
    "reference_name": "reference",
}
TEXTS = ("context1", "context2")
SELF_CONTAINED = "_self_contained"
SHORT = ("gt_answer_1", "gt_answer_2", "answer1_gt", "answer2_gt")
SEEN: Mapping[str, Sequence[int]] = {
    "answer0": (),
    "answer1": (0,),
    "answer2": (1,),
    "answer3": (0, 1),
    "answer4": (0, 1),
}
MARK = 8


class _Line:
    def __init__(self, row: Mapping[str, object], question: str, passages: tuple[Passage, ...]) -> None:
        self.question = question
        self.passages = passages
        self.model = str(row.get("model") or "model")
        self.short = tuple(
            dict.fromkeys(str(row[name]).strip() for name in SHORT if isinstance(row.get(name), str))
        )
        self.answers = {name: str(row[name]) for name in SEEN if isinstance(row.get(name), str)}

    @property
    def key(self) -> tuple[str, ...]:
        """What makes lines one question."""
        return (self.question, *(passage.text for passage in self.passages))


def is_wikicontradict(row: object) -> bool:
    """Whether a line is one of WikiContradict's."""
    return isinstance(row, Mapping) and "question" in row and all(_text(row, name) for name in TEXTS)


def _begins_so(path: Path) -> bool:
    file = questions_file(path)
    if file is None:
        return False
    try:
        line, content = next(read_lines(file, ReadLimits()), (0, b""))
        return is_wikicontradict(parse_json(decode(content, line), line))
    except FileFormatError:
        # Whoever reads the whole file says what is wrong with it.
        return False


def _parse(path: Path, limits: ReadLimits, problems: ProblemList) -> SetDraft:
    """Read a file as questions, and as the answers of one system for each model and column of answers."""
    file = questions_file(path) or path
    questions: dict[tuple[str, ...], Question] = {}
    answers: dict[str, dict[str, Answer]] = {}
    for _, line in each_record(file, limits, _line, problems):
        question = questions.get(line.key)
        if question is None:
            mark = hashlib.sha256("\n".join(line.key).encode()).hexdigest()[:MARK]
            question = questions[line.key] = Question(
                id=f"wc-{mark}",
                domain=NAME,
                question=line.question,
                passages=line.passages,
                short_answers=tuple(text for text in line.short if text),
            )
        for column, text in line.answers.items():
            contexts = tuple(line.passages[place] for place in SEEN[column])
            answer = Answer(question_id=question.id, answer=text, contexts=contexts)
            answers.setdefault(f"{line.model}-{column}", {}).setdefault(question.id, answer)
    return SetDraft(
        questions=list(questions.values()),
        head=HEAD,
        published=True,
        domains={NAME: LABEL},
        answers={system: list(by_question.values()) for system, by_question in answers.items()},
    )


def _line(line: int, row: Mapping[str, object], problems: ProblemList) -> _Line | None:
    if not is_wikicontradict(row):
        message = "This line has no question with context1 and context2."
        problems.add(line, "missing-field", message, advice="Give the file as published.")
        return None
    passages = tuple(Passage(f"p{at}", _text(row, name)) for at, name in enumerate(TEXTS, start=1))
    return _Line(row, str(row["question"]).strip(), passages)


def _text(row: Mapping[str, object], name: str) -> str:
    value = row.get(f"{name}{SELF_CONTAINED}") or row.get(name)
    return value.strip() if isinstance(value, str) else ""


FORMATS = (SetFormat(name=NAME, fits=_begins_so, parse=_parse),)
