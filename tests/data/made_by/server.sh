#!/usr/bin/env bash
# A scripted OpenAI-compatible server for the scripts in this folder: bash server.sh PORT
# The model `good` answers correctly, any other wrongly, based on the last message; it returns `n` texts.
exec python3 - "$1" <<'PY'
import json, re, sys
from http.server import BaseHTTPRequestHandler, HTTPServer

RIGHT = {"France": "Paris is the capital of France.", "Everest": "Mount Everest is 8,849 metres high.",
         "Hamlet": "William Shakespeare wrote Hamlet.", "rain": "Rain forms when vapour condenses into drops."}

class Server(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = body["messages"][-1]["content"] if "messages" in body else body["prompt"]
        text = str(asked[-1] if isinstance(asked, list) else asked)
        right = next((answer for word, answer in RIGHT.items() if word in text), "It is so.")
        answer = right if body["model"].endswith("good") else "It has not been decided yet."
        if topic := re.search("How is ([a-z]+) made", text, re.IGNORECASE):
            answer = f"Of {topic[1]} it is known that people make it with care, for their own good reasons."
        thought = {"reasoning_content": "The user asks. I recall it."} if "thinking" in body["model"] else {}
        texts = [answer] + [f"{answer} Sample {at}." for at in range(2, body.get("n", 1) + 1)]
        choices = [{"index": at, "finish_reason": "stop", "message": {"role": "assistant", "content": one, **thought}}
                   for at, one in enumerate(texts)]
        reply = {"id": "x", "object": "chat.completion", "created": 1, "model": body["model"], "choices": choices,
                 "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}
        sent = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)
    def log_message(self, *_): pass

HTTPServer(("127.0.0.1", int(sys.argv[1])), Server).serve_forever()
PY
