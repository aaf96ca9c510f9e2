#!/usr/bin/env bash
# autoevals 0.4.1, `ValidJSON`, on judge replies.
#
# Expected: whatever JSON allows is valid (including a bare number or string), NaN is not.
# Seen: '3', '"yes"' and 'null' score 0, '{"score": NaN}' scores 1.
#
# Exits 0 while this holds and 1 once it changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check 'autoevals==0.4.1' 2>/dev/null
cd "$folder"
env/bin/python - <<'PYTHON'
from autoevals import ValidJSON

seen = {reply: ValidJSON().eval(output=reply).score for reply in ("3", '"yes"', "null", '{"score": 3}', '{"score": NaN}')}
print(seen)
raise SystemExit(0 if list(seen.values()) == [0, 0, 0, 1, 1] else 1)
PYTHON
