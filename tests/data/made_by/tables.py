"""Script that writes `files/`: haystack-ai 3.4.1, dspy 3.4.1, datasets 5.2.0, duckdb 2.0.1, polars 2.1.0."""

from importlib import import_module
from pathlib import Path

OUT = Path(__file__).parent / "files"
ASKED = ["What is the capital of France?", "Who wrote Hamlet?"]
RIGHT = ["Paris is its capital.", "William Shakespeare wrote it."]
SAID = {
    "alpha": ["Paris is the capital of France.", "Shakespeare wrote Hamlet, a tragedy."],
    "beta": ["Lyon.", "I think it was Marlowe."],
}

if __name__ == "__main__":
    haystack, dspy = import_module("haystack.evaluation"), import_module("dspy")
    rows = [
        dspy.Example(question=q, answer=a).with_inputs("question") for q, a in zip(ASKED, RIGHT, strict=True)
    ]
    for name, predicted in SAID.items():
        inputs = {"question": ASKED, "contexts": [["x"]] * 2, "answer": RIGHT, "predicted_answer": predicted}
        scores = {"sas": {"score": 0.5, "individual_scores": [0.4, 0.6]}}
        report = haystack.EvaluationRunResult(run_name=name, inputs=inputs, results=scores)
        report.detailed_report(output_format="csv", csv_file=str(OUT / f"haystack-{name}.csv"))
        answers = dict(zip(ASKED, predicted, strict=True))
        evaluate = dspy.Evaluate(
            devset=rows, metric=lambda example, pred: example.answer == pred.answer, num_threads=1
        )
        program = lambda question, answers=answers: dspy.Prediction(answer=answers[question])  # noqa: E731
        evaluate(program, save_as_csv=str(OUT / f"dspy-{name}.csv"))
    import_module("polars").DataFrame({"question": ASKED, **SAID}).write_parquet(OUT / "polars-wide.parquet")
    columns = f"unnest({ASKED}) as question, to_json(unnest({RIGHT})) as answer"
    import_module("duckdb").sql(f"copy (select uuid() as id, {columns}) to '{OUT / 'duckdb.parquet'}'")
    contexts = [[{"id": "d", "text": "T", "meta": meta}] for meta in ({"page": 1}, "p. 2")]
    datasets = import_module("datasets")
    kind = {"id": datasets.Value("string"), "meta": datasets.Json()}
    kind["text"] = kind["id"]
    features = {"question": datasets.Value("string"), "answer": datasets.Value("string"), "contexts": [kind]}
    features["model"] = datasets.ClassLabel(names=["alpha"])
    cells = {"question": ASKED, "answer": RIGHT, "contexts": contexts, "model": ["alpha"] * 2}
    datasets.Dataset.from_dict(cells, features=datasets.Features(features)).to_parquet(
        OUT / "datasets.parquet"
    )
