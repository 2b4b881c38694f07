"""The checks as the Python stacks make them: what they share beside their own ways to call and to read."""

import json
import os
import re
from datetime import datetime

credentials = {"ApiUserId": "demo", "ApiUserKey": "demo-key"}


def authentication():
    """The credentials in the body; none where a UsernameToken says them."""
    return {} if "SECURITY" in os.environ else {"Authentication": credentials}


def native(value, null=None):
    """An input with its dates as datetimes; `null` is what the stack sends as nil."""
    if value is None:
        return null
    if isinstance(value, dict):
        return {name: native(member, null) for name, member in value.items()}
    if isinstance(value, str) and re.match(r"\d{4}-\d\d-\d\dT", value):
        return datetime.fromisoformat(value)
    return value


def read_all(data, check, at, presence):
    """The values that a check reads; `presence(record, name)` is what is there of a member."""
    values = []
    for path in check["read"]:
        if path.endswith(".?"):
            record, name = path[:-2].rsplit(".", 1)
            values.append(presence(at(data, record), name))
        else:
            values.append(at(data, path))
    return values


def printed(value):
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, bytes):
        return "%s %d" % (value[:4].decode(), len(value))
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value)


def say(line):
    print(json.dumps(line))


def make(read):
    """Makes all checks; `read(check, address)` gives the values that the check is to read."""
    say({"situation": "import", "got": []})
    for check in json.load(open(os.environ["CHECKS"], encoding="utf-8")):
        line = {"operation": check["operation"], "situation": check["situation"]}
        address = os.environ["FAULT_ENDPOINT" if check["situation"] == "fault" else "ENDPOINT"]
        try:
            say({**line, "got": [printed(value) for value in read(check, address)]})
        except Exception as error:
            say({**line, "error": "%s: %s" % (type(error).__name__, error)})
