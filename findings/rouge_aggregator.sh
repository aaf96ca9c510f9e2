#!/usr/bin/env bash
# rouge-score 0.1.2, `BootstrapAggregator`, on the scores of eight answers, five times.
#
# Expected: `mid` is the mean of the scores and the same in each run.
# Seen: `mid` is the median of 1,000 resampled means, drawn without its own seed: the score of one system differs between calls in the
# third decimal, so two equal systems differ too. It is reproducible only if NumPy's global seed is set before each call.
#
# Exits 0 while this holds and 1 once it changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check --no-compile 'rouge-score==0.1.2' 2>/dev/null
cd "$folder"
env/bin/python - <<'PYTHON'
import numpy as np
from rouge_score import rouge_scorer, scoring

reference = "the cat sat on the mat today"
answers = ["the " * (number % 3 + 1) + "cat " * (number % 2) + "x " * number for number in range(8)]
scores = [rouge_scorer.RougeScorer(["rouge1"]).score(reference, answer) for answer in answers]


def middle():
    aggregator = scoring.BootstrapAggregator()
    for score in scores:
        aggregator.add_scores(score)
    return float(aggregator.aggregate()["rouge1"].mid.fmeasure)


free = [middle() for _ in range(5)]
seeded = []
for _ in range(2):
    np.random.seed(1)
    seeded.append(middle())
mean = float(np.mean([score["rouge1"].fmeasure for score in scores]))
print(f"Mean {mean:.5f}; five calls: {', '.join(f'{value:.5f}' for value in free)}; with a global seed: {seeded}")
raise SystemExit(0 if len(set(free)) > 1 and seeded[0] == seeded[1] != mean else 1)
PYTHON
