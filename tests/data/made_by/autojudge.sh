#!/usr/bin/env bash
# autojudge-base 1.0.0: RAGTIME 2026 reports with an empty and a short reference list, and of two teams in one file;
# Report.check accepts them. Needs `requests` and nltk's stop words. Run by hand: bash autojudge.sh PYTHON OUT
"$1" - "$2" <<'PY'
import json, sys
from pathlib import Path
from autojudge_base.report import Report

ASKED = {"q1": "Paris is the capital of France.", "q2": "Mount Everest is 8,849 metres high.", "q3": "William Shakespeare wrote Hamlet."}

DOC = "00000000-0000-0000-0000-000000000000_"

def report(team: str, name: str, text: str, references: list[str]) -> str:
    made = Report.model_validate({
        "metadata": {"team_id": team, "run_id": "r1", "topic_id": name, "run_desc": "x"}, "references": references,
        "responses": [{"text": text, "citations": {DOC + "1": 0.2, DOC + "2": 0.9}}]})
    assert made.check("ragtime26") == []
    return made.model_dump_json() + "\n"

lines = [report("us", name, text, [] if name == "q1" else [DOC + "1"]) for name, text in ASKED.items()]
lines += [report("them", name, "It has not been decided yet.", []) for name in ASKED]
Path(sys.argv[1], "ragtime26.jsonl").write_text("".join(lines))
PY
