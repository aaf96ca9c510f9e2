"""Rows of other tools: logs of evaluation harnesses, chat completions, and TREC's RAG and RAGTIME tracks.

Sources: https://inspect.aisi.org.uk/eval-logs.html (`EvalSample`); lm-evaluation-harness,
`lm_eval/evaluator.py`, where `logged_samples` is filled; HELM, `benchmark/adaptation/request_state.py` and
`presentation/run_display.py` (`DisplayPrediction`); OpenAI evals, `evals/record.py` (`Event`);
https://platform.openai.com/docs/guides/batch, "Retrieve the results";
https://docs.claude.com/en/api/retrieving-message-batch-results; FastChat,
`fastchat/llm_judge/gen_model_answer.py`; promptfoo, `src/types/index.ts` (`EvaluateResult`);
https://trec-rag.github.io/annoucements/2024-track-guidelines/, "Output Format", where that of 2025 has the
topic as `metadata.narrative_id`; https://trec-ragtime.github.io: citations are ids, with or without a
confidence.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, TypeVar

from data.errors import FileFormatError
from data.files.tables.columns import NAMES, Column, renamed
from data.files.tables.values import has_value, id_text, list_of_cell, passages_of, unpacked
from data.models import Passage
from submissions.formats.registry import AnswerFormat, Fields, NamedAnswer, Read
from submissions.problem_codes import Code
from submissions.question_index import QuestionIndex

Cell = TypeVar("Cell")
ATTACHMENT = "attachment://"
CITING = frozenset({"metadata", "references"})
EVENT = frozenset({"run_id", "event_id", "sample_id", "type", "data"})
_HELM_COUNTED = re.compile(r"id\d{1,12}")


def read_ragas(row: Fields, _: QuestionIndex) -> NamedAnswer:
    """Return a ragas row, with the ids of its contexts in a separate field."""
    fields = renamed(row)
    question, name = fields.get(Column.QUESTION), fields.get(Column.QUESTION_ID)
    return NamedAnswer(
        ids=[name] if has_value(name) else [],
        counted=isinstance(name, int | float),
        text=question if isinstance(question, str) else "",
        answer=fields.get(Column.ANSWER),
        contexts=_with_ids(fields.get(Column.CONTEXTS), row.get("retrieved_context_ids")),
        reference=fields.get(Column.REFERENCE),
    )


def _with_ids(contexts: object, names: object) -> object:
    passages, names = (list_of_cell(cell) if isinstance(cell, str) else cell for cell in (contexts, names))
    if isinstance(passages, list) and isinstance(names, list):
        if len(passages) != len(names):
            message = f"There are {len(passages):,} contexts and {len(names):,} retrieved_context_ids."
            raise FileFormatError(message, advice="Add an id for each context.", code=Code.BAD_CONTEXT)
        passages = [
            {"id": name, "text": text} if has_value(name) else text
            for name, text in zip(names, passages, strict=True)
        ]
    return None if contexts is None else [asdict(passage) for passage in passages_of(passages, "c")]


def read_inspect(row: Fields, _: QuestionIndex) -> NamedAnswer:
    """Return a sample of an inspect log; failed, limited and invalidated samples have no answer."""
    attached = mapping(row.get("attachments"))
    metadata, content = mapping(row.get("metadata")), at(row, "output.choices.0.message.content")
    completion = at(row, "output.completion")
    answer = completion if isinstance(completion, str) else content_text(content)
    ids = ids_of(metadata) or [row.get("id")]
    limit, invalid = at(row, "limit.type"), row.get("invalidation")
    stopped = f"stopped by its {limit} limit" if limit else "invalidated" if invalid else ""
    return NamedAnswer(
        ids=ids,
        text=_attached(_asked(row.get("input")), attached),
        counted=isinstance(ids[0], int),
        answer=_attached(answer, attached),
        contexts=cell_of(metadata, Column.CONTEXTS, list),
        reference=cell_of(metadata, Column.REFERENCE, str),
        thinking=reasoning_text(content),
        sample=str(row.get("id")),
        again=True,
        failed=failure_text(row.get("error")) or stopped,
        ended=str(at(row, "output.choices.0.stop_reason")),
        others=[_attached(text, attached) for text in completions_of(at(row, "output.choices"))[1:]],
        system=name_text(at(row, "eval.model")),
    )


def read_lm_eval(row: Fields, _: QuestionIndex) -> NamedAnswer:
    """Return a sample of the lm-evaluation-harness: the model's output before any filter."""
    doc = mapping(row["doc"])
    texts = _written(row.get("resps"))
    if not isinstance(answer := texts[0] if texts else None, str):
        message = "The sample has no generated text, as in tasks that compare log-likelihoods."
        if any(isinstance(text, str) for text in _written(row.get("filtered_resps"))):
            message = "The sample has only filtered_resps, the output of a filter."
        advice = "Log the samples of a generation task, including resps."
        raise FileFormatError(message, advice=advice, code=Code.WRONG_TYPE)
    ids = ids_of(doc)
    return NamedAnswer(
        ids=ids or [row["doc_id"]],
        text=cell_of(doc, Column.QUESTION, str) or _lm_eval_prompt(row.get("arguments")),
        counted=not ids,
        answer=answer.strip(),
        contexts=cell_of(doc, Column.CONTEXTS, list),
        reference=cell_of(doc, Column.REFERENCE, str)
        or (target if isinstance(target := row.get("target"), str) else None),
        sample=str(row["doc_id"]),
        others=texts[1:],
    )


def read_openai_evals(row: Fields, _: QuestionIndex) -> NamedAnswer | None:
    """Return a model call; None for other events."""
    data = row.get("data")
    if row.get("type") != "sampling" or not isinstance(data, Mapping):
        return None
    sampled = data.get("sampled")
    return NamedAnswer(
        ids=[row["sample_id"]],
        text=_asked(data.get("prompt")),
        counted=True,
        answer=first_of(sampled) if isinstance(sampled, list) else sampled,
        sample=str(row["sample_id"]),
        others=completions_of(sampled)[1:],
    )


def read_helm(row: Fields, _: QuestionIndex) -> NamedAnswer:
    """Return a request of a HELM run, or a prediction for display."""
    instance, extra = mapping(row.get("instance")), mapping(at(row, "instance.extra_data"))
    name = row.get("instance_id", instance.get("id"))
    failed = at(row, "result.error") or "no success" if at(row, "result.success") is False else None
    completions = at(row, "result.completions")
    ids = ids_of(extra) or [name]
    return NamedAnswer(
        ids=ids,
        text=text_at(instance, "input.text") or text_at(instance, "input"),
        counted=bool(_HELM_COUNTED.fullmatch(str(ids[0]))),
        answer=row.get("predicted_text", mapping(first_of(completions)).get("text", "")),
        contexts=cell_of(extra, Column.CONTEXTS, list),
        reference=cell_of(extra, Column.REFERENCE, str),
        thinking=text_at(completions, "0.thinking.text"),
        sample=f"{row.get('run', '')} {name}",
        failed=failure_text(failed),
        ended=str(at(completions, "0.finish_reason.reason")),
        again=not (instance or row).get("perturbation"),
        others=completions_of(completions)[1:],
        system=name_text(at(row, "request.model")),
    )


def read_objects(request_field: str, response_field: str, row: Fields, _: QuestionIndex) -> NamedAnswer:
    """Return a row with separate fields for request and response, each an object or a text."""
    request, response = unpacked(row.get(request_field)), unpacked(row.get(response_field))
    doc, answered, metadata = mapping(request), mapping(response), mapping(row.get("metadata"))
    prompt = doc.get("messages", doc.get("contents", request))
    ids = ids_of(doc) or list(filter(has_value, map(row.get, ("example_id", "recordId", "key"))))
    right = renamed(row).get(Column.REFERENCE) or row.get("expected_response/value") or _gold(doc)
    return NamedAnswer(
        ids=ids,
        text=cell_of(doc, Column.QUESTION, str) or _asked(prompt) or _only_text(doc),
        counted=str(next(iter(ids), "")).isdigit(),
        answer=_answer_in(response),
        contexts=cell_of(doc, Column.CONTEXTS, list) or cell_of(metadata, Column.CONTEXTS, list),
        reference=right if isinstance(right, str) else _only_text(mapping(right)) or None,
        thinking=text_at(answered, "reasonings.0") or text_at(answered, "reasoning"),
        failed=failure_text(row.get("error_message") or (row.get("error") if response is None else None)),
        others=completions_of(answered.get("text", answered.get("choices", response)))[1:],
        system=name_text(row.get("model") or answered.get("model") or answered.get("modelVersion")),
    )


def read_output_item(row: Fields, index: QuestionIndex) -> NamedAnswer:
    """Return an output item of a run of OpenAI's Evals API."""
    return read_objects(
        "input", "output", {**mapping(row["datasource_item"]), **mapping(row["sample"])}, index
    )


def read_deepeval(row: Fields, index: QuestionIndex) -> NamedAnswer:
    """Return a row of deepeval's CSV or JSONL, which join passages with a vertical bar."""
    passages = [passage for passage in str(row["retrieval_context"]).split("|") if passage]
    return read_ragas({**row, "retrieval_context": passages}, index)


def mapping(value: object) -> Mapping[str, object]:
    """Return the value if it is an object, else an empty object."""
    return value if isinstance(value, Mapping) else {}


def first_of(value: object) -> object:
    """Return the first item of a list; None for an empty list and other values."""
    return value[0] if isinstance(value, list) and value else None


def at(value: object, path: str) -> object:
    """Return the value at a path such as `choices.0.message`; None if there is none."""
    for name in path.split("."):
        value = first_of(value) if name == "0" else mapping(value).get(name)
    return value


def text_at(value: object, path: str) -> str:
    """Return the string at a path; empty if there is none."""
    text = at(value, path)
    return text if isinstance(text, str) else ""


def completions_of(value: object) -> list[str]:
    """Return the texts of a list of completions."""
    texts = []
    for completion in value if isinstance(value, list) else ():
        message = mapping(completion).get("message", completion)
        fields = mapping(message)
        texts.append(
            message if isinstance(message, str) else content_text(fields.get("content", fields.get("text")))
        )
    return texts


def name_text(value: object) -> str:
    """Convert a text to a valid system name: one line, without `@`, which marks versions."""
    return " ".join(value.replace("@", "-").split()) if isinstance(value, str) else ""


def _answer_in(response: object) -> object:
    """Return the text of a response: itself, the message of a choice, or a field named like an answer."""
    fields = mapping(response)
    paths = ("choices.0.message", "candidates.0.content", "output.message")
    messages = (mapping(at(fields, path)) for path in paths)
    message = next(filter(None, messages), fields)
    names = ("text_post_processed", *NAMES[Column.ANSWER])
    texts = (*map(message.get, ("content", "parts", "refusal")), *map(fields.get, names))
    content = next((text for text in (*texts, None if fields else response) if text is not None), None)
    first = first_of(content)
    return first if isinstance(first, str) else content_text(content) or _only_text(fields) or response


def _only_text(fields: Mapping[str, object]) -> str:
    texts = [value for value in fields.values() if isinstance(value, str) and value]
    return texts[0] if len(texts) == 1 else ""


def _gold(doc: Mapping[str, object]) -> object:
    """Return the correct choice of a lighteval sample."""
    place, choices = doc.get("gold_index"), doc.get("choices")
    place = first_of(place) if isinstance(place, list) else place
    return first_of(choices[place:]) if isinstance(choices, list) and isinstance(place, int) else None


def ids_of(fields: Mapping[str, object]) -> list[object]:
    """Return the candidates for the question's id, most reliable first."""
    return [fields[name] for name in NAMES[Column.QUESTION_ID] if id_text(fields.get(name))]


def cell_of(fields: Mapping[str, object], column: Column, kind: type[Cell]) -> Cell | None:
    """Return the value of a column under any of its names, if it has a type."""
    cells = (fields.get(name) for name in NAMES[column])
    return next((cell for cell in cells if isinstance(cell, kind)), None)


def failure_text(error: object) -> str:
    """Return the last line of an error in a log; empty without an error."""
    text = at(error, "message") or at(error, "error.message") or error
    lines = str(text).strip().splitlines() if text else []
    return lines[-1] if lines else ""


def _attached(value: object, attached: Mapping[str, object]) -> str:
    text = value if isinstance(value, str) else ""
    aside = attached.get(text.removeprefix(ATTACHMENT)) if text.startswith(ATTACHMENT) else None
    return aside if isinstance(aside, str) else text


def _asked(prompt: object) -> str:
    """Return the user's request: a prompt, or the last message of the user in a conversation."""
    if isinstance(prompt, str):
        return prompt
    messages = [item for item in prompt if isinstance(item, Mapping)] if isinstance(prompt, list) else []
    by_user = [row for row in messages if str(row.get("role", row.get("type"))).lower() in {"user", "human"}]
    last = (by_user or messages or [{}])[-1]
    return content_text(last.get("content", last.get("parts", last.get("prompt"))))


def content_text(content: object, *, between: str = "\n") -> str:
    """Return the text of a message, which may come in parts."""
    if isinstance(content, str):
        return content
    parts = [mapping(part).get("text") for part in content] if isinstance(content, list) else []
    return between.join(part for part in parts if isinstance(part, str))


def reasoning_text(content: object) -> str:
    """Return a model's reasoning from the parts of its message."""
    parts = [
        mapping(part).get(name)
        for part in (content if isinstance(content, list) else ())
        for name in ("reasoning", "thinking")
    ]
    return "\n".join(part for part in parts if isinstance(part, str))


def _written(responses: object) -> list[object]:
    """Return the texts of the first request, unwrapping nested lists."""
    while isinstance(first := first_of(responses), list):
        responses = first
    return responses if isinstance(responses, list) else [responses]


def _lm_eval_prompt(arguments: object) -> str:
    """Return the prompt of the first request, from a file (`gen_args_0`) or the harness (a list).

    Prompts of chat models are messages as a JSON string in a list; the last one of the user counts.
    """
    first = mapping(arguments).get("gen_args_0") if isinstance(arguments, Mapping) else first_of(arguments)
    prompt = first.get("arg_0") if isinstance(first, Mapping) else first_of(first)
    prompt = first_of(prompt) if isinstance(prompt, list) else prompt
    return _asked(unpacked(prompt)) or (prompt if isinstance(prompt, str) else "")


OBJECTS = {
    "mlflow": ("request", "response"),
    "lighteval": ("doc", "model_response"),
    "opencompass": ("origin_prompt", "prediction"),
    "langsmith": ("inputs", "outputs"),
    "pydantic-evals": ("inputs", "output"),
    "evalscope": ("messages", "model_output"),
    "bedrock-batch": ("modelInput", "modelOutput"),
    "litellm": ("messages", "response"),
}
"""Fields of request and response; failed cases lack the response."""


ENDED_WELL = 200
REQUESTS = "These are the requests of a batch, not its results."


def read_openai_batch(row: Fields, _: QuestionIndex) -> NamedAnswer:
    """Return a result of a chat completion or of the Responses API; results with an error count as failed."""
    if "response" not in row:
        raise FileFormatError(REQUESTS, advice="Download the batch's output file.", code=Code.WRONG_SHAPE)
    body, status = mapping(at(row, "response.body")), at(row, "response.status_code")
    failed = row.get("error") or body.get("error")
    if not failed and status not in {None, ENDED_WELL}:
        failed = f"HTTP {status}"
    message = mapping(at(body, "choices.0.message"))
    content = message.get("content")
    return NamedAnswer(
        ids=[row["custom_id"]],
        answer=content_text(content) or text_at(message, "refusal") if message else _of_responses(body),
        thinking=text_at(message, "reasoning_content") or reasoning_text(content),
        failed=failure_text(failed),
        ended=str(at(body, "choices.0.finish_reason") or at(body, "incomplete_details.reason")),
        others=completions_of(body.get("choices"))[1:],
        system=name_text(body.get("model")),
    )


def read_anthropic_batch(row: Fields, _: QuestionIndex) -> NamedAnswer:
    """Return a result; errored, expired and cancelled requests failed. Cited texts are in parts."""
    if "result" not in row:
        raise FileFormatError(REQUESTS, advice="Download the batch's results.", code=Code.WRONG_SHAPE)
    ended, content = str(at(row, "result.type")), at(row, "result.message.content")
    return NamedAnswer(
        ids=[row["custom_id"]],
        answer=content_text(content, between=""),
        thinking=reasoning_text(content),
        failed="" if ended == "succeeded" else failure_text(at(row, "result.error") or ended),
        ended=str(at(row, "result.message.stop_reason")),
        system=name_text(at(row, "result.message.model")),
    )


def read_mt_bench(row: Fields, _: QuestionIndex) -> NamedAnswer:
    """Return a model's answer: the first turn of the first choice answers the question."""
    choices = row.get("choices")
    turns = [mapping(choice).get("turns") for choice in choices] if isinstance(choices, list) else []
    return NamedAnswer(
        ids=[row.get("question_id")],
        answer=first_of(turns[0]),
        others=[first_of(turn) for turn in turns[1:]],
        further=sum(max(0, len(turn) - 1) for turn in turns if isinstance(turn, list)),
        system=name_text(row.get("model_id")),
    )


def read_promptfoo(row: Fields, _: QuestionIndex) -> NamedAnswer:
    """Read a result of promptfoo, whose file has every prompt and provider in the order of replies.

    Results with an error failed, except those of a failed assertion on the output.
    """
    given = mapping(row.get("vars"))
    metadata = {**mapping(at(row, "testCase.metadata")), **mapping(row.get("metadata"))}
    output, provider = at(row, "response.output"), row.get("provider")
    failed = at(row, "response.error") or (row.get("error") if output is None else None)
    whole = "\n".join(value for value in given.values() if isinstance(value, str))
    # A repeat of a test has another testIdx and equal variables.
    test = json.dumps(given, sort_keys=True, ensure_ascii=False) if given else str(row.get("testIdx"))
    return NamedAnswer(
        ids=ids_of(given) or ids_of(metadata),
        text=cell_of(given, Column.QUESTION, str) or whole or content_text(at(row, "prompt.raw")),
        # promptfoo itself displays a provider's JSON as text.
        answer=json.dumps(output, ensure_ascii=False) if isinstance(output, Mapping | list) else output,
        contexts=cell_of(given, Column.CONTEXTS, list) or cell_of(metadata, Column.CONTEXTS, list),
        reference=cell_of(given, Column.REFERENCE, str) or cell_of(metadata, Column.REFERENCE, str),
        sample=test,
        again=True,
        failed=failure_text(failed),
        ended=str(at(row, "response.finishReason")),
        system=name_text(at(provider, "label")) or name_text(at(provider, "id")) or name_text(provider),
        variant=name_text(at(row, "prompt.label")) or name_text(row.get("promptId")),
        test=whole,
    )


def _of_responses(body: Fields) -> str:
    """Return the text of the messages in a reply of the Responses API."""
    output = body.get("output")
    items = [mapping(item) for item in output] if isinstance(output, list) else []
    return "\n".join(content_text(item.get("content")) for item in items if item.get("type") == "message")


TOPICS = ("question_id", "topic_id", "narrative_id", "qid")
TEXTS = ("topic", "narrative", "query", "question")
TREC_ADVICE = 'Write {"topic_id": …, "references": ["id", …], "answer": [{"text": …, "citations": [0, …]}]}.'


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
    return FileFormatError(message, advice=TREC_ADVICE, code=Code.WRONG_TYPE)


def _format(name: str, fits: str | Callable[[Fields], bool], read: Read, **more: Any) -> AnswerFormat:  # noqa: ANN401 - fields
    """Return a format of rows that fit: that have all fields of an alternative, which bars separate."""
    if isinstance(fits, str):
        several = [frozenset(fields.split()) for fields in fits.split("|")]
        return _format(name, lambda row: any(row.keys() >= fields for fields in several), read, **more)
    return AnswerFormat(name=name, fits=fits, read=read, **more)


FORMATS = (
    *(
        _format(name, fits, read_trec, log=False, several=True)
        for name, fits in (
            ("trec-rag", lambda row: isinstance(row.get("answer"), list) and "references" in row),
            ("ragtime", lambda row: isinstance(row.get("responses"), list) and not CITING.isdisjoint(row)),
        )
    ),
    _format("ragas", "user_input", read_ragas, log=False, columns=True),
    _format(
        "inspect",
        "epoch input output",
        read_inspect,
        repeats="epochs",
        keys=frozenset({"version", "eval"}),
        rows="samples",
    ),
    _format("lm-eval", "doc_id doc resps|doc_id doc filtered_resps", read_lm_eval, repeats="filters"),
    _format(
        "helm",
        "instance request|instance_id predicted_text",
        read_helm,
        repeats="trials or perturbations",
        keys=frozenset({"adapter_spec"}),
        rows="request_states",
        several=True,
    ),
    _format(
        "openai-evals",
        lambda row: row.keys() >= EVENT or "final_report" in row or row.keys() == {"spec"},
        read_openai_evals,
        repeats="calls",
    ),
    _format(
        "deepeval",
        lambda row: (
            "actual_output" in row
            and isinstance(passages := row.get("retrieval_context"), str)
            and not passages.startswith("[")
        ),
        read_deepeval,
        log=False,
        columns=True,
    ),
    _format("openai-evals-api", "datasource_item sample", read_output_item),
    *(
        _format(name, "{0} {1}|{0} error_message".format(*fields), partial(read_objects, *fields))
        for name, fields in OBJECTS.items()
    ),
    _format(
        "gemini-batch",
        lambda row: isinstance(at(row, "response.candidates"), list),
        partial(read_objects, "request", "response"),
    ),
    _format("openai-batch", "custom_id response|custom_id body", read_openai_batch),
    _format("anthropic-batch", "custom_id result|custom_id params", read_anthropic_batch),
    _format("mt-bench", lambda row: "turns" in mapping(at(row, "choices.0")), read_mt_bench, several=True),
    _format(
        "promptfoo",
        "vars promptIdx|vars testIdx|vars testCase",
        read_promptfoo,
        repeats="repeats",
        keys=frozenset({"evalId", "results"}),
        rows="results",
        several=True,
    ),
)
