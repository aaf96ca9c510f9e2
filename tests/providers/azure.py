"""Azure OpenAI."""

from __future__ import annotations

from tests.providers.base import Answer, End, Mode, always, once, refusal, says, with_

FILTERED = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."

MODES = (
    Mode(
        "azure-filtered-prompt",
        "400 `content_filter`",
        always(
            refusal(
                400,
                FILTERED,
                code="content_filter",
                innererror={"code": "ResponsibleAIPolicyViolation", "content_filter_result": {}},
            )
        ),
        End.REFUSED,
        "content management policy",
    ),
    Mode(
        "azure-filtered-reply",
        "finish reason `content_filter`, half a text",
        says("<thinking>One", finish="content_filter"),
        End.REFUSED,
    ),
    Mode(
        "azure-window",
        "429 with `retry-after-ms: 0` for a sliding window that is used up",
        once(
            refusal(429, "Exceeded token rate limit.", headers={"retry-after-ms": "0"}, code="429"), times=3
        ),
        calls=4,
    ),
    Mode(
        "azure-no-deployment",
        "404 `DeploymentNotFound`",
        always(
            refusal(404, "The API deployment for this resource does not exist.", code="DeploymentNotFound")
        ),
        End.GIVEN_UP,
        "deployment",
    ),
    Mode(
        "azure-filter-results",
        "content filter results beside every choice",
        with_(
            choice={"content_filter_results": {"hate": {"filtered": False, "severity": "safe"}}},
            top={"prompt_filter_results": [{"prompt_index": 0}]},
        ),
    ),
    Mode(
        "azure-plain-401",
        "401 with a body of another shape",
        always(Answer({"statusCode": 401, "message": "Unauthorized. Access token is missing."}, 401)),
        End.GIVEN_UP,
        "Access token is missing",
    ),
)
