"""The checks as a Python program with zeep makes them."""

import json
import os
import re
import sys
from datetime import date, datetime

import zeep

wsdl, version, _ = sys.argv[1:]
TYPES = "http://schemas.servicestack.net/types"
BINDING = {"1.1": "Soap11Binding", "1.2": "Soap12Binding"}[version]

client = zeep.Client(wsdl)


def service(address):
    return client.create_service("{%s}%s" % (TYPES, BINDING), address)


def native(value):
    """An input as zeep wants it: dates are datetimes."""
    if isinstance(value, dict):
        return {name: native(member) for name, member in value.items()}
    if isinstance(value, str) and re.match(r"\d{4}-\d\d-\d\dT", value):
        return datetime.fromisoformat(value)
    return value


def at(value, path):
    for step in path.split("."):
        if value is None:
            return None
        value = len(value) if step == "#" else value[int(step)] if step.isdigit() else value[step]
    return value


def printed(value):
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, bytes):
        return "%s %d" % (value[:4].decode(), len(value))
    if isinstance(value, (date, datetime)):
        return value.isoformat()
    return str(value)


def read(check):
    address = os.environ["FAULT_ENDPOINT" if check["situation"] == "fault" else "ENDPOINT"]
    call = getattr(service(address), check["operation"])
    credentials = {"ApiUserId": "demo", "ApiUserKey": "demo-key"}
    try:
        data = call(Authentication=credentials, **native(check["input"]))
    except zeep.exceptions.Fault as fault:
        found = {"code": fault.code.split(":")[-1], "message": fault.message}
        return [found[name] for name in check["read"]]
    if check["operation"] == "DeleteClient":
        # zeep hands over the only member of a record instead of the record
        data = {"ResponseStatus": data}
    return [printed(at(data, path)) for path in check["read"]]


def say(line):
    print(json.dumps(line))


say({"situation": "import", "got": []})
for check in json.load(open(os.environ["CHECKS"])):
    line = {"operation": check["operation"], "situation": check["situation"]}
    try:
        say({**line, "got": read(check)})
    except Exception as error:
        say({**line, "error": "%s: %s" % (type(error).__name__, error)})
