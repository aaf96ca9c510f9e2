"""Azure OpenAI."""

from __future__ import annotations

from tests.providers.base import Answer, End, Mode, always, once, refusal, says, with_

FILTERED = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."

MODES = (
    Mode(
        name="azure-filtered-prompt",
        about="400 `content_filter`",
        end=End.REFUSED,
        answer=always(
            refusal(
                400,
                FILTERED,
                code="content_filter",
                innererror={"code": "ResponsibleAIPolicyViolation", "content_filter_result": {}},
            )
        ),
        says="content management policy",
        calls=1,
    ),
    Mode(
        name="azure-filtered-reply",
        about="finish reason `content_filter`, half a text",
        end=End.REFUSED,
        answer=says("<thinking>One", finish="content_filter"),
        calls=1,
    ),
    Mode(
        name="azure-window",
        about="429 with `retry-after-ms: 0` for a sliding window that is used up",
        answer=once(
            refusal(429, "Exceeded token rate limit.", headers={"retry-after-ms": "0"}, code="429"), times=3
        ),
        calls=4,
    ),
    Mode(
        name="azure-no-deployment",
        about="404 `DeploymentNotFound`",
        end=End.GIVEN_UP,
        answer=always(
            refusal(404, "The API deployment for this resource does not exist.", code="DeploymentNotFound")
        ),
        says="deployment",
        calls=1,
    ),
    Mode(
        name="azure-filter-results",
        about="content filter results beside every choice",
        answer=with_(
            choice={"content_filter_results": {"hate": {"filtered": False, "severity": "safe"}}},
            top={"prompt_filter_results": [{"prompt_index": 0}]},
        ),
        calls=1,
    ),
    Mode(
        name="azure-plain-401",
        about="401 with a body of another shape",
        end=End.GIVEN_UP,
        answer=always(Answer({"statusCode": 401, "message": "Unauthorized. Access token is missing."}, 401)),
        says="Access token is missing",
        calls=1,
    ),
)
