#!/usr/bin/env bash
# autoevals 0.4.1, `ExactMatch`, on equal and unequal values.
#
# Expected: equal dicts and equal numbers match; a string matches neither a number nor a dict.
# Seen: the reverse. {"a": 1, "b": 2} with its keys reordered and 1 against 1.0 score 0; "1" against 1 and the string '{"a": 1}' against
# the dict score 1: both sides are first converted to strings.
#
# Exits 0 while this holds and 1 once it changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check 'autoevals==0.4.1' 2>/dev/null
cd "$folder"
env/bin/python - <<'PYTHON'
from autoevals import ExactMatch

pairs = {
    "equal dicts": ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    "1 and 1.0": (1, 1.0),
    "text and number": ("1", 1),
    "text and dict": ('{"a": 1}', {"a": 1}),
}
seen = {name: ExactMatch().eval(output=output, expected=expected).score for name, (output, expected) in pairs.items()}
print(seen)
raise SystemExit(0 if list(seen.values()) == [0, 0, 1, 1] else 1)
PYTHON
