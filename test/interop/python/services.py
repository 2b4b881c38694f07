"""The output of the Python programs for services: a line of JSON for each check."""

import json
from datetime import datetime


def told(value):
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value)


def check(situation, read):
    try:
        line = {"situation": situation, "got": [told(value) for value in read()]}
    except Exception as error:  # the harness reports it
        line = {"situation": situation, "error": f"{type(error).__name__}: {error}"}
    print(json.dumps(line), flush=True)
