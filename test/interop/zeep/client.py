"""The checks as a program with zeep makes them."""

import os
import sys

import zeep
from zeep.wsse.username import UsernameToken

import checks

wsdl, version, _ = sys.argv[1:]
TYPES = "http://schemas.servicestack.net/types"
BINDING = {"1.1": "Soap11Binding", "1.2": "Soap12Binding"}[version]

security = os.environ.get("SECURITY")
keys = os.environ.get("SIGNING")
if keys:
    from signing import Signing

    wsse = Signing(keys + "/caller.key", keys + "/caller.crt", os.environ["GATEWAY_CERTIFICATE"])
else:
    wsse = UsernameToken("demo", "demo-key", use_digest=security == "digest") if security else None
client = zeep.Client(wsdl, wsse=wsse)


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
        data = call(**checks.authentication(), **checks.native(check["input"], zeep.xsd.Nil))
    except zeep.exceptions.Fault as fault:
        found = {"code": fault.code.split(":")[-1], "message": fault.message}
        return [found[name] for name in check["read"]]
    if check["operation"] == "DeleteClient":
        # zeep returns the only member of a record instead of the record
        data = {"ResponseStatus": data}
    # zeep does not distinguish nil from absent
    return checks.read_all(data, check, at, lambda record, name: "absent" if record[name] is None else "value")


checks.make(read)
