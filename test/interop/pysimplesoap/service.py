"""The service of an OpenAPI document, called with PySimpleSOAP: service.py SERVICE WSDL_URL OUT_DIR"""

import sys

from pysimplesoap.client import SoapClient, SoapFault

from services import check

client = SoapClient(wsdl=sys.argv[2], soap_ns="soap", ns="types", cache=None)


def get(number):
    return client.getItem(id=number)["Result"]


item = get(1)
tags = [tag["string"] for tag in item["tags"]]
check("read", lambda: [
    item["name"], item["price"], item["weight"], item["stock"], item["added"], item.get("expires"), item.get("rating"),
    item["returnable"], item.get("note"), len(tags), tags[1],
])


def change():
    item["name"] = "Ö & Co"
    client.putItem(id=1, Body=item)
    back = get(1)
    return [back["name"], back["price"], back["weight"], back.get("rating")]


check("change", change)


def fault():
    try:
        get(404)
    except SoapFault as error:
        return [error.detail["FaultDetail"]["status"]]


check("fault", fault)
