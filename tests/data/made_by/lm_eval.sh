#!/usr/bin/env bash
# lm-eval 0.4.13: `repeats: 3` and two filters, through local-chat-completions. Run by hand: bash lm_eval.sh LM_EVAL PORT OUT
mkdir -p "$3/tasks" && cd "$3" || exit 1
cat > four.jsonl <<'JSON'
{"question": "What is the capital of France?", "answer": "Paris is the capital of France."}
{"question": "How high is Mount Everest?", "answer": "Mount Everest is 8,849 metres high."}
{"question": "Who wrote Hamlet?", "answer": "William Shakespeare wrote Hamlet."}
JSON
cat > tasks/four.yaml <<'YAML'
task: four
dataset_path: json
dataset_kwargs: {data_files: {test: four.jsonl}}
test_split: test
doc_to_text: "Answer in a sentence.\nQuestion: {{question}}"
doc_to_target: "{{answer}}"
output_type: generate_until
generation_kwargs: {until: []}
repeats: 3
filter_list:
  - {name: first, filter: [{function: take_first}]}
  - {name: number, filter: [{function: regex, regex_pattern: "(\\d+)"}, {function: take_first}]}
metric_list: [{metric: exact_match}]
YAML
HF_HUB_OFFLINE=1 OPENAI_API_KEY=x "$1" run --model local-chat-completions --apply_chat_template --tasks four --include_path tasks \
  --model_args "model=org/good,base_url=http://127.0.0.1:$2/v1/chat/completions" --log_samples --output_path out
# A task without known field names, with an example as a separate turn; two of its lines are in files/lm_eval_chat.jsonl.
sed 's/"question":/"ask":/; s/"answer":/"right":/' four.jsonl > chat.jsonl
sed 's/four/chat/; /^repeats/d; /filter/d; /- {name/d; s/^doc_to_text.*/doc_to_text: "Q: {{ask}}\\nA:"/; s/{{answer}}/{{right}}/' tasks/four.yaml \
  > tasks/chat.yaml
printf 'fewshot_split: test\nnum_fewshot: 1\n' >> tasks/chat.yaml
HF_HUB_OFFLINE=1 OPENAI_API_KEY=x "$1" run --model local-chat-completions --apply_chat_template --fewshot_as_multiturn true \
  --system_instruction "Be brief." --tasks chat --include_path tasks --log_samples --output_path chat \
  --model_args "model=good,base_url=http://127.0.0.1:$2/v1/chat/completions"
