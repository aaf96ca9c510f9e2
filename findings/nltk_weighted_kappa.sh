#!/usr/bin/env bash
# nltk 3.10.4, `AnnotationTask.weighted_kappa(max_distance=...)`, on two raters who differ by at most one step of five, with squared
# distances.
#
# Expected: the maximum distance only scales the weights, so kappa stays 0.877 (one minus observed over expected disagreement).
# Seen: it divides the expected disagreement but not the observed one: with the scale's own maximum distance, 16, kappa is -0.973, and
# with values below 1 it approaches 1.
#
# Exits 0 while this holds and 1 once it changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check --no-compile 'nltk==3.10.4' 2>/dev/null
cd "$folder"
env/bin/python - <<'PYTHON'
from itertools import product

from nltk.metrics.agreement import AnnotationTask

pairs = [(1, 2), (3, 3), (5, 4), (2, 2), (4, 5), (1, 1)]
rows = [(rater, f"answer {number}", label) for number, pair in enumerate(pairs) for rater, label in zip(("x", "y"), pair)]


def squared(first, second):
    return float((first - second) ** 2)


observed = sum(squared(*pair) for pair in pairs) / len(pairs)
expected = sum(squared(x, y) for (x, _), (_, y) in product(pairs, pairs)) / len(pairs) ** 2
by_hand = round(1 - observed / expected, 3)
task = AnnotationTask(data=rows, distance=squared)
plain, scaled = (round(task.weighted_kappa(max_distance=largest), 3) for largest in (1.0, 16.0))
print(f"Weighted kappa: {by_hand} by the formula, {plain} by nltk, {scaled} with max_distance=16.")
raise SystemExit(0 if (by_hand, plain, scaled) == (0.877, 0.877, -0.973) else 1)
PYTHON
