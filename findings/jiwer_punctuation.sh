#!/usr/bin/env bash
# jiwer 4.0.0, its usual pipeline for comparing texts: `ToLowerCase`, `RemovePunctuation`, `Strip`, words.
#
# Expected: punctuation between words is removed; numbers keep their value.
# Seen: signs inside numbers are removed too, so 3.5 becomes 35, -5 becomes 5 and 1,5 becomes 15: a wrong figure has a word error rate
# of 0. Currency and degree signs stay.
#
# Exits 0 while this holds and 1 once it changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check --no-compile 'jiwer==4.0.0' 2>/dev/null
cd "$folder"
env/bin/python - <<'PYTHON'
import jiwer

chain = jiwer.Compose(
    [jiwer.ToLowerCase(), jiwer.RemovePunctuation(), jiwer.Strip(), jiwer.ReduceToListOfListOfWords()]
)
pairs = [("It grew by 3.5 points.", "It grew by 35 points."), ("It was -5 degrees.", "It was 5 degrees."), ("It costs $5.", "It costs 5.")]
seen = [jiwer.wer(*pair, reference_transform=chain, hypothesis_transform=chain) for pair in pairs]
print(dict(zip(pairs, seen)))
raise SystemExit(0 if seen[:2] == [0.0, 0.0] and seen[2] > 0 else 1)
PYTHON
