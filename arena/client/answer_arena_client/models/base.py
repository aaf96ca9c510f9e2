"""What all values share."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """A frozen value that an arena sent; fields that only newer arenas have are left out."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Problem(Value):
    """One thing that is wrong with a file or a request."""

    line: int = 0
    """Line of the file, from 1; 0 for the file or request as a whole."""
    code: str
    severity: str = "error"
    """`error` or `warning`."""
    message: str
    advice: str = ""
