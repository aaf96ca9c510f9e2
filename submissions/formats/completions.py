"""Rows of chat completions: batches of OpenAI and Anthropic, MT-bench and promptfoo.

Sources: https://platform.openai.com/docs/guides/batch, "Retrieve the results";
https://docs.claude.com/en/api/retrieving-message-batch-results; FastChat,
`fastchat/llm_judge/gen_model_answer.py`; promptfoo, `src/types/index.ts` (`EvaluateResult`).
"""

import json
from collections.abc import Mapping

from data.errors import FileFormatError
from submissions.formats import harnesses as log
from submissions.formats.registry import AnswerFormat, Fields, NamedAnswer
from submissions.problem_codes import Code
from submissions.question_index import QuestionIndex

ENDED_WELL = 200
REQUESTS = "These are the requests of a batch, not its results."


def read_openai_batch(row: Fields, _: QuestionIndex) -> NamedAnswer:
    """Return a result of a chat completion or of the Responses API; results with an error failed."""
    if "response" not in row:
        raise FileFormatError(REQUESTS, advice="Download the batch's output file.", code=Code.WRONG_SHAPE)
    response = log.mapping(row.get("response"))
    body = log.mapping(response.get("body"))
    status = response.get("status_code")
    failed = row.get("error") or body.get("error")
    if not failed and status not in {None, ENDED_WELL}:
        failed = f"HTTP {status}"
    choice = log.mapping(log.first_of(body.get("choices")))
    message = log.mapping(choice.get("message"))
    answer = log.content_text(message.get("content")) if message else _of_responses(body)
    thinking = message.get("reasoning_content")
    ended = choice.get("finish_reason") or log.mapping(body.get("incomplete_details")).get("reason")
    return NamedAnswer(
        ids=[row["custom_id"]],
        answer=answer,
        thinking=thinking if isinstance(thinking, str) else log.reasoning_text(message.get("content")),
        failed=log.failure_text(failed),
        ended=str(ended),
        others=log.completions_of(body.get("choices"))[1:],
        system=log.name_text(body.get("model")),
    )


def read_anthropic_batch(row: Fields, _: QuestionIndex) -> NamedAnswer:
    """Return a result; errored, expired and cancelled requests failed. Cited texts are in parts."""
    if "result" not in row:
        raise FileFormatError(REQUESTS, advice="Download the batch's results.", code=Code.WRONG_SHAPE)
    result = log.mapping(row.get("result"))
    ended = str(result.get("type"))
    message = log.mapping(result.get("message"))
    content = message.get("content")
    failed = "" if ended == "succeeded" else log.failure_text(result.get("error") or ended)
    return NamedAnswer(
        ids=[row["custom_id"]],
        answer=log.content_text(content, between=""),
        thinking=log.reasoning_text(content),
        failed=failed,
        ended=str(message.get("stop_reason")),
        system=log.name_text(message.get("model")),
    )


def read_mt_bench(row: Fields, _: QuestionIndex) -> NamedAnswer:
    """Return a model's answer: the first turn of the first choice answers the question."""
    choices = row.get("choices")
    turns = [log.mapping(choice).get("turns") for choice in choices] if isinstance(choices, list) else []
    return NamedAnswer(
        ids=[row.get("question_id")],
        answer=log.first_of(turns[0]),
        others=[log.first_of(turn) for turn in turns[1:]],
        further=sum(max(0, len(turn) - 1) for turn in turns if isinstance(turn, list)),
        system=log.name_text(row.get("model_id")),
    )


def read_promptfoo(row: Fields, _: QuestionIndex) -> NamedAnswer:
    """Read a result of promptfoo, whose file has every prompt and provider in the order of replies.

    Results with an error failed, except those of a failed assertion on the output.
    """
    given = log.mapping(row.get("vars"))
    metadata = {
        **log.mapping(log.mapping(row.get("testCase")).get("metadata")),
        **log.mapping(row.get("metadata")),
    }
    response = log.mapping(row.get("response"))
    output = response.get("output")
    failed = response.get("error") or (row.get("error") if output is None else None)
    ids = log.ids_of(given) or log.ids_of(metadata)
    prompt = log.mapping(row.get("prompt"))
    texts = {name: value for name, value in given.items() if isinstance(value, str)}
    # A repeat of a test has another testIdx and equal variables.
    test = json.dumps(given, sort_keys=True, ensure_ascii=False) if given else str(row.get("testIdx"))
    provider = row.get("provider")
    by = log.mapping(provider)
    whole = "\n".join(texts.values())
    return NamedAnswer(
        ids=ids,
        text=log.question_text(given) or whole or log.content_text(prompt.get("raw")),
        # promptfoo itself displays a provider's JSON as text.
        answer=json.dumps(output, ensure_ascii=False) if isinstance(output, Mapping | list) else output,
        contexts=log.contexts_of(given) or log.contexts_of(metadata),
        reference=log.reference_of(given) or log.reference_of(metadata),
        sample=test,
        again=True,
        failed=log.failure_text(failed),
        ended=str(response.get("finishReason")),
        system=log.name_text(by.get("label")) or log.name_text(by.get("id")) or log.name_text(provider),
        variant=log.name_text(prompt.get("label")) or log.name_text(row.get("promptId")),
        test=whole,
    )


def _of_responses(body: Fields) -> str:
    """Return the text of the messages in a reply of the Responses API."""
    output = body.get("output")
    items = [log.mapping(item) for item in output] if isinstance(output, list) else []
    return "\n".join(log.content_text(item.get("content")) for item in items if item.get("type") == "message")


FORMATS = (
    AnswerFormat(
        name="openai-batch",
        fits=lambda row: "custom_id" in row and ("response" in row or "body" in row),
        read=read_openai_batch,
    ),
    AnswerFormat(
        name="anthropic-batch",
        fits=lambda row: "custom_id" in row and ("result" in row or "params" in row),
        read=read_anthropic_batch,
    ),
    AnswerFormat(
        name="mt-bench",
        fits=lambda row: "turns" in log.mapping(log.first_of(row.get("choices"))),
        read=read_mt_bench,
        several=True,
    ),
    AnswerFormat(
        name="promptfoo",
        fits=lambda row: "vars" in row and ("promptIdx" in row or "testIdx" in row or "testCase" in row),
        read=read_promptfoo,
        repeats="repeats",
        keys=frozenset({"evalId", "results"}),
        rows="results",
        several=True,
    ),
)
