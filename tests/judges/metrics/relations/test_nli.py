from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from data.errors import SpecError
from data.models import MetricItem, Passage
from judges.metrics.registry import build_metric
from judges.metrics.relations.model import Entailment, Pair, Related
from judges.metrics.relations.nli import NliRelations

onnx = pytest.importorskip("onnx", reason="onnx is absent: the tiny NLI model could not be built")
pytest.importorskip("onnxruntime", reason="the extra nli is absent: no NLI model was run")
tokenizers = pytest.importorskip("tokenizers", reason="the extra nli is absent: no NLI model was run")
helper, INT64, FLOAT = onnx.helper, onnx.TensorProto.INT64, onnx.TensorProto.FLOAT
LABELS = ("contradiction", "entailment", "neutral")
WORDS = ("[PAD]", "[UNK]", "[SEP]", "yes", "no", "rain", "sun")
YES, NO = WORDS.index("yes"), WORDS.index("no")


def tiny_model(folder: Path, labels: tuple[str, ...] = LABELS, longest: int = 64) -> Path:
    """Model that counts words: each `yes` of a pair adds 1 to the output 1, each `no` to the output 0."""
    table = [[0.0, 0.0, 0.0] for _ in WORDS]
    table[YES], table[NO] = [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]
    graph = helper.make_graph(
        [
            helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
            helper.make_node("Cast", ["attention_mask"], ["mask"], to=FLOAT),
            helper.make_node("Unsqueeze", ["mask", "last"], ["wide"]),
            helper.make_node("Mul", ["rows", "wide"], ["kept"]),
            helper.make_node("ReduceSum", ["kept", "tokens"], ["logits"], keepdims=0),
        ],
        "tiny",
        [
            helper.make_tensor_value_info(name, INT64, ["pairs", "tokens_of_pair"])
            for name in ("input_ids", "attention_mask")
        ],
        [helper.make_tensor_value_info("logits", FLOAT, ["pairs", 3])],
        [
            helper.make_tensor("table", FLOAT, (len(WORDS), 3), [value for row in table for value in row]),
            helper.make_tensor("last", INT64, (1,), [-1]),
            helper.make_tensor("tokens", INT64, (1,), [1]),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(folder / "model.onnx"))
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="[UNK]")
    )
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="$A", pair="$A [SEP] $B:1", special_tokens=[("[SEP]", WORDS.index("[SEP]"))]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {
        "id2label": {str(at): label for at, label in enumerate(labels)},
        "max_position_embeddings": longest,
        "pad_token_id": YES,
    }
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


def relate(model: NliRelations, *pairs: tuple[str, str]) -> list[Related]:
    relations = asyncio.run(model.relate([Pair(*pair) for pair in pairs], question="?"))
    return [relation for relation in relations if isinstance(relation, Related)]


def test_labels_follow_configuration(tmp_path: Path) -> None:
    first = NliRelations(tiny_model(tmp_path / "a"))
    second = NliRelations(tiny_model(tmp_path / "b", ("Entailment", "CONTRADICTION", "neutral")))
    assert relate(first, ("yes yes", "rain"))[0].stance is Entailment.ENTAILMENT
    assert relate(second, ("yes yes", "rain"))[0].stance is Entailment.CONTRADICTION


def test_probabilities_do_not_depend_on_batch(tmp_path: Path) -> None:
    pairs = [("yes", "rain"), ("no " * 20, "sun"), ("rain", "sun"), ("yes", "rain")]
    together = relate(NliRelations(tiny_model(tmp_path), batch=3), *pairs)
    single = [relate(NliRelations(tmp_path), pair)[0] for pair in pairs]
    assert [row.stance for row in together] == [row.stance for row in single]
    assert [row.probability for row in together] == pytest.approx([row.probability for row in single])
    assert together[0].probability == pytest.approx(2.718281828 / (2.718281828 + 2))


@pytest.mark.parametrize(
    "name", ["factuality-fr2", "factuality-direct", "coverage-icat-a", "comprehensiveness-nli"]
)
def test_metrics_use_model_of_option(name: str, tmp_path: Path) -> None:
    item = MetricItem(
        id="q",
        question="Will it be wet?",
        answer="Umbrellas sell quickly, yes.",
        passages=(Passage("p", "Rain comes: yes."),),
    )
    words: Any = asyncio.run(build_metric(name).score(item))
    model: Any = asyncio.run(build_metric(name, options={"nli": str(tiny_model(tmp_path))}).score(item))
    if name == "coverage-icat-a":  # the alignment still uses words
        assert (words.details["factuality"], model.details["factuality"]) == (0, 1)
    else:
        assert (words.score, model.score) == (0, 1)


def test_invalid_folder_reports_advice(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="cannot be read"):
        build_metric("factuality-fr2", options={"nli": str(tmp_path / "none")})
    other = tiny_model(tmp_path, ("positive", "negative", "neutral"))
    with pytest.raises(SpecError, match="positive"):
        build_metric("factuality-fr2", options={"nli": str(other)})
