#!/usr/bin/env bash
# Run by hand in a venv with label-studio==1.23.2: FOLDER is tests/golden/labels.
set -euo pipefail
python - "$1" <<'E'
"""Write `people-label-studio.json` of `tests/golden/labels` with label-studio 1.23.2; run by hand in its venv.

The labels go in through its API, Cleo skipping each task before she labels it; the export is `exportType=JSON`.
"""

import json
import os
import sys
from pathlib import Path

import label_studio

os.environ |= {"DJANGO_SETTINGS_MODULE": "core.settings.label_studio", "DJANGO_DB": "sqlite"}
sys.path.insert(0, str(Path(label_studio.__file__).parent))
import django  # noqa: E402

django.setup()
from django.core.management import call_command  # noqa: E402
from organizations.models import Organization  # noqa: E402
from rest_framework.test import APIClient  # noqa: E402
from users.models import User  # noqa: E402

CONFIG = """<View><Text name="question" value="$question"/><Pairwise name="preference" toName="a,b"/>
<Text name="a" value="$answer_a"/><Text name="b" value="$answer_b"/><Number name="grade" toName="question"/>
<Choices name="choice" toName="question"><Choice value="tie"/></Choices></View>"""
FOLDER, tasks, clients = Path(sys.argv[1]), {}, {}
call_command("migrate", verbosity=0)
users = {name: User.objects.create_user(f"{name}@example.org", "x" * 12) for name in ("Ben", "Cleo")}
organization = Organization.create_organization(created_by=users["Ben"], title="Pairs")
for name, user in users.items():
    user.active_organization = organization
    user.save()
    clients[name] = APIClient()
    clients[name].force_authenticate(user)
projects = "/api/projects/"
project = (
    clients["Ben"].post(projects, {"title": "Pairs", "label_config": CONFIG}, format="json").json()["id"]
)
for label in map(json.loads, (FOLDER / "people-labels.jsonl").read_text().splitlines()):
    grade, client = label["label"], clients[label["annotator"]]
    if label["id"] not in tasks:
        named = {name: label[name] for name in ("id", "question_id", "system_a", "system_b")}
        texts = ("question", "domain", "reference", "passages", "answer_a", "answer_b")
        task = {"data": {name: label[name] for name in texts}, "meta": named}
        clients["Ben"].post(f"{projects}{project}/import", [task], format="json")
        there = clients["Ben"].get(f"{projects}{project}/tasks/?page_size=9").json()
        tasks[label["id"]] = max(task["id"] for task in there)
    side = ("pairwise", "selected", "left" if grade < 0 else "right")
    controls = [side if grade else ("choices", "choices", ["tie"]), ("number", "number", grade)]
    names = {"pairwise": "preference", "choices": "choice", "number": "grade"}
    result = [
        {"from_name": names[kind], "to_name": "question", "type": kind, "value": {key: value}}
        for kind, key, value in controls
    ]
    for skip in (True, False) if label["annotator"] == "Cleo" else (False,):
        body = {"result": [] if skip else result, "was_cancelled": skip}
        client.post(f"/api/tasks/{tasks[label['id']]}/annotations/", body, format="json")
export = clients["Ben"].get(f"{projects}{project}/export?exportType=JSON").getvalue()
(FOLDER / "people-label-studio.json").write_text(json.dumps(json.loads(export), indent=1) + "\n")
E
