#!/usr/bin/env bash
# promptfoo 0.121.20: two prompts, two providers (one is a reasoning model), four tests with a custom variable name,
# two more with the same question and another style, each test twice. Run by hand: bash promptfoo.sh PROMPTFOO PORT OUT
mkdir -p "$3" && cd "$3" || exit 1
cat > config.yaml <<YAML
prompts: ["Tell me: {{ask}} {{style}}", "You are a librarian. {{ask}} {{style}}"]
providers:
  - {id: "openai:chat:good", config: &local {apiBaseUrl: "http://127.0.0.1:$2/v1", apiKey: x}}
  - {id: "openai:chat:thinking-bad", config: *local}
tests:
  - vars: {ask: "What is the capital of France?"}
  - vars: {ask: "How high is Mount Everest?"}
  - vars: {ask: "Who wrote Hamlet?", style: short}
  - vars: {ask: "Who wrote Hamlet?", style: long}
YAML
PROMPTFOO_DISABLE_TELEMETRY=1 PROMPTFOO_DISABLE_UPDATE=1 PROMPTFOO_CONFIG_DIR="$3/home" \
  "$1" eval -c config.yaml --repeat 2 --no-cache --no-table -o promptfoo_ask.json
