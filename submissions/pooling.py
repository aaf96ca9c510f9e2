"""Join the answers of several files into one question set, by the questions' ids, else by their texts."""

import hashlib
import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from shlex import quote

from data.errors import InputError
from data.models import Answer, Passage, Question, QuestionSet
from data.models.questions import REPEAT, base_id
from data.text import counted
from submissions.answer_tables import AnswerRow, AnswerTable
from submissions.answer_warnings import ERROR, TENTH
from submissions.problem_codes import listed, quoted
from submissions.question_index import QuestionIndex, normalised

DOMAIN = "all"
"""Domain of questions that have none in any file."""
LISTED = 3
ID_LENGTH = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Questions of several files, and every system's answers to them.

    Attributes:
        questions: In order of first appearance.
        answers: By system, each question at most once.
        notes: Sentences on how the questions were joined.
        by_text: Whether questions are joined by their texts, not by ids.
    """

    questions: tuple[Question, ...]
    answers: Mapping[str, tuple[Answer, ...]]
    notes: tuple[str, ...] = ()
    by_text: bool = False

    @property
    def references(self) -> int:
        """Number of questions with a reference."""
        return sum(question.reference is not None for question in self.distinct)

    @property
    def passages(self) -> int:
        """Number of questions with passages."""
        return sum(bool(question.passages) for question in self.distinct)

    @property
    def distinct(self) -> tuple[Question, ...]:
        """Questions without copies for additional answers."""
        return tuple(question for question in self.questions if question.id == base_id(question.id))

    @property
    def each(self) -> str:
        """Number of answers per question, in words; empty if every system has one answer."""
        counts = {count for some in self._times.values() for count in some.values()}
        least, most = min(counts, default=1), max(counts, default=1)
        words = f", {most} answers each" if least == most else f", {least} to {most} answers each"
        return words if most > 1 else ""

    @property
    def lacking(self) -> Mapping[str, int]:
        """Number of questions without an answer, by system, for incomplete systems."""
        count = len(self.distinct)
        return {system: count - len(some) for system, some in self._times.items() if len(some) < count}

    @property
    def _times(self) -> Mapping[str, Counter[str]]:
        return {
            system: Counter(base_id(answer.question_id) for answer in answers)
            for system, answers in self.answers.items()
        }


@dataclass(slots=True)
class _Contents:
    """Contents of the files on one question."""

    texts: list[str] = field(default_factory=list)
    references: list[str] = field(default_factory=list)
    domain: str = ""
    passages: tuple[Passage, ...] = ()


def pool(
    tables: Sequence[AnswerTable],
    references: AnswerTable | None = None,
    known: Sequence[Question] = (),
    *,
    keep_errors: bool = False,
    repeats: bool = False,
) -> Pool:
    """Join tables of answers and an optional table of references.

    References take precedence over those in tables; known questions keep their ids and order. With `repeats`,
    a system's additional answers go to copies of the question (`data.models.base_id`).

    Raises:
        InputError: No reference matches an answered question, rows contradict each other, or too many answers
            look like errors of a harness (unless `keep_errors`).
    """
    # Their rows are read several times.
    tables = [
        replace(table, systems={name: [*rows] for name, rows in table.systems.items()}) for table in tables
    ]
    tables, references = _by_lines(tables, references, known)
    tables = list(_without_row_ids(tables, references, known))
    joined = _Joined([*tables, *([] if references is None else [references])], known, repeats=repeats)
    if references is not None:
        for row in _rows_of(references):
            joined.add_reference(row)
    for question in known:
        joined.add_known(question)
    for number, table in enumerate(tables):
        for system, rows in table.systems.items():
            for row in rows:
                joined.add((number, table.file), system, row)
    if references is not None:
        joined.require_met(references)
    if not keep_errors:
        joined.require_no_errors()
    return joined.result()


def _by_lines(
    tables: Sequence[AnswerTable], references: AnswerTable | None, known: Sequence[Question]
) -> tuple[Sequence[AnswerTable], AnswerTable | None]:
    """Match logs and references by lines: a prompt may contain the question of a reference on its own line.

    If several tests of a log share such a line, each remains a separate question with that reference.
    """
    rows = [] if references is None else [row for row in _rows_of(references) if row.question]
    questions = [*(question.question for question in known), *(row.question for row in rows)]
    texts = {normalised(text): text for text in questions}
    lookup = tuple(
        Question(id=str(at), domain=DOMAIN, question=text) for at, text in enumerate(texts.values())
    )
    right = {normalised(row.question): row.reference or row.answer for row in rows}
    domains = {DOMAIN: DOMAIN}
    index = QuestionIndex(QuestionSet(name="none", title="none", domains=domains, questions=lookup))
    shared = set[str]()

    def with_questions(table: AnswerTable) -> AnswerTable:
        texts = dict.fromkeys(row.question for row in _rows_of(table))
        matches = (
            {text: {question.question for question in index.held(text)} for text in texts} if lookup else {}
        )
        lines = {text: some.pop() for text, some in matches.items() if len(some) == 1}
        often = Counter(map(normalised, lines.values()))

        def row_of(row: AnswerRow) -> AnswerRow:
            line = lines.get(row.question)
            if line is None:
                return row
            if often[normalised(line)] == 1:
                return row._replace(question=line)
            shared.add(normalised(line))
            return row._replace(reference=row.reference or right.get(normalised(line)))

        systems = {system: list(map(row_of, some)) for system, some in table.systems.items()}
        return replace(table, systems=systems) if lines else table

    tables = [with_questions(table) if table.tool else table for table in tables]
    if references is not None and shared:
        # Such a question has no answer of its own, unless another file has it.
        identified = {
            key for table in tables for row in _rows_of(table) for key in (row.question_id, row.question)
        }
        shared -= {
            normalised(row.question) for row in rows if identified & {row.question_id or None, row.question}
        }
        systems = {
            system: [row for row in some if normalised(row.question) not in shared]
            for system, some in references.systems.items()
        }
        references = replace(references, systems=systems)
    return tables, references


def _without_row_ids(
    tables: Sequence[AnswerTable], references: AnswerTable | None, known: Sequence[Question]
) -> Iterator[AnswerTable]:
    """Yield the tables of answers without ids that identify rows rather than questions.

    All their rows have a text, and either a text has several ids, or the ids never match those of the
    references (which also have texts) or of another file.
    """
    ids = [{row.question_id for row in _rows_of(table)} - {""} for table in tables]
    ids.append({question.id for question in known})
    right = [] if references is None else [row for row in _rows_of(references) if row.question]
    fixed = {row.question_id for row in right} - {""}
    count = Counter(itertools.chain.from_iterable(ids))
    for table, own in zip(tables, ids, strict=False):
        met = bool(own & fixed) if fixed else any(count[name] > 1 for name in own)
        texts = {normalised(row.question) for row in _rows_of(table)}
        strange = len(own) > len(texts) or bool(fixed) or any(some for some in ids if some is not own)
        if met or not strange or not all(row.question for row in _rows_of(table)):
            yield table
        else:
            systems = {
                name: [row._replace(question_id="") for row in rows] for name, rows in table.systems.items()
            }
            yield replace(table, systems=systems)


class _Joined:
    """Collects questions and answers."""

    def __init__(self, tables: Sequence[AnswerTable], known: Sequence[Question], *, repeats: bool) -> None:
        self._repeats = repeats
        rows = [row for table in tables for row in _rows_of(table)]
        self._named = any(row.question_id for row in rows if row.line)
        rows += [AnswerRow(line=0, question_id=question.id, question=question.question) for question in known]
        self._questions: dict[str, _Contents] = {question.id: _Contents() for question in known}
        texts: dict[str, set[str]] = defaultdict(set)
        for row in rows:
            if row.question_id and row.question:
                texts[row.question_id].add(normalised(row.question))
        conflicting = [name for name, several in texts.items() if len(several) > 1]
        named_only = [row for row in rows if row.question_id and not row.question]
        if conflicting and named_only:
            raise InputError(
                f"The id {quoted(conflicting[0])} has two different questions in these files, and other rows "
                "identify their questions only by id.",
                advice="Use one id per question in all files, or add the question's text to every row.",
            )
        self._by_text = bool(conflicting) or not any(row.question_id for row in rows)
        ids: dict[str, list[str]] = defaultdict(list)
        for name, several in texts.items():
            for text in several:
                ids[text].append(name)
        self._id_of = {text: names[0] for text, names in ids.items() if len(names) == 1}
        self._ambiguous = {text for text, names in ids.items() if len(names) > 1}
        self._answers: dict[str, dict[str, tuple[tuple[int, str], Answer]]] = defaultdict(dict)
        self._repeated: Counter[tuple[str, str]] = Counter()
        self._empty: Counter[str] = Counter()
        self._nameless = 0

    def add(self, file: tuple[int, str], system: str, row: AnswerRow) -> None:
        """Add an answer of a table; `file` is its number and name."""
        key = self._key(row)
        if key is None:
            self._nameless += 1
            return
        self._describe(key, row)
        answers = self._answers[system]
        if row.answer is None:
            self._empty[system] += 1
        elif key not in answers:
            answers[key] = (file, Answer(question_id=key, answer=row.answer, contexts=row.contexts))
        elif answers[key][0] != file:
            raise InputError(
                f"{answers[key][0][1]} and {file[1]} both have an answer of {system} to {self._short(key)}.",
                advice=f"Rename one of the two systems: NAME={quote(file[1])}.",
            )
        else:
            self._repeated[system, key] += 1
            if self._repeats:
                again = f"{key}{REPEAT}{1 + self._repeated[system, key]}"
                answers[again] = (file, Answer(question_id=again, answer=row.answer, contexts=row.contexts))

    def add_reference(self, row: AnswerRow) -> None:
        """Add a reference; a row without one may have it in the column of answers."""
        key = self._key(row)
        if key is None:
            self._nameless += 1
            return
        contents = self._describe(key, row)
        if row.reference is None and row.answer is not None:
            contents.references.append(row.answer)
        contents.passages = contents.passages or row.contexts

    def add_known(self, question: Question) -> None:
        """Add a question that is already known."""
        contents = self._questions[question.id]
        contents.texts = [question.question]
        if question.reference is not None:
            contents.references.append(question.reference)
        contents.domain = contents.domain or ("" if question.domain == DOMAIN else question.domain)
        contents.passages = contents.passages or question.passages

    def require_met(self, references: AnswerTable) -> None:
        """Check that a file of references or passages matches an answered question."""
        filled = [row for row in _rows_of(references) if row.reference or row.answer or row.contexts]
        answered = list(itertools.chain.from_iterable(self._answers.values()))
        questions = (self._questions[base_id(key)] for key in answered)
        if not filled or any(question.references or question.passages for question in questions):
            return
        first = next(iter(answered), "")
        theirs = quoted(filled[0].question or filled[0].question_id)
        raise InputError(
            f"No reference of {references.file} matches an answered question: the first reference is for "
            f"{theirs}, the first answer for {self._short(first) if first else 'none'}.",
            advice="Use the same question ids or texts in both files.",
        )

    def require_no_errors(self) -> None:
        """Refuse systems if a tenth or more of their answers look like errors."""
        for system, answers in self._answers.items():
            errors = self._errors(system)
            if TENTH * len(errors) >= len(answers) > 0 and errors:
                count = f"{len(errors):,} of {counted(len(answers), 'answer')} of {system}"
                raise InputError(
                    f"{count} look like a harness's error message: {quoted(errors[0])}.",
                    advice="Run them again, leave them out, or have them judged as answers: --keep-errors.",
                )

    def _errors(self, system: str) -> list[str]:
        return [answer.answer for _, answer in self._answers[system].values() if ERROR.match(answer.answer)]

    def result(self) -> Pool:
        without = [key for key, contents in self._questions.items() if not contents.texts]
        if without:
            raise InputError(
                f"No file has the text of {counted(len(without), 'question')}: "
                f"{listed(map(quoted, without), LISTED)}.",
                advice="Add the questions' texts in a file with id and question: --references FILE.",
            )
        most = Counter[str]()
        for (_, key), count in self._repeated.items() if self._repeats else ():
            most[key] = max(count, most[key])
        questions = tuple(
            Question(
                id=again,
                domain=contents.domain or DOMAIN,
                question=contents.texts[0],
                reference=next(iter(contents.references), None),
                passages=contents.passages,
            )
            for key, contents in self._questions.items()
            for again in (key, *(f"{key}{REPEAT}{2 + number}" for number in range(most[key])))
        )
        answers = {
            system: tuple(answer for _, answer in some.values()) for system, some in self._answers.items()
        }
        return Pool(
            questions=questions,
            answers=answers,
            notes=tuple(self._notes()),
            by_text=self._by_text or not self._named,
        )

    def _notes(self) -> Iterator[str]:
        if self._nameless:
            yield f"{counted(self._nameless, 'row')} without a question left out."
        for system, count in self._empty.items():
            yield f"{system}: {counted(count, 'row')} without an answer."
        for system in {} if self._repeats else dict.fromkeys(name for name, _ in self._repeated):
            count = sum(some for (name, _), some in self._repeated.items() if name == system)
            left_out = f"{counted(count, 'answer')} left out as repeated answers to a question"
            yield f"{system}: {left_out}; the first counts (see --repeats)."
        for system in self._answers:
            if errors := self._errors(system):
                answers = f"{counted(len(errors), 'answer')} like a harness's error message"
                yield f"{system}: {answers}, judged as answers: {quoted(errors[0])}."
        several = sum(len(set(contents.references)) > 1 for contents in self._questions.values())
        if several:
            yield f"{counted(several, 'question')} with several references; the first counts."

    def _key(self, row: AnswerRow) -> str | None:
        text = normalised(row.question)
        if row.question_id and not self._by_text:
            return row.question_id
        if not text:
            return None
        if not self._by_text and text in self._ambiguous:
            raise InputError(
                f"The question {quoted(row.question)} has several ids in these files, but a row has only its "
                "text.",
                advice="Add the ids to every file.",
            )
        named = None if self._by_text else self._id_of.get(text)
        return named or f"q{hashlib.sha256(text.encode()).hexdigest()[:ID_LENGTH]}"

    def _describe(self, key: str, row: AnswerRow) -> _Contents:
        contents = self._questions.setdefault(key, _Contents())
        if row.question and not contents.texts:
            contents.texts.append(row.question)
        if row.reference is not None:
            contents.references.append(row.reference)
        contents.domain = contents.domain or row.domain
        return contents

    def _short(self, key: str) -> str:
        texts = self._questions[key].texts
        return quoted(texts[0]) if texts else f"question {quoted(key)}"


def _rows_of(table: AnswerTable) -> Iterator[AnswerRow]:
    return itertools.chain.from_iterable(table.systems.values())
