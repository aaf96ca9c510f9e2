#!/usr/bin/env bash
# pint 0.25.3, `Quantity(text)`, on quantities as answers write them.
#
# Expected: the quantity, or an error.
# Seen: signs that pint does not know are skipped, and the rest is multiplied: "−5 m" (typographic minus) is 5 m, "3–5 m" is 15 m,
# "10 ± 2 m" is 20 m, "1 000 m" is 0 m, "12:30 h" is 360 h, and "1 ft 3 in" is an area. ASCII "-5 m" keeps its sign.
#
# Exits 0 while this holds and 1 once it changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check 'pint==0.25.3' 2>/dev/null
cd "$folder"
env/bin/python - <<'PYTHON'
from pint import UnitRegistry

units = UnitRegistry()
expected = {
    "-5 m": "-5 meter",
    "−5 m": "5 meter",
    "3–5 m": "15 meter",
    "10 ± 2 m": "20 meter",
    "1 000 m": "0 meter",
    "12:30 h": "360 hour",
    "1 ft 3 in": "3 foot * inch",
}
seen = {text: str(units.Quantity(text)) for text in expected}
for text, quantity in seen.items():
    print(f"{text}: {quantity}")
raise SystemExit(0 if seen == expected else 1)
PYTHON
