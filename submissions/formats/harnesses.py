"""Rows as evaluation harnesses log them: inspect, lm-evaluation-harness, HELM and OpenAI evals.

Sources: https://inspect.aisi.org.uk/eval-logs.html (`EvalSample`); lm-evaluation-harness,
`lm_eval/evaluator.py`, where `logged_samples` is filled; HELM, `benchmark/adaptation/request_state.py` and
`presentation/run_display.py` (`DisplayPrediction`); OpenAI evals, `evals/record.py` (`Event`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from data.errors import FileFormatError
from submissions.problem_codes import Code

ID_FIELDS = ("question_id", "qid", "query_id", "id", "_id")
TEXT_FIELDS = ("question", "query", "user_input", "input", "prompt")
CONTEXT_FIELDS = ("contexts", "retrieved_contexts", "passages")
ATTACHMENT = "attachment://"
EVENT = frozenset({"run_id", "event_id", "sample_id", "type", "data"})
_HELM_COUNTED = re.compile(r"id\d{1,12}")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedAnswer:
    """What a row of another tool says.

    Attributes:
        ids: What may be the question's id, the surest first.
        text: The question's text, or a prompt that holds it; may be empty.
        counted: The tool counted the ids by itself, so that they alone say nothing.
        answer: The answer; None where there is none.
        contexts: The passages that the system was given; None where there are none.
        thinking: What the model wrote before its answer.
        sample: What the tool may ask several times, of which the first counts; empty where it never does.
        unknown_references: References of the answer that are no passages of the question.
    """

    ids: Sequence[object] = ()
    text: str = ""
    counted: bool = False
    answer: object = None
    contexts: object = None
    thinking: str = ""
    sample: str = ""
    unknown_references: int = 0


def is_inspect(row: Mapping[str, object]) -> bool:
    """Whether a row is a sample of an inspect log."""
    return "epoch" in row and "input" in row and "output" in row


def read_inspect(row: Mapping[str, object]) -> NamedAnswer:
    """A sample of an inspect log; one that ended in an error has an empty answer."""
    attached = _mapping(row.get("attachments"))
    output, metadata = _mapping(row.get("output")), _mapping(row.get("metadata"))
    message = _mapping(_mapping(_first(output.get("choices"))).get("message"))
    completion = output.get("completion")
    answer = completion if isinstance(completion, str) else _content(message.get("content"))
    ids = _ids(metadata) or [row.get("id")]
    return NamedAnswer(
        ids=ids,
        text=_attached(_asked(row.get("input")), attached),
        counted=isinstance(ids[0], int),
        answer=_attached(answer, attached),
        contexts=_contexts(metadata),
        thinking=_reasoning(message.get("content")),
        sample=str(row.get("id")),
    )


def is_lm_eval(row: Mapping[str, object]) -> bool:
    """Whether a row is a sample of the lm-evaluation-harness."""
    return "doc_id" in row and "doc" in row and ("resps" in row or "filtered_resps" in row)


def read_lm_eval(row: Mapping[str, object]) -> NamedAnswer:
    """A sample of the lm-evaluation-harness: the text behind its filter, else as the model wrote it.

    Raises:
        FileFormatError: It has log-likelihoods and no text.
    """
    doc = _mapping(row["doc"])
    texts = [_first(_first(row.get(name))) for name in ("filtered_resps", "resps")]
    filtered = _first(row.get("filtered_resps"))
    answer = next((text for text in (filtered, *texts) if isinstance(text, str)), None)
    if answer is None:
        message = "The sample has no generated text, such as one of a task that compares log-likelihoods."
        raise FileFormatError(message, advice="Log a task that generates.", code=Code.WRONG_TYPE)
    ids = _ids(doc)
    asked = next((doc[name] for name in TEXT_FIELDS if isinstance(doc.get(name), str)), None)
    return NamedAnswer(
        ids=ids or [row["doc_id"]],
        text=asked if isinstance(asked, str) else _lm_eval_prompt(row.get("arguments")),
        counted=not ids,
        answer=answer,
        contexts=_contexts(doc),
        sample=str(row["doc_id"]),
    )


def is_openai_evals(row: Mapping[str, object]) -> bool:
    """Whether a row is a line of a log of OpenAI evals: its spec, an event, or the final report."""
    return row.keys() >= EVENT or "final_report" in row or (len(row) == 1 and "spec" in row)


def read_openai_evals(row: Mapping[str, object]) -> NamedAnswer | None:
    """An event in which a model was asked; None of any other line."""
    data = row.get("data")
    if row.get("type") != "sampling" or not isinstance(data, Mapping):
        return None
    sampled = data.get("sampled")
    return NamedAnswer(
        ids=[row["sample_id"]],
        text=_asked(data.get("prompt")),
        counted=True,
        answer=_first(sampled) if isinstance(sampled, list) else sampled,
        sample=str(row["sample_id"]),
    )


def is_helm(row: Mapping[str, object]) -> bool:
    """Whether a row is a request of a HELM run, or one of its predictions for display."""
    return ("instance" in row and "request" in row) or ("instance_id" in row and "predicted_text" in row)


def read_helm(row: Mapping[str, object]) -> NamedAnswer:
    """A request of a HELM run, or a prediction for display; one that failed has an empty answer."""
    instance = _mapping(row.get("instance"))
    name = row.get("instance_id", instance.get("id"))
    asked = instance.get("input")
    text = _mapping(asked).get("text") if isinstance(asked, Mapping) else asked
    completion = _mapping(_first(_mapping(row.get("result")).get("completions")))
    answer = row["predicted_text"] if "predicted_text" in row else completion.get("text", "")
    extra = _mapping(instance.get("extra_data"))
    thinking = _mapping(completion.get("thinking")).get("text")
    ids = _ids(extra) or [name]
    return NamedAnswer(
        ids=ids,
        text=text if isinstance(text, str) else "",
        counted=bool(_HELM_COUNTED.fullmatch(str(ids[0]))),
        answer=answer,
        contexts=_contexts(extra),
        thinking=thinking if isinstance(thinking, str) else "",
        sample=str(name),
    )


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _first(value: object) -> object:
    return value[0] if isinstance(value, list) and value else None


def _ids(fields: Mapping[str, object]) -> list[object]:
    return [fields[name] for name in ID_FIELDS if isinstance(fields.get(name), str | int)]


def _contexts(fields: Mapping[str, object]) -> object:
    return next((fields[name] for name in CONTEXT_FIELDS if isinstance(fields.get(name), list)), None)


def _attached(value: object, attached: Mapping[str, object]) -> str:
    """A text, where inspect stands a long one aside under its hash."""
    text = value if isinstance(value, str) else ""
    aside = attached.get(text.removeprefix(ATTACHMENT)) if text.startswith(ATTACHMENT) else None
    return aside if isinstance(aside, str) else text


def _asked(prompt: object) -> str:
    """What the user asked: a prompt, or the last message of the user in a conversation."""
    if isinstance(prompt, str):
        return prompt
    messages = [one for one in prompt if isinstance(one, Mapping)] if isinstance(prompt, list) else []
    asked = [one for one in messages if one.get("role", one.get("type")) in {"user", "human"}]
    return _content((asked or messages)[-1].get("content")) if messages else ""


def _content(content: object) -> str:
    """The text of a message, which may come in parts."""
    if isinstance(content, str):
        return content
    parts = [_mapping(part).get("text") for part in content] if isinstance(content, list) else []
    return "\n".join(part for part in parts if isinstance(part, str))


def _reasoning(content: object) -> str:
    parts = [_mapping(part).get("reasoning") for part in content] if isinstance(content, list) else []
    return "\n".join(part for part in parts if isinstance(part, str))


def _lm_eval_prompt(arguments: object) -> str:
    """The prompt of the first request, as a file (`gen_args_0`) or the harness itself (a list) has it."""
    first = _mapping(arguments).get("gen_args_0") if isinstance(arguments, Mapping) else _first(arguments)
    prompt = first.get("arg_0") if isinstance(first, Mapping) else _first(first)
    return prompt if isinstance(prompt, str) else ""
