"""Serve the scripted providers by hand: `python -m tests.providers --port 8011`.

Use the printed address as the endpoint of a judge and a mode's name as its model.
"""

from __future__ import annotations

import argparse

from tests.providers.server import ScriptedProviders

parser = argparse.ArgumentParser(description="Scripted providers: a model's name is a mode.")
parser.add_argument("--port", type=int, default=0)
ScriptedProviders(port=parser.parse_args().port).run()
