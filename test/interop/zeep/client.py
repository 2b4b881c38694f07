"""The checks as a program with zeep makes them."""

import sys

import zeep

import checks

wsdl, version, _ = sys.argv[1:]
TYPES = "http://schemas.servicestack.net/types"
BINDING = {"1.1": "Soap11Binding", "1.2": "Soap12Binding"}[version]

client = zeep.Client(wsdl)


def at(value, path):
    for step in path.split("."):
        if value is None:
            return None
        value = len(value) if step == "#" else value[int(step)] if step.isdigit() else value[step]
    return value


def read(check, address):
    service = client.create_service("{%s}%s" % (TYPES, BINDING), address)
    call = getattr(service, check["operation"])
    try:
        data = call(Authentication=checks.credentials, **checks.native(check["input"]))
    except zeep.exceptions.Fault as fault:
        found = {"code": fault.code.split(":")[-1], "message": fault.message}
        return [found[name] for name in check["read"]]
    if check["operation"] == "DeleteClient":
        # zeep hands over a record's only member instead of the record
        data = {"ResponseStatus": data}
    return [at(data, path) for path in check["read"]]


checks.make(read)
