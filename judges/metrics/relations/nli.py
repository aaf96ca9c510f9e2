"""Relations by an NLI model in a local folder, run by ONNX Runtime.

Needs the extra `nli` (onnxruntime, MIT; tokenizers, Apache-2.0). The folder contains `model.onnx` (or
`onnx/model.onnx`), `tokenizer.json` and `config.json`, as exported by Optimum.
"""

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from data.errors import SpecError
from judges.llm.requests import CallFailure
from judges.metrics.relations.model import Entailment, Pair, Related

Floats: TypeAlias = NDArray[np.float64]
EXTRA = "Install it: `pip install answer-arena[nli]`."
FOLDER = "Use a folder with model.onnx (or onnx/model.onnx), tokenizer.json and config.json."
BATCH = 16
MAX_TOKENS = 512
"""Maximum number of tokens of a pair; the model's configuration may lower it."""
RESERVED = {"roberta", "xlm-roberta", "camembert", "longformer"}
"""Model types that count positions from 2, so that their maximum length is 2 lower than configured."""
CACHED_PAIRS = 1 << 16
READ_AT_ONCE = 1 << 20


class NliRelations:
    """Relates texts by the probabilities of an NLI model's three labels.

    The most probable label is the stance. In pairs that are too long, the longer text, usually the premise,
    is truncated. Pairs are cached.
    """

    def __init__(self, folder: Path, *, batch: int = BATCH) -> None:
        self._batch = batch
        self._config = _config_of(folder)
        self._labels = _labels_of(self._config, folder)
        self._tokenizer = _tokenizer_of(folder, self._config)
        path = _model_of(folder)
        self._session = _session_of(path)
        self._inputs = frozenset(entry.name for entry in self._session.get_inputs())
        self._known: dict[Pair, Floats] = {}
        self.name = f"nli:{folder.resolve().name}@{_hash_of(path)[:12]}"

    async def relate(self, pairs: Sequence[Pair], *, question: str) -> list[Related | CallFailure]:
        """Relate all pairs in a thread, each distinct pair once, in batches of similar length."""
        del question  # NLI models are trained on pairs only
        await asyncio.to_thread(self._run, [pair for pair in dict.fromkeys(pairs) if pair not in self._known])
        relations: list[Related | CallFailure] = [self._related(self._known[pair]) for pair in pairs]
        while len(self._known) > CACHED_PAIRS:
            del self._known[next(iter(self._known))]
        return relations

    def _related(self, shares: Floats) -> Related:
        best = int(shares.argmax())
        return Related(self._labels[best], float(shares[best]))

    def _run(self, pairs: Sequence[Pair]) -> None:
        if not pairs:
            return
        encoded = self._tokenizer.encode_batch([(pair.premise, pair.hypothesis) for pair in pairs])
        order = sorted(range(len(pairs)), key=lambda at: len(encoded[at].ids))
        for start in range(0, len(order), self._batch):
            places = order[start : start + self._batch]
            rows = self._shares([encoded[at] for at in places])
            self._known.update(zip((pairs[at] for at in places), rows, strict=True))

    def _shares(self, encoded: Sequence[Any]) -> Floats:
        """Return the probabilities of the labels, shape (pairs, labels)."""
        width = max(len(row.ids) for row in encoded)
        padding = int(self._config.get("pad_token_id") or 0)
        columns = {
            "input_ids": _pad([row.ids for row in encoded], width, padding),
            "attention_mask": _pad([row.attention_mask for row in encoded], width, 0),
            "token_type_ids": _pad([row.type_ids for row in encoded], width, 0),
        }
        inputs = {name: rows for name, rows in columns.items() if name in self._inputs}
        logits = np.asarray(self._session.run(None, inputs)[0], dtype=np.float64)
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares: Floats = powers / powers.sum(axis=1, keepdims=True)
        return shares


@lru_cache(maxsize=2)
def open_nli(folder: str) -> NliRelations:
    """Open a model once per process."""
    return NliRelations(Path(folder))


def _pad(rows: Sequence[Sequence[int]], width: int, padding: int) -> NDArray[np.int64]:
    return np.array([[*row, *[padding] * (width - len(row))] for row in rows], dtype=np.int64)


def _model_of(folder: Path) -> Path:
    for path in (folder / "model.onnx", folder / "onnx" / "model.onnx"):
        if path.is_file():
            return path
    raise SpecError(f"{folder} contains no model.onnx.", advice=FOLDER)


def _config_of(folder: Path) -> Mapping[str, Any]:
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SpecError(f"The config.json of {folder} cannot be read: {error}.", advice=FOLDER) from error
    if not isinstance(config, dict):
        raise SpecError(f"The config.json of {folder} is not an object.", advice=FOLDER)
    return config


def _labels_of(config: Mapping[str, Any], folder: Path) -> tuple[Entailment, ...]:
    """Return the labels of `id2label` in the order of the model's outputs."""
    table = config.get("id2label")
    names = {str(key): str(value).lower() for key, value in table.items()} if isinstance(table, dict) else {}
    entries = [
        next((label for label in Entailment if label.value == names.get(str(at))), None)
        for at in range(len(names))
    ]
    labels = tuple(label for label in entries if label is not None)
    if len(labels) != len(entries) or set(labels) != set(Entailment):
        message = f"The model in {folder} has the labels {', '.join(names.values()) or '(none)'}."
        advice = "Use a model whose config.json has entailment, neutral and contradiction in id2label."
        raise SpecError(message, advice=advice)
    return labels


def _max_tokens(config: Mapping[str, Any]) -> int:
    positions = config.get("max_position_embeddings")
    if not isinstance(positions, int) or positions < 1:
        return MAX_TOKENS
    return min(MAX_TOKENS, positions - 2 if config.get("model_type") in RESERVED else positions)


def _tokenizer_of(folder: Path, config: Mapping[str, Any]) -> Any:  # noqa: ANN401 - of an extra, untyped
    try:
        from tokenizers import Tokenizer  # noqa: PLC0415 - an extra
    except ImportError as error:
        message = f"The model in {folder} needs the library tokenizers, which is not installed."
        raise SpecError(message, advice=EXTRA) from error
    path = folder / "tokenizer.json"
    if not path.is_file():
        raise SpecError(f"{folder} contains no tokenizer.json.", advice=FOLDER)
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises bare exceptions
        raise SpecError(f"The tokenizer.json of {folder} is invalid: {error}.", advice=FOLDER) from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(_max_tokens(config), strategy="longest_first")
    return tokenizer


def _session_of(path: Path) -> Any:  # noqa: ANN401 - of an extra, untyped
    try:
        import onnxruntime  # noqa: PLC0415 - an extra
    except ImportError as error:
        message = f"The model in {path.parent} needs the library onnxruntime, which is not installed."
        raise SpecError(message, advice=EXTRA) from error
    try:
        return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    except Exception as error:  # its errors have no other common base
        raise SpecError(
            f"{path} is not a model that ONNX Runtime can run: {error}.", advice=FOLDER
        ) from error


def _hash_of(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(READ_AT_ONCE):
            digest.update(piece)
    return digest.hexdigest()
