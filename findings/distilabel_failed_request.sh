#!/usr/bin/env bash
# distilabel 1.5.3 (openai 3.57.0): a batch of three questions, of which the endpoint's filter refuses one with a 400.
#
# Expected: the row of the refused question has no generation, the other two have theirs.
# Seen: the endpoint answers the other two, and all three rows of the batch (by default 50 rows) have no generation.
#
# Exits 0 while this is so, 1 when that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check 'distilabel[openai]==1.5.3' 'datasets==5.2.0' 'openai==3.57.0' 'requests==2.32.5' 2>/dev/null
cd "$folder"
cat > pipeline.py <<'PYTHON'
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from distilabel.models import OpenAILLM
from distilabel.pipeline import Pipeline
from distilabel.steps import LoadDataFromDicts
from distilabel.steps.tasks import TextGeneration

ASKED = ("What is the capital of France?", "How high is Mount Everest?", "Who wrote Hamlet?")
answered = []


class Server(BaseHTTPRequestHandler):
    """Answers each question but the last, which a filter refuses, as hosted models do."""

    def do_POST(self):
        asked = self.rfile.read(int(self.headers["Content-Length"])).decode()
        refused = ASKED[-1] in asked
        answered.append(not refused)
        message = {"role": "assistant", "content": "An answer."}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        error = {"message": "The prompt was filtered.", "type": "invalid_request_error", "code": "content_filter"}
        reply = {"error": error} if refused else {"id": "1", "object": "chat.completion", "created": 1, "model": "m",
                 "choices": [choice], "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}
        body = json.dumps(reply).encode()
        self.send_response(400 if refused else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with Pipeline(name="qa") as pipeline:
        llm = OpenAILLM(model="m", base_url=f"http://127.0.0.1:{server.server_port}/v1", api_key="x")
        LoadDataFromDicts(data=[{"instruction": asked} for asked in ASKED]) >> TextGeneration(llm=llm)
    rows = pipeline.run(use_cache=False)["default"]["train"]
    seen = [row["generation"] for row in rows]
    print(sum(answered), "questions answered; generations:", seen)
    raise SystemExit(seen != [None, None, None] or sum(answered) != 2)
PYTHON
HOME="$folder" env/bin/python pipeline.py 2>/dev/null | tail -n 1
