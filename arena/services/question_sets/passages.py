"""New versions of sets with passages from a file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from arena.services.accounts.auth import OPERATOR, Caller, require
from arena.services.retrieval import CorpusService
from data.errors import InputError, InvalidFileError
from data.files.labelled_pairs import QuestionPassages, read_passages
from data.files.question_sets.rows import content_hash
from data.files.tables.reader import is_run
from data.files.text_files import ReadLimits
from data.files.trec import ids_by_field, read_run
from data.models import Passage, ProblemList, QuestionSet, SetSummary, TokenScope
from data.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachedPassages:
    """Result of attaching passages.

    Attributes:
        created: False if the same set exists already.
        without: Questions that the file does not name; they keep their passages.
        unknown: Questions of the file that are not in the set.
        unresolved: Passages of a run that are not in the corpus.
    """

    summary: SetSummary
    created: bool
    questions: int
    passages: int
    without: int
    unknown: int
    unresolved: int


@dataclass(frozen=True, slots=True)
class _FromFile:
    passages: Mapping[str, tuple[Passage, ...]]
    unknown: int
    unresolved: int = 0


class SetPassages:
    """Attaches passages to sets."""

    def __init__(self, store: Store, corpora: CorpusService) -> None:
        self._store = store
        self._corpora = corpora

    def attach(
        self, name: str, path: Path, *, corpus: str = "", new_name: str = "", caller: Caller = OPERATOR
    ) -> AttachedPassages:
        """Store a new version of a set, without answers, with passages from a file.

        The file is JSONL with `question_id` (or `query`, the question's text) and `passages`, or a TREC run
        with ids of chunks or documents of a corpus. The new set copies the policy of the old set.

        Args:
            name: The set.
            path: The file.
            corpus: Corpus with the texts of a run.
            new_name: By default the set's name and new version, such as `lfrqa-v2`.
            caller: The caller.
        """
        require(caller, TokenScope.ORGANISE)
        original = self._store.sets.get(name)
        source = (
            self._from_run(original, path, corpus)
            if is_run(path, ReadLimits())
            else _from_rows(original, path)
        )
        if not source.passages:
            problems = ProblemList()
            message = f"{path.name} contains no question of {name}."
            problems.add(0, "unknown-question", message, advice="Use the ids or the texts of its questions.")
            raise InvalidFileError(message, problems.result(), advice="See `arena sets export`.")
        if source.unresolved and not any(source.passages.values()):
            message = f"No passage of {path.name} is in the corpus {corpus}."
            raise InputError(message, advice="Specify the corpus that was searched.")
        version = str(int(original.version) + 1) if original.version.isdecimal() else f"{original.version}-2"
        attached = replace(
            original,
            name=new_name or f"{original.name}-v{version}",
            version=version,
            questions=tuple(
                replace(question, passages=source.passages.get(question.id, question.passages))
                for question in original.questions
            ),
        )
        created = self._add(attached, name, caller)
        return AttachedPassages(
            summary=self._store.sets.summary(attached.name),
            created=created,
            questions=len(source.passages),
            passages=sum(map(len, source.passages.values())),
            without=len(original.questions) - len(source.passages),
            unknown=source.unknown,
            unresolved=source.unresolved,
        )

    def _add(self, attached: QuestionSet, original: str, caller: Caller) -> bool:
        with self._store.changing():
            created = self._store.sets.add(attached, content_hash(attached))
        if created:
            caller.log("set-imported", f"set {attached.name}", questions=len(attached.questions))
            self._store.policies.put(replace(self._store.policies.get(original), set_name=attached.name))
        return created

    def _from_run(self, questions: QuestionSet, path: Path, corpus: str) -> _FromFile:
        if not corpus:
            message = f"{path.name} is a TREC run, which has no passage texts."
            raise InputError(message, advice="Specify the corpus that was searched with --corpus.")
        run = read_run(path)
        texts = self._corpora.passages(corpus, {line.passage for lines in run.values() for line in lines})
        ids = ids_by_field(question.id for question in questions.questions)
        known = {own: lines for name, lines in run.items() if (own := ids.get(name)) is not None}
        return _FromFile(
            {
                name: tuple(texts[line.passage] for line in lines if line.passage in texts)
                for name, lines in known.items()
            },
            unknown=len(run) - len(known),
            unresolved=sum(line.passage not in texts for lines in known.values() for line in lines),
        )


def _from_rows(questions: QuestionSet, path: Path) -> _FromFile:
    rows = read_passages(path, ReadLimits())
    ids = {question.question: question.id for question in questions.questions}
    ids |= {question.id: question.id for question in questions.questions}
    known = [row for row in rows if row.question in ids]
    return _FromFile(_distinct(known, ids, path), unknown=len(rows) - len(known))


def _distinct(
    rows: Sequence[QuestionPassages], ids: Mapping[str, str], path: Path
) -> dict[str, tuple[Passage, ...]]:
    problems = ProblemList()
    passages: dict[str, tuple[Passage, ...]] = {}
    for row in rows:
        name = ids[row.question]
        if name in passages:
            problems.add(row.line, "duplicate-id", f"Duplicate question {name}.")
        elif len({passage.id for passage in row.passages}) < len(row.passages):
            problems.add(row.line, "duplicate-passage", f"Question {name} has duplicate passage ids.")
        passages[name] = row.passages
    problems.require_none(path.name, "List each question and passage once.")
    return passages
