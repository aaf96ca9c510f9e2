#!/usr/bin/env bash
# sacrebleu 2.6.0, `sentence_bleu`, `sentence_ter` and `sentence_chrf`, on an answer with one reference, then with a second reference
# that shares no word with it.
#
# Expected: a reference that matches nothing changes nothing; all measures use the better reference.
# Seen: BLEU rises from 81.9 to 100 (the reference nearest in length sets the penalty, whichever it is), TER worsens from 50 to 80
# (edits to the best reference are divided by the mean length of all), chrF stays the same.
#
# Exits 0 while this holds and 1 once it changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check --no-compile 'sacrebleu==2.6.0' 2>/dev/null
cd "$folder"
env/bin/python - <<'PYTHON'
import sacrebleu

near, far = "a b c d e f", "w x y z"
long, short = "a b c d e f g h", "w x"


def scores(method, answer, *references):
    return [round(method(answer, list(references[:count])).score, 1) for count in (1, 2)]


bleu = scores(sacrebleu.sentence_bleu, "a b c d e", near, far)
ter = scores(sacrebleu.sentence_ter, "a b c d", long, short)
chrf = scores(sacrebleu.sentence_chrf, "a b c d", long, short)
print(f"With one reference and with a second that matches nothing: BLEU {bleu}, TER {ter} (lower is better), chrF {chrf}.")
raise SystemExit(0 if bleu == [81.9, 100.0] and ter == [50.0, 80.0] and chrf[0] == chrf[1] else 1)
PYTHON
