"""The checks as a program with suds makes them. suds speaks SOAP 1.1 alone."""

import base64
import logging
import sys

import suds
from suds.client import Client

import checks

wsdl, _, _ = sys.argv[1:]
logging.disable(logging.CRITICAL)
client = Client(wsdl, cache=None)


def at(value, path):
    for step in path.split("."):
        if value is None:
            return None
        if step == "#":
            return len(value)
        # a missing member isn't there at all
        value = value[int(step)] if step.isdigit() else getattr(value, step, None)
    return value


def read(check, address):
    client.set_options(location=address)
    call = getattr(client.service, check["operation"])
    try:
        data = call(Authentication=checks.credentials, **checks.native(check["input"]))
    except suds.WebFault as error:
        fault = error.fault
        found = {"code": fault.faultcode.split(":")[-1], "message": fault.faultstring}
        return [found[name] for name in check["read"]]
    if check["situation"] == "base64":
        # left to the caller
        data.Document.DocumentBytes = base64.b64decode(data.Document.DocumentBytes)
    return [at(data, path) for path in check["read"]]


checks.make(read)
