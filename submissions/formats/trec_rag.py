"""Answers of TREC's RAG and RAGTIME tracks: sentences with citations.

    {"topic_id": "…", "references": ["doc1", …], "answer": [{"text": "…", "citations": [0, 2]}]}
    {"metadata": {"topic_id": "…"}, "responses": [{"text": "…", "citations": {"doc1": 0.9}}]}

Sources: https://trec-rag.github.io/annoucements/2024-track-guidelines/, "Output Format". That of 2025
has the topic as `metadata.narrative_id`; https://trec-ragtime.github.io: citations are ids, with or without
a confidence.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from data.errors import FileFormatError
from data.models import Passage
from submissions.formats.harnesses import name_text
from submissions.formats.registry import AnswerFormat, Fields, NamedAnswer
from submissions.problem_codes import Code
from submissions.question_index import QuestionIndex

TOPICS = ("question_id", "topic_id", "narrative_id", "qid")
TEXTS = ("topic", "narrative", "query", "question")
ADVICE = 'Write {"topic_id": …, "references": ["id", …], "answer": [{"text": …, "citations": [0, …]}]}.'


def read_trec(row: Fields, index: QuestionIndex) -> NamedAnswer:
    """Read a row: the answer as one text with citations such as `[1, 3]`, the references as contexts.

    References are ids of the question's passages. Unknown ids keep their position without a text, so that the
    numbers of citations stay correct.
    """
    sentences = row["answer"] if isinstance(row.get("answer"), list) else row.get("responses")
    if not isinstance(sentences, list):
        raise _wrong("The answer is not a list of sentences.")
    references = [] if row.get("references") is None else row["references"]
    if not isinstance(references, list) or not all(isinstance(name, str | int) for name in references):
        raise _wrong("The references are not a list of ids.")
    topic, topic_text = _of_topic(row, TOPICS), _of_topic(row, TEXTS)
    text = topic_text if isinstance(topic_text, str) else ""
    question = next(iter(index.named([topic], text)), None)
    texts = {} if question is None else {passage.id: passage for passage in question.passages}
    # Cited ids that are not in the list are appended.
    ids = [str(name) for name in references]
    ids += [name for name in _cited_ids(sentences) if name not in ids]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(ids), start=1)}
    answer = " ".join(_sentence(at, sentence, ids, numbers) for at, sentence in enumerate(sentences, start=1))
    contexts = [asdict(texts.get(name) or Passage(name, "")) for name in numbers]
    run = "/".join(filter(None, (name_text(_of_topic(row, (name,))) for name in ("team_id", "run_id"))))
    return NamedAnswer(ids=[topic], text=text, answer=answer, contexts=contexts, system=run)


def _of_topic(row: Fields, names: Sequence[str]) -> object:
    metadata = row.get("metadata")
    places = (row, metadata) if isinstance(metadata, Mapping) else (row,)
    return next((place[name] for place in places for name in names if place.get(name) is not None), None)


def _sentence(at: int, value: object, ids: Sequence[str], numbers: Mapping[str, int]) -> str:
    if not isinstance(value, Mapping) or not isinstance(value.get("text"), str):
        raise _wrong(f"Sentence {at} of the answer has no text.")
    citations = value.get("citations") or []
    if not isinstance(citations, list | Mapping):
        raise _wrong(f"The citations of sentence {at} are not a list.")
    if isinstance(citations, Mapping):
        confidences = {
            name: value if isinstance(value, int | float) else 0 for name, value in citations.items()
        }
        citations = sorted(confidences, key=confidences.__getitem__, reverse=True)
    cited = [numbers[_reference(at, citation, ids)] for citation in citations]
    text = str(value["text"]).strip()
    return f"{text} [{', '.join(map(str, dict.fromkeys(cited)))}]" if cited else text


def _cited_ids(sentences: Sequence[object]) -> list[str]:
    lists = [sentence.get("citations") for sentence in sentences if isinstance(sentence, Mapping)]
    names = [name for citations in lists if isinstance(citations, list | Mapping) for name in citations]
    return list(dict.fromkeys(name for name in names if isinstance(name, str)))


def _reference(at: int, value: object, ids: Sequence[str]) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(ids):
        return ids[value]
    if isinstance(value, str) and value in ids:
        return value
    raise _wrong(f"Sentence {at} cites {value!r:.40}, which is not an index into the references.")


def _wrong(message: str) -> FileFormatError:
    return FileFormatError(message, advice=ADVICE, code=Code.WRONG_TYPE)


FORMATS = (
    AnswerFormat(
        name="trec-rag",
        fits=lambda row: isinstance(row.get("answer"), list) and "references" in row,
        read=read_trec,
        log=False,
        several=True,
    ),
    AnswerFormat(
        name="ragtime",
        fits=lambda row: (
            isinstance(row.get("responses"), list) and ("metadata" in row or "references" in row)
        ),
        read=read_trec,
        log=False,
        several=True,
    ),
)
