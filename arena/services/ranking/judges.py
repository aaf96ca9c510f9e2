"""The judge of a ranking: one by name or path, or a model with the usual prompt, written down as a spec."""

from __future__ import annotations

import json
import re
from pathlib import Path

from arena.services.judging.judges import JudgeService
from data.errors import InputError, NotFoundError
from judges.spec import JudgeSpec

USUAL = "reference-free"
"""Whose prompt and settings a bare model is asked with."""
EMBEDDED = "lexical"
UNSAFE = re.compile(r"[^A-Za-z0-9._+-]++")
ADVICE = (
    "Name a judge: `--judge gpt-5-mini` with OPENAI_API_KEY set, or a model of your own, "
    "`--endpoint http://localhost:11434/v1 --judge llama3.1`."
)


class RankingJudges:
    """Finds the judge that a ranking asks for.

    Args:
        judges: Reads specs.
        folder: Where specs of models are written.
    """

    def __init__(self, judges: JudgeService, folder: Path) -> None:
        self._judges = judges
        self._folder = folder

    def named(self, judge: str, endpoint: str) -> str:
        """The name or path of a judge's spec; that of a model, or of another endpoint, is written first.

        Raises:
            InputError: It is neither a judge nor the name of a model.
            SpecError: The spec cannot be used.
        """
        if not judge:
            raise InputError("There is nobody to judge.", advice=ADVICE)
        try:
            spec = self._judges.spec(judge)
        except NotFoundError:
            if judge.endswith(".toml"):
                raise
            return self._written(judge, {"extends": USUAL, "model": judge, "endpoint": endpoint})
        written = Path(judge).resolve() if judge.endswith(".toml") else None
        if not endpoint or not spec.models or endpoint == spec.endpoint:
            return judge if written is None else str(written)
        base = judge if written is None else str(written)
        if (self._folder / f"{judge}.toml").is_file():
            # Written for a model before; its file is the whole spec.
            return self._written(judge, {"extends": USUAL, "model": spec.model, "endpoint": endpoint})
        return self._written(spec.name, {"extends": base, "endpoint": endpoint})

    def spec(self, name: str) -> JudgeSpec:
        """The spec that a ranking's judge has."""
        return self._judges.spec(name)

    def _written(self, name: str, values: dict[str, str]) -> str:
        stem = UNSAFE.sub("-", name).strip("-.")[:100]
        if not stem:
            raise InputError(f"{name!r} is neither a judge nor the name of a model.", advice=ADVICE)
        if values["extends"] == stem:
            stem = f"{stem}-here"
        lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items() if value]
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / f"{stem}.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return stem
