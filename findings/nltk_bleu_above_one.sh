#!/usr/bin/env bash
# nltk 3.10.4, `sentence_bleu` with its smoothing functions `method5` and `method7`, on an answer that equals its reference.
#
# Expected: 1, the maximum.
# Seen: 1.117. The averages of neighbouring precisions start one above the first, so long equal answers score above 1 and a shorter
# excerpt of a reference also gains (0.749 instead of 0.670).
#
# Exits 0 while this holds and 1 once it changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check --no-compile 'nltk==3.10.4' 2>/dev/null
cd "$folder"
env/bin/python - <<'PYTHON'
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

reference = "the cat sat on the mat today".split()
smoothing = SmoothingFunction()
seen = {}
for name in ("method0", "method4", "method5", "method7"):
    options = {"smoothing_function": getattr(smoothing, name)}
    whole, part = (round(float(sentence_bleu([reference], reference[:end], **options)), 3) for end in (7, 5))
    seen[name] = whole, part
    print(f"{name}: {whole} for an equal answer, {part} for its first five words")
raise SystemExit(0 if list(seen.values()) == [(1.0, 0.67), (1.0, 0.67), (1.117, 0.749), (1.117, 0.749)] else 1)
PYTHON
