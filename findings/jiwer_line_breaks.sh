#!/usr/bin/env bash
# jiwer 4.0.0, `wer` and `process_words`, on an answer that equals its reference except for line breaks.
#
# Expected: one line break separates words as a space does, and so do two.
# Seen: words are split only at spaces, and only runs of two or more whitespace characters become a space. So an empty line separates
# words and a single line break does not: a list of three lines is one word, with an error rate of 1 as the answer and 3 as the reference
# instead of 0.
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

seen = {}
for name, between in (("space", " "), ("line break", "\n"), ("empty line", "\n\n"), ("tab", "\t")):
    answer = between.join(["Paris", "Lyon", "Nice"])
    seen[name] = round(jiwer.wer("Paris Lyon Nice", answer), 2), round(jiwer.wer(answer, "Paris Lyon Nice"), 2)
    print(f"{name}: error rate {seen[name][0]} as the answer, {seen[name][1]} as the reference")
raise SystemExit(0 if list(seen.values()) == [(0.0, 0.0), (1.0, 3.0), (0.0, 0.0), (1.0, 3.0)] else 1)
PYTHON
