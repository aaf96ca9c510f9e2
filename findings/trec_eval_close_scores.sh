#!/usr/bin/env bash
# pytrec-eval-terrier 0.5.11 (trec_eval for Python) and ir-measures 0.4.3, which uses it: two documents with scores 1000.00001 and
# 1000.00002.
#
# Expected: the higher score ranks first.
# Seen: scores are stored in 32 bits, so the two tie, and ties are broken by document name: whichever is relevant, `b` is first.
# Reciprocal rank is 0.5 instead of 1.0. Integers above 16,777,216 tie in the same way.
#
# Exits 0 while this holds and 1 once it changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check --no-compile 'pytrec-eval-terrier==0.5.11' 'ir-measures==0.4.3' 2>/dev/null
cd "$folder"
env/bin/python - <<'PYTHON'
import ir_measures
import pytrec_eval

judgments = {"1": {"a": 1, "b": 0}}


def reciprocal_rank(relevant, other):
    run = {"1": {"a": relevant, "b": other}}
    raw = pytrec_eval.RelevanceEvaluator(judgments, {"recip_rank"}).evaluate(run)["1"]["recip_rank"]
    return raw, ir_measures.calc_aggregate([ir_measures.RR], judgments, run)[ir_measures.RR]


pairs = [(1000.00002, 1000.00001), (100_000_002, 100_000_001), (1000.2, 1000.1)]
seen = [reciprocal_rank(*pair) for pair in pairs]
for pair, values in zip(pairs, seen):
    print(f"Relevant document {pair[0]}, other {pair[1]}: reciprocal rank {values[0]} and {values[1]}.")
raise SystemExit(0 if seen == [(0.5, 0.5), (0.5, 0.5), (1.0, 1.0)] else 1)
PYTHON
