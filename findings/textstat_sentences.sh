#!/usr/bin/env bash
# textstat 0.7.13, `sentence_count` and the readability index built on it.
#
# Expected: one sentence with decimals counts as one, a list of three lines as three, and "Yes." counts.
# Seen: a sentence with three decimals counts as four, three bullets as one, and sentences of one or two words are dropped. So three
# decimal numbers make an answer 2.5 grades "easier".
#
# Exits 0 while this holds and 1 once it changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check 'textstat==0.7.13' 2>/dev/null
cd "$folder"
env/bin/python - <<'PYTHON'
import textstat

texts = {
    "decimals": "The rate rose from 1.25 to 3.75 and then to 4.5 percent in 2020.",
    "without decimals": "The rate rose from 1 to 3 and then to 4 percent in 2020.",
    "bullets": "- Paris\n- London\n- Rome",
    "short": "Paris is the capital. Yes. It is old.",
}
counts = {name: textstat.sentence_count(text) for name, text in texts.items()}
grades = {name: round(textstat.automated_readability_index(text), 1) for name, text in texts.items()}
print(counts, grades)
raise SystemExit(0 if list(counts.values()) == [4, 1, 1, 2] and grades["without decimals"] - grades["decimals"] > 1 else 1)
PYTHON
