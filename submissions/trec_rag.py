"""Answers as TREC's RAG track has them: sentences with places in a list of references, as rows of ours.

    {"topic_id": "…", "references": ["doc1", …], "answer": [{"text": "…", "citations": [0, 2]}]}

Source: https://trec-rag.github.io/annoucements/2024-track-guidelines/, "Output Format"; 2025 has the topic as
`metadata.narrative_id`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from data.errors import FileFormatError
from data.records import Question
from submissions.problem_codes import Code

TOPICS = ("question_id", "topic_id", "narrative_id", "qid")
TEXTS = ("topic", "narrative", "query", "question")
ADVICE = 'Write {"topic_id": …, "references": ["id", …], "answer": [{"text": …, "citations": [0, …]}]}.'


def is_trec_rag(row: Mapping[str, object]) -> bool:
    """Whether a row has its answer in sentences and a list of references."""
    return isinstance(row.get("answer"), list) and "references" in row


def plain_row(
    row: Mapping[str, object], find: Callable[[str], Question | None]
) -> tuple[dict[str, object], int]:
    """A row with the answer as one text, citations as `[1, 3]`, and the references as contexts.

    References are passages of the question by their ids. Those that are not are left out, and the numbers
    that cite them name no context.

    Args:
        row: As the track has it.
        find: A question by its id, or else by the topic's text.

    Returns:
        The row, and how many references are no passages of the question.

    Raises:
        FileFormatError: References, sentences or citations have another shape.
    """
    references = row["references"]
    if not isinstance(references, list) or not all(isinstance(one, str | int) for one in references):
        raise _wrong("The references are no list of ids.")
    topic = _of_topic(row, TOPICS)
    question = find(str(topic) if isinstance(topic, str | int) else "")
    texts = {} if question is None else {passage.id: passage for passage in question.passages}
    ids = [str(one) for one in references]
    distinct = tuple(dict.fromkeys(ids))
    known = [texts[name] for name in distinct if name in texts]
    unknown = [name for name in distinct if name not in texts]
    numbers = {passage.id: number for number, passage in enumerate(known, start=1)}
    # Beyond the question's passages too, which numbers count where an answer has no contexts.
    numbers |= {name: number for number, name in enumerate(unknown, start=max(len(known), len(texts)) + 1)}
    sentences = row["answer"]
    if not isinstance(sentences, list):
        raise _wrong("The answer is no list of sentences.")
    answer = " ".join(_sentence(at, one, ids, numbers) for at, one in enumerate(sentences, start=1))
    contexts = [{"id": one.id, "title": one.title, "text": one.text} for one in known]
    plain = {"question_id": topic, "answer": answer, "contexts": contexts}
    return plain, len(unknown)


def trec_row(
    run: str,
    question: Question,
    given: Sequence[str],
    sentences: Sequence[tuple[str, Sequence[str]]],
) -> dict[str, object]:
    """An answer as the track has it.

    Args:
        run: The name of the system.
        question: What was asked.
        given: Ids of the passages that the system was given, references whether they are cited or not.
        sentences: Of the answer, each with the ids of the passages that it cites.
    """
    references = list(dict.fromkeys((*given, *(name for _, cited in sentences for name in cited))))
    return {
        "run_id": run,
        "topic_id": question.id,
        "topic": question.question,
        "references": references,
        "response_length": sum(len(text.split()) for text, _ in sentences),
        "answer": [
            {"text": text, "citations": [references.index(name) for name in dict.fromkeys(cited)]}
            for text, cited in sentences
        ],
    }


def topic_text(row: Mapping[str, object]) -> str:
    """What the topic asks, as the row has it; empty where it has not."""
    text = _of_topic(row, TEXTS)
    return text if isinstance(text, str) else ""


def _of_topic(row: Mapping[str, object], names: Sequence[str]) -> object:
    metadata = row.get("metadata")
    places = (row, metadata) if isinstance(metadata, Mapping) else (row,)
    return next((place[name] for place in places for name in names if place.get(name) is not None), None)


def _sentence(at: int, value: object, ids: Sequence[str], numbers: Mapping[str, int]) -> str:
    if not isinstance(value, Mapping) or not isinstance(value.get("text"), str):
        raise _wrong(f"Sentence {at} of the answer has no text.")
    citations = value.get("citations") or []
    if not isinstance(citations, list):
        raise _wrong(f"The citations of sentence {at} are no list.")
    cited = [numbers[_reference(at, one, ids)] for one in citations]
    text = str(value["text"]).strip()
    return f"{text} [{', '.join(map(str, dict.fromkeys(cited)))}]" if cited else text


def _reference(at: int, value: object, ids: Sequence[str]) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(ids):
        return ids[value]
    if isinstance(value, str) and value in ids:
        return value
    raise _wrong(f"Sentence {at} cites {value!r:.40}, which is no place in the references.")


def _wrong(message: str) -> FileFormatError:
    return FileFormatError(message, advice=ADVICE, code=Code.WRONG_TYPE)
