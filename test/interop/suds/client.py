"""The checks as a program with suds makes them. suds speaks SOAP 1.1 alone."""

import base64
import logging
import os
import sys

import suds
from suds.client import Client
from suds.wsse import Security, UsernameToken

import checks

wsdl, _, _ = sys.argv[1:]
logging.disable(logging.CRITICAL)
client = Client(wsdl, cache=None)
if "SECURITY" in os.environ:
    security = Security()
    security.tokens.append(UsernameToken("demo", "demo-key"))
    client.set_options(wsse=security)


def presence(record, name):
    if not hasattr(record, name):
        return "absent"
    return "nil" if getattr(record, name) is None else "value"


def at(value, path):
    for step in path.split("."):
        if value is None:
            return None
        if step == "#":
            return len(value)
        # a missing member has no attribute at all
        value = value[int(step)] if step.isdigit() else getattr(value, step, None)
    return value


def read(check, address):
    client.set_options(location=address)
    call = getattr(client.service, check["operation"])
    try:
        data = call(**checks.authentication(), **checks.native(check["input"], suds.null()))
    except suds.WebFault as error:
        fault = error.fault
        found = {"code": fault.faultcode.split(":")[-1], "message": fault.faultstring}
        return [found[name] for name in check["read"]]
    if check["situation"] == "base64":
        # the library leaves decoding base64 to its caller
        data.Document.DocumentBytes = base64.b64decode(data.Document.DocumentBytes)
    return checks.read_all(data, check, at, presence)


checks.make(read)
