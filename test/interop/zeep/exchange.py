"""The exchanges of documents: values taken from calls.xml by zeep's types, replies told by them."""

import base64
import json
import sys
import xml.etree.ElementTree as ElementTree
from datetime import date, datetime, time
from decimal import Decimal

import zeep
from zeep.xsd import ComplexType, Nil

NIL = "{http://www.w3.org/2001/XMLSchema-instance}nil"


def local(element):
    return element.tag.split("}")[-1]


def value_of(element, type_):
    """What zeep's API takes for an element's content."""
    if element.get(NIL) == "true":
        return Nil
    if isinstance(type_, ComplexType):
        return type_(**members_of(element, type_))
    text = element.text or ""
    native = type_.pythonvalue(text)
    # a value that zeep would write differently is passed as text, for example a date with seven fraction digits
    return native if type_.xmlvalue(native) == text else text


def members_of(parent, type_):
    declared = {element.name: (name, element) for name, element in type_.elements}
    members = {}
    for child in parent:
        name, element = declared[local(child)]
        value = value_of(child, element.type)
        if element.accepts_multiple:
            members.setdefault(name, []).append(value)
        else:
            members[name] = value
    return members


def tree_of(value, type_):
    """A value as the harness compares it, by the type that zeep knows it has."""
    if value is None:
        return None
    if not isinstance(type_, ComplexType):
        return leaf_of(value)
    children = {}
    for name, element in type_.elements:
        given = value[name]
        items = given if element.accepts_multiple else [given]
        # zeep returns None for absent, nil and empty
        told = [tree_of(item, element.type) for item in items or [] if element.accepts_multiple or item is not None]
        if told:
            children[element.name] = told
    return children


def leaf_of(value):
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, bool):
        return {"is": str(value).lower()}
    if isinstance(value, (datetime, date, time)):
        return {"is": value.isoformat()}
    if isinstance(value, Decimal):
        return {"is": format(value, "f")}
    return value if isinstance(value, str) else {"is": repr(value)}


def reply_tree(value, wrapper):
    """zeep hands over what the wrapper holds, and where that is a record of one member, the member."""
    ((_, result),) = wrapper.elements
    if value is None:
        return {}
    if isinstance(result.type, ComplexType) and len(result.type.elements) == 1:
        value = {result.type.elements[0][0]: value}
    return {result.name: [tree_of(value, result.type)]}


def main():
    wsdl, calls = sys.argv[1:]
    client = zeep.Client(wsdl)
    (service,) = client.wsdl.services.values()
    for version, port in (("1.1", "Soap11"), ("1.2", "Soap12")):
        proxy = client.bind(service.name, port)
        operations = proxy._binding._operations
        for call in ElementTree.parse(calls).getroot():
            (request,) = call
            line = {"name": call.get("name"), "version": version}
            try:
                operation = operations[local(request)]
                reply = proxy[operation.name](**members_of(request, operation.input.body.type))
                line["got"] = reply_tree(reply, operation.output.body.type)
            except zeep.exceptions.Fault as fault:
                line["fault"] = {"code": fault.code.split(":")[-1], "message": fault.message}
            except Exception as error:
                line["error"] = "%s: %s" % (type(error).__name__, error)
            print(json.dumps(line))


main()
