"""Relations by a real NLI model in a local folder, run by ONNX Runtime.

Needs the extra `nli` (onnxruntime, MIT; tokenizers, Apache-2.0). A folder has `model.onnx`, `tokenizer.json`
and `config.json`, as exported by Optimum or published beside many models; the first may be in its `onnx`.
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
FOLDER = "Give a folder with model.onnx (or onnx/model.onnx), tokenizer.json and config.json."
BATCH = 16
LONGEST = 512
"""Tokens of a pair at most, where the model's configuration allows more or says nothing."""
RESERVED = {"roberta", "xlm-roberta", "camembert", "longformer"}
"""Model types that count positions from 2, so that their longest text is 2 shorter than they say."""
CACHED_PAIRS = 1 << 16
READ_AT_ONCE = 1 << 20


class NliRelations:
    """Relates texts by the probabilities of an NLI model's three labels.

    The likeliest label is the stance and its probability that of the relation. Of a pair that is too
    long, the longer text, as a rule the premise, is cut at its end. Pairs that were asked before come from
    memory.
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
        """Relate all pairs in a thread; each distinct one is run once, like-long ones together."""
        del question  # a model is asked of the pair alone, as it was trained
        await asyncio.to_thread(self._run, [pair for pair in dict.fromkeys(pairs) if pair not in self._known])
        found: list[Related | CallFailure] = [self._related(self._known[pair]) for pair in pairs]
        while len(self._known) > CACHED_PAIRS:
            del self._known[next(iter(self._known))]
        return found

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
        """Return the probabilities of the labels, (pairs, labels)."""
        width = max(len(each.ids) for each in encoded)
        padding = int(self._config.get("pad_token_id") or 0)
        columns = {
            "input_ids": _padded([each.ids for each in encoded], width, padding),
            "attention_mask": _padded([each.attention_mask for each in encoded], width, 0),
            "token_type_ids": _padded([each.type_ids for each in encoded], width, 0),
        }
        asked = {name: rows for name, rows in columns.items() if name in self._inputs}
        logits = np.asarray(self._session.run(None, asked)[0], dtype=np.float64)
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares: Floats = powers / powers.sum(axis=1, keepdims=True)
        return shares


@lru_cache(maxsize=2)
def open_nli(folder: str) -> NliRelations:
    """Open a model once in a process, however many metrics ask for it."""
    return NliRelations(Path(folder))


def _padded(rows: Sequence[Sequence[int]], width: int, padding: int) -> NDArray[np.int64]:
    return np.array([[*row, *[padding] * (width - len(row))] for row in rows], dtype=np.int64)


def _model_of(folder: Path) -> Path:
    for path in (folder / "model.onnx", folder / "onnx" / "model.onnx"):
        if path.is_file():
            return path
    raise SpecError(f"There is no model.onnx in {folder}.", advice=FOLDER)


def _config_of(folder: Path) -> Mapping[str, Any]:
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SpecError(f"The config.json of {folder} cannot be read: {error}.", advice=FOLDER) from error
    if not isinstance(config, dict):
        raise SpecError(f"The config.json of {folder} is not an object.", advice=FOLDER)
    return config


def _labels_of(config: Mapping[str, Any], folder: Path) -> tuple[Entailment, ...]:
    """Return the labels in the order of the model's outputs, by `id2label`."""
    named = config.get("id2label")
    names = {str(key): str(value).lower() for key, value in named.items()} if isinstance(named, dict) else {}
    labels = [
        next((label for label in Entailment if label.value == names.get(str(at))), None)
        for at in range(len(names))
    ]
    found = tuple(label for label in labels if label is not None)
    if len(found) != len(labels) or set(found) != set(Entailment):
        message = f"The model in {folder} has the labels {', '.join(names.values()) or 'of no name'}."
        advice = "Take a model whose config.json names entailment, neutral and contradiction in id2label."
        raise SpecError(message, advice=advice)
    return found


def _longest(config: Mapping[str, Any]) -> int:
    positions = config.get("max_position_embeddings")
    if not isinstance(positions, int) or positions < 1:
        return LONGEST
    return min(LONGEST, positions - 2 if config.get("model_type") in RESERVED else positions)


def _tokenizer_of(folder: Path, config: Mapping[str, Any]) -> Any:  # noqa: ANN401 - of an extra, untyped
    try:
        from tokenizers import Tokenizer  # noqa: PLC0415 - an extra
    except ImportError as error:
        message = f"The model in {folder} needs the library tokenizers, which is not installed."
        raise SpecError(message, advice=EXTRA) from error
    path = folder / "tokenizer.json"
    if not path.is_file():
        raise SpecError(f"There is no tokenizer.json in {folder}.", advice=FOLDER)
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises a bare Exception for whatever is wrong
        raise SpecError(f"The tokenizer.json of {folder} cannot be used: {error}.", advice=FOLDER) from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(_longest(config), strategy="longest_first")
    return tokenizer


def _session_of(path: Path) -> Any:  # noqa: ANN401 - of an extra, untyped
    try:
        import onnxruntime  # noqa: PLC0415 - an extra
    except ImportError as error:
        message = f"The model in {path.parent} needs the library onnxruntime, which is not installed."
        raise SpecError(message, advice=EXTRA) from error
    try:
        return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    except Exception as error:  # its errors have no common base but Exception
        raise SpecError(
            f"{path} is not a model that ONNX Runtime can run: {error}.", advice=FOLDER
        ) from error


def _hash_of(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(READ_AT_ONCE):
            digest.update(piece)
    return digest.hexdigest()
