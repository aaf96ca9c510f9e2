"""What ICAT asks of an LLM beside claims and their relations."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from judges.llm.tasks import Task

Written = Annotated[str, Field(min_length=1)]


class _Reply(BaseModel):
    model_config = ConfigDict(frozen=True)


class AspectsReply(_Reply):
    """The aspects of a question, the most important first."""

    aspects: tuple[Written, ...] = Field(min_length=1)


class AlignedAspect(_Reply):
    """An aspect that claims cover, by its id, and those claims by theirs."""

    aspect: str
    claims: tuple[str, ...]


class AlignmentReply(_Reply):
    """The aspects that the claims cover; those that no claim covers are left out."""

    covered: tuple[AlignedAspect, ...]


ASPECTS = Task(name="generate_aspects", reply=AspectsReply)
ALIGNMENT = Task(name="align_aspects", reply=AlignmentReply, max_tokens=4_096)
