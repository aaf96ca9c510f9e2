"""Question sets as BEIR's folders: `corpus.jsonl`, `queries.jsonl` and `qrels/SPLIT.tsv`.

Fields that BEIR does not know are in the `metadata` of a query, so that sets survive a round trip.

Source: Thakur et al. (2021), "BEIR"; https://github.com/beir-cellar/beir/wiki/Load-your-custom-dataset.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from data.errors import InputError
from data.files.question_sets.registry import DOMAIN, SetDraft, SetFormat
from data.files.question_sets.rows import question_from_json, question_to_json, require_unused, set_head
from data.files.tables.reader import each_record
from data.files.text_files import ReadLimits
from data.files.trec import BEIR_HEADER, WHOLE, read_qrels, run_field
from data.models import Passage, ProblemList, Question, QuestionSet, Severity, Split

CORPUS, QUERIES, QRELS = "corpus.jsonl", "queries.jsonl", "qrels"
TEST, DEV, TRAIN = "test", "dev", "train"
MAX_PASSAGES = 50
"""Relevant documents of a question that become its passages; if there are more, only their ids are read."""
MAX_NAMED = 5
RELEVANT_FROM = 1.0


class _Folder:
    """Reader of a folder.

    Questions are the queries with judgments in `test` or `dev` (without both, in `train`), and those of our
    own sets. Relevant documents become a question's documents and passages.
    """

    def __init__(self, folder: Path, limits: ReadLimits, problems: ProblemList) -> None:
        self._folder, self._limits, self._problems = folder, limits, problems
        files = {
            name: file for name in (TEST, DEV, TRAIN) if (file := folder / QRELS / f"{name}.tsv").is_file()
        }
        selected = {name: file for name, file in files.items() if name != TRAIN} or files
        self._read = {name: read_qrels(file, limits) for name, file in selected.items()}

    def questions(self) -> list[Question]:
        """Return the questions and add their problems."""
        rows = [row for _, row in self._each(QUERIES)]
        selected = [row for row in rows if not self._read or _own(row) or self._grades(row) is not None]
        if len(selected) < len(rows):
            count = f"{len(rows) - len(selected):,} of {len(rows):,} queries"
            self._note("left-out", f"{count} have no judgments in test or dev, and are skipped.")
        self._note_absent(rows)
        documents = {name for row in selected for name in self._documents(row)}
        texts = {
            str(row["_id"]): Passage(str(row["_id"]), str(row["text"]), str(row.get("title") or ""))
            for _, row in (self._each(CORPUS, documents) if documents else ())
        }
        absent = documents - texts.keys()
        if absent:
            names = ", ".join(sorted(absent)[:MAX_NAMED])
            self._note("missing-document", f"{len(absent):,} documents are not in {CORPUS}: {names}.")
        large = sum(not _own(row) and len(self._relevant(row)) > MAX_PASSAGES for row in selected)
        if large:
            more = f"more than {MAX_PASSAGES} relevant documents, which are not read as passages"
            self._note("left-out", f"{large:,} questions have {more}.")
        parsed = [self._question(line, row, texts) for line, row in enumerate(selected, start=1)]
        questions = [question for question in parsed if question is not None]
        for name, times in Counter(question.id for question in questions).items():
            if times > 1:
                message = f"{QUERIES}: the query id {name!r} occurs {times} times."
                self._problems.add(0, "duplicate-question", message, advice="Give every query its own id.")
        return questions

    def _note_absent(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Warn of judgments without a query, and of grades between 0 and 1."""
        names = {name for row in rows for name in (str(row["_id"]), run_field(str(row["_id"])))}
        judged = dict.fromkeys(question for qrels in self._read.values() for question in qrels.judgments)
        absent = [question for question in judged if question not in names]
        if absent:
            listed = ", ".join(absent[:MAX_NAMED])
            self._note("missing-question", f"{len(absent):,} judged queries are not in {QUERIES}: {listed}.")
        grades = (
            grade
            for qrels in self._read.values()
            for by_subtopic in qrels.judgments.values()
            for own in by_subtopic.values()
            for grade in own.values()
        )
        small = sum(0 < grade < RELEVANT_FROM for grade in grades)
        if small:
            what = f"{small:,} judgments have grades between 0 and {RELEVANT_FROM:g}"
            self._note("small-grade", f"{what}, which count as not relevant, as in trec_eval.")

    def _each(self, name: str, ids: set[str] | None = None) -> list[tuple[int, Mapping[str, Any]]]:
        def make(line: int, row: Mapping[str, Any], problems: ProblemList) -> Mapping[str, Any] | None:
            if not isinstance(row.get("_id"), str | int) or not isinstance(row.get("text"), str):
                message = f"{name}: this line has no _id with a text."
                problems.add(line, "missing-field", message, advice='Write {"_id": …, "text": …}.')
                return None
            return row if ids is None or str(row["_id"]) in ids else None

        rows = list(each_record(_file(self._folder, name), self._limits, make, self._problems))
        if name == CORPUS:
            for line, row in _conflicting_documents(rows):
                message = f"{name}: the id {row['_id']!r} occurs twice, with different texts."
                self._problems.add(
                    line, "duplicate-document", message, advice="Give every document its own id."
                )
        return rows

    def _grades(self, row: Mapping[str, Any]) -> Mapping[str, float] | None:
        """Return the grades of a query's documents; None without judgments."""
        names = (str(row["_id"]), run_field(str(row["_id"])))
        judgments = (qrels.judgments for qrels in self._read.values())
        first = next((judged[name] for judged in judgments for name in names if name in judged), None)
        return None if first is None else first.get(WHOLE, {})

    def _documents(self, row: Mapping[str, Any]) -> list[str]:
        if own := _own(row):
            return [str(entry.get("corpus_id")) for entry in own["passages"] if isinstance(entry, Mapping)]
        relevant = self._relevant(row)
        return relevant if len(relevant) <= MAX_PASSAGES else []

    def _relevant(self, row: Mapping[str, Any]) -> list[str]:
        return [name for name, grade in (self._grades(row) or {}).items() if grade >= RELEVANT_FROM]

    def _question(self, line: int, row: Mapping[str, Any], texts: Mapping[str, Passage]) -> Question | None:
        own = _own(row)
        passages = [texts[name] for name in self._documents(row) if name in texts]
        documents: object = self._relevant(row)
        if own:
            names = [str(passage.get("id")) for passage in own["passages"] if isinstance(passage, Mapping)]
            ids = dict(zip(self._documents(row), names, strict=True))
            documents = own.get("gold_doc_ids")
            if isinstance(documents, list):
                documents = [ids.get(_field(str(name)), name) for name in documents]
            passages = [Passage(ids[passage.id], passage.text, passage.title) for passage in passages]
        split = Split.DEV if self._is_dev(row) else Split.TEST
        fields: dict[str, Any] = {
            "domain": DOMAIN,
            "split": split.value,
            **own,
            "gold_doc_ids": documents,
            "id": str(own.get("id", row["_id"])),
            "question": row["text"],
            "passages": [
                {"id": passage.id, "title": passage.title, "text": passage.text} for passage in passages
            ],
        }
        return question_from_json(line, fields, self._problems)

    def _is_dev(self, row: Mapping[str, Any]) -> bool:
        by_split = {name: qrels.judgments for name, qrels in self._read.items()}
        names = {str(row["_id"]), run_field(str(row["_id"]))}
        return not names & by_split.get(TEST, {}).keys() and bool(names & by_split.get(DEV, {}).keys())

    def _note(self, code: str, message: str) -> None:
        self._problems.add(0, code, message, severity=Severity.WARNING)


def write_beir(questions: QuestionSet, folder: Path) -> None:
    """Write a set as BEIR's folder, with its head in `set.toml`."""
    if not any(question.passages for question in questions.questions):
        message = f"{questions.name} has no passages, and BEIR tools cannot read an empty {CORPUS}."
        raise InputError(message, advice="Attach passages first, or export the set in another format.")
    require_unused(folder / QUERIES, folder / CORPUS, folder / QRELS)
    (folder / QRELS).mkdir(parents=True, exist_ok=True)
    (folder / "set.toml").write_text(set_head(questions), encoding="utf-8")
    corpus: dict[str, Passage] = {}
    qrels: dict[Split, list[str]] = {split: [] for split in Split}
    with (folder / QUERIES).open("w", encoding="utf-8", newline="\n") as file:
        for question in questions.questions:
            metadata = question_to_json(question)
            # The same id as in the judgments, by which BEIR's loader finds it.
            row = {"_id": _field(question.id), "text": metadata.pop("question"), "metadata": metadata}
            if row["_id"] == question.id:
                del metadata["id"]
            names = {passage.id: _take(corpus, question, passage) for passage in question.passages}
            metadata["passages"] = [{"id": own, "corpus_id": _field(name)} for own, name in names.items()]
            # A document that is not a passage of the question keeps its id, since the corpus may not contain
            # it.
            relevant = [names.get(document, document) for document in question.gold_doc_ids]
            metadata |= {"gold_doc_ids": relevant} if relevant else {}
            qrels[question.split] += [f"{row['_id']}\t{_field(name)}\t1\n" for name in relevant]
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    with (folder / CORPUS).open("w", encoding="utf-8", newline="\n") as file:
        for name, passage in corpus.items():
            row = {"_id": _field(name), "title": passage.title, "text": passage.text}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    for split, lines in qrels.items():
        if lines:
            with (folder / QRELS / f"{split.value}.tsv").open("w", encoding="utf-8", newline="\n") as file:
                file.writelines((f"{BEIR_HEADER}\tcorpus-id\tscore\n", *lines))


def _take(corpus: dict[str, Passage], question: Question, passage: Passage) -> str:
    """Add a passage to the corpus and return its id there, which is unique for its text."""
    name = passage.id
    if corpus.get(name, passage) != passage:
        name = f"{question.id}:{passage.id}"
    while corpus.get(name, passage) != Passage(passage.id, passage.text, passage.title):
        name += "'"
    corpus[name] = passage
    return name


def _field(name: str) -> str:
    """Escape a name if it would shift fields between tabs, open a quotation or clash."""
    plain = name.isprintable() and name == name.strip() and not set(name) & set('{"%')
    return name if plain else run_field(name).replace('"', "%22")


def _own(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the metadata of a query that we wrote; empty for other tools."""
    metadata = row.get("metadata")
    if not isinstance(metadata, dict) or "domain" not in metadata:
        return {}
    return metadata if isinstance(metadata.get("passages"), list) else {}


def _conflicting_documents(
    rows: Iterable[tuple[int, Mapping[str, Any]]],
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    first: dict[str, tuple[object, object]] = {}
    for line, row in rows:
        content = (row["text"], row.get("title") or "")
        if first.setdefault(str(row["_id"]), content) != content:
            yield line, row


def _file(folder: Path, name: str) -> Path:
    plain = folder / name
    return plain if plain.is_file() else folder / f"{name}.gz"


FORMATS = (
    SetFormat(
        name="beir",
        title="corpus, queries and qrels",
        fits=lambda path: all(_file(path, name).is_file() for name in (QUERIES, CORPUS)),
        parse=lambda *arguments: SetDraft(questions=_Folder(*arguments).questions()),
        write=write_beir,
    ),
)
