"""The checks as a program with PySimpleSOAP makes them."""

import base64
import sys

from pysimplesoap.client import SoapClient, SoapFault

import checks

wsdl, version, _ = sys.argv[1:]
client = SoapClient(wsdl=wsdl, soap_ns={"1.1": "soap", "1.2": "soap12env"}[version], ns="types", cache=None)


def listed(value):
    """An input as PySimpleSOAP wants it: an array is a list of records with one member."""
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("string"), list):
        return [{"string": text} for text in value["string"]]
    return {name: listed(member) for name, member in value.items()}


def presence(record, name):
    if name not in record:
        return "absent"
    return "nil" if record[name] is None else "value"


def at(value, path):
    for step in path.split("."):
        if value is None:
            return None
        if step == "#":
            return len(value)
        if step.isdigit():
            value = value[int(step)]
        elif isinstance(value, list):
            value = [item[step] for item in value]
        else:
            value = value.get(step)
    return value


def read(check, address):
    client.location = address
    call = getattr(client, check["operation"])
    try:
        reply = call(**checks.authentication(), **listed(checks.native(check["input"])))
    except SoapFault as fault:
        found = {"code": fault.faultcode.split(":")[-1], "message": fault.faultstring}
        return [found[name] for name in check["read"]]
    data = reply["Data"]
    if check["situation"] == "base64":
        # the library leaves decoding base64 to its caller
        data["Document"]["DocumentBytes"] = base64.b64decode(data["Document"]["DocumentBytes"])
    return checks.read_all(data, check, at, presence)


checks.make(read)
