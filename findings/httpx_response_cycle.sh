#!/usr/bin/env bash
# httpx 0.28.1: a response with a 10 MB body, fully read, after its last reference is deleted.
#
# Expected: the body is freed at once, as for a response that no client made.
# Seen: the response and its stream refer to each other, so each body stays in memory until the garbage collector reaches its generation.
# A run that calls a judge thousands of times keeps finished replies in memory.
#
# Exits 0 while this holds and 1 once it changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check 'httpx==0.28.1' 2>/dev/null
cd "$folder"
env/bin/python - <<'PYTHON'
import gc
import weakref

import httpx

gc.disable()
own = httpx.Response(200, content=b"x" * 10_000_000)
client = httpx.Client(transport=httpx.MockTransport(lambda request: httpx.Response(200, content=b"x" * 10_000_000)))
response = client.get("http://judge.example/")
own_reference, reference = weakref.ref(own), weakref.ref(response)
del own, response
freed = own_reference() is None, reference() is None
gc.collect()
after = reference() is None
print(f"Freed when its last name goes: {freed[0]} without a client, {freed[1]} with one; {after} after a collection.")
raise SystemExit(0 if (freed, after) == ((True, False), True) else 1)
PYTHON
