#!/usr/bin/env bash
# irrCAC 0.4.4, `CAC(ratings, weights="ordinal")`, on the labels low, mid and high, and on the same labels as 1, 2 and 3.
#
# Expected: the same coefficient, or a request for the order of the labels.
# Seen: the labels are sorted alphabetically (high, low, mid), so the step from mid to high is the largest: alpha is 0.494, not 0.714.
#
# Exits 0 while this holds and 1 once it changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check 'irrCAC==0.4.4' 2>/dev/null
cd "$folder"
env/bin/python - <<'PYTHON'
import pandas as pd
from irrCAC.raw import CAC

words = pd.DataFrame(
    {"first": ["low", "mid", "high", "low", "mid", "high"], "second": ["low", "high", "high", "mid", "mid", "high"]}
)
numbers = words.apply(lambda column: column.map({"low": 1, "mid": 2, "high": 3}))


def alpha(ratings, **options):
    return round(float(CAC(ratings, weights="ordinal", **options).krippendorff()["est"]["coefficient_value"]), 3)


of_words, of_numbers = alpha(words), alpha(numbers)
ordered = alpha(words, categories=["low", "mid", "high"])
print(f"Ordinal alpha: {of_words} from words, {of_numbers} from numbers, {ordered} from words with their order named.")
raise SystemExit(0 if (of_words, of_numbers, ordered) == (0.494, 0.714, 0.714) else 1)
PYTHON
