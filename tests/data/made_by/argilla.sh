#!/usr/bin/env bash
# Run by hand in a venv with argilla==2.8.0: FOLDER is tests/golden/labels.
set -euo pipefail
python - "$1" <<'E'
"""Write `people-argilla.json` of `tests/golden/labels` with argilla 2.8.0; run by hand in a venv with it."""

import json
import sys
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

import argilla as rg
from argilla.records._io import GenericIO

FOLDER, records, text = Path(sys.argv[1]), {}, ""
FIELDS = ("question", "answer_a", "answer_b")
NAMED = ("question_id", "domain", "system_a", "system_b", "reference", "passages")
labels = [json.loads(line) for line in (FOLDER / "people-labels.jsonl").read_text().splitlines()]
left_out = [labels[at] | {"annotator": "Dan"} for at in (0, 2, 4)]
for label, status in zip(
    [*left_out, *labels], ["draft", "discarded", "draft", *["submitted"] * 5], strict=True
):
    parts = [{name: label[name] for name in names} for names in (FIELDS, NAMED)]
    record = records.setdefault(label["id"], rg.Record(id=label["id"], fields=parts[0], metadata=parts[1]))
    grade, user = label["label"], uuid5(NAMESPACE_URL, label["annotator"])
    side = "a" if grade < 0 else "b" if grade > 0 else "tie"
    for name, value in (("preference", side), ("grade", str(grade))):
        record.responses.add(rg.Response(name, value, user_id=user, status=status))
text = json.dumps(GenericIO.to_list([*records.values()], flatten=True), indent=1)
for name in ("Ben", "Cleo", "Dan"):
    text = text.replace(str(uuid5(NAMESPACE_URL, name)), name)
(FOLDER / "people-argilla.json").write_text(text + "\n")
E
