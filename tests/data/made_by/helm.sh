#!/usr/bin/env bash
# crfm-helm[openai] 0.5.16: the eight questions of tests/submissions/conftest.py with perturbations, and two runs
# for each of two models, with two completions each. Run by hand: bash helm.sh BIN PORT OUT
set -euo pipefail
out=$(realpath "$3") && cd "$(mktemp -d)"
mkdir prod_env
cat > write.py <<'PY'
import json, sys
model = lambda name: {
    "name": f"local/{name}", "model_name": f"local/{name}", "tokenizer_name": "simple/tokenizer1", "max_sequence_length": 2048,
    "client_spec": {"class_name": "helm.clients.vllm_client.VLLMChatClient",
                    "args": {"base_url": f"http://127.0.0.1:{sys.argv[1]}/v1", "vllm_model_name": name}}}
about = lambda name: {"name": f"local/{name}", "display_name": name, "description": name, "creator_organization_name": "x",
                      "access": "open", "release_date": "2026-01-01", "tags": ["TEXT_MODEL_TAG"]}
for file, key, make in (("deployments", "model_deployments", model), ("metadata", "models", about)):
    with open(f"prod_env/model_{file}.yaml", "w") as text:
        text.write(json.dumps({key: [make("good"), make("bad")]}).replace('"2026-01-01"', "2026-01-01"))
PY
python3 write.py "$2"
cat > qa.py <<'PY'
from dataclasses import replace
from helm.benchmark.adaptation.common_adapter_specs import get_generation_adapter_spec
from helm.benchmark.augmentations.data_augmenter import DataAugmenterSpec
from helm.benchmark.augmentations.perturbation import PerturbationSpec
from helm.benchmark.metrics.common_metric_specs import get_exact_match_metric_specs
from helm.benchmark.run_spec import RunSpec, run_spec_function
from helm.benchmark.scenarios.scenario import CORRECT_TAG, TEST_SPLIT, Input, Instance, Output, Reference, Scenario, ScenarioSpec

TOPICS = ("bread", "rain", "bees", "glass", "salt", "tides", "maps", "paper")
ASKED = {"topics": {f"How is {topic} made, and why?": topic for topic in TOPICS},
         "a": {"What is the capital of France?": "Paris", "How high is Mount Everest?": "8,849 metres"},
         "b": {"Who wrote Hamlet?": "Shakespeare", "How does rain form?": "of vapour"}}
LOWER = PerturbationSpec("helm.benchmark.augmentations.lowercase_perturbation.LowerCasePerturbation")

class QA(Scenario):
    name, description, tags = "qa", "qa", []
    def __init__(self, part):
        super().__init__()
        self.part = part
    def get_instances(self, output_path):
        return [Instance(Input(text=asked), [Reference(Output(text=right), tags=[CORRECT_TAG])], split=TEST_SPLIT)
                for asked, right in ASKED[self.part].items()]

@run_spec_function("qa")
def qa(part):
    several = part != "topics"
    adapter = get_generation_adapter_spec(instructions="Answer shortly.", input_noun="Question", output_noun="Answer",
                                          max_train_instances=0, max_tokens=100)
    augmented = DataAugmenterSpec(perturbation_specs=[LOWER], should_augment_eval_instances=True,
                                  should_include_original_eval=True)
    return RunSpec(name=f"qa:part={part}", scenario_spec=ScenarioSpec("qa.QA", {"part": part}),
                   adapter_spec=replace(adapter, num_outputs=1 + several, temperature=0.5 * several),
                   metric_specs=get_exact_match_metric_specs(), groups=[],
                   data_augmenter_spec=DataAugmenterSpec() if several else augmented)
PY
entries=()
for run in topics:good a:good a:bad b:good b:bad; do entries+=("qa:part=${run%:*},model=local/${run#*:}"); done
PYTHONPATH=. "$1/helm-run" -r "${entries[@]}" --plugins qa --suite s -m 50 -n 1 --disable-cache
PYTHONPATH=. "$1/helm-summarize" --suite s
cd benchmark_output/runs/s
mkdir -p "$out/helm" "$out/helm_display"
cp qa:part=topics*/scenario_state.json "$out/helm"
cp qa:part=topics*/{display_predictions,instances,run_spec}.json "$out/helm_display"
for part in a b; do for model in good bad; do
  mkdir -p "$out/helm_suite/$part-$model"
  cp "qa:part=$part,model=local_$model/scenario_state.json" "$out/helm_suite/$part-$model"
done; done
