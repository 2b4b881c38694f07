"""A service, called with PySimpleSOAP: service.py SERVICE WSDL_URL OUT_DIR VERSION"""

import sys

from pysimplesoap.client import SimpleXMLElement, SoapClient, SoapFault

from services import check

service, wsdl, _, version = sys.argv[1:]
# a strict client fails on an element that the declared type does not have
client = SoapClient(
    wsdl=wsdl, soap_ns={"1.1": "soap", "1.2": "soap12env"}[version], ns="types", cache=None, strict=service == "shop",
)


def shop():
    def get(number):
        return client.getItem(id=number)["Result"]

    item = get(1)
    tags = [tag["string"] for tag in item["tags"]]
    check("read", lambda: [
        item["name"], item["price"], item["weight"], item["stock"], item["added"], item.get("expires"),
        item.get("rating"), item["returnable"], item.get("note"), len(tags), tags[1],
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


def orders():
    # PySimpleSOAP uses the prefix as the namespace of a header block that is passed as a dictionary
    client["SessionHeader"] = SimpleXMLElement(
        '<SessionHeader xmlns="http://orders.example/"><session>abc</session><branch>north</branch></SessionHeader>'
    )

    def get(number):
        return client.GetOrder(orderId=number)["GetOrderResult"]

    order = get(1)
    quota = SimpleXMLElement(client.xml_response)("callsLeft", ns="http://orders.example/")
    check("list", lambda: [len(order["Labels"]), order["Labels"][0]["string"], order["Labels"][1]["string"]])
    check("header", lambda: [quota])
    check("any", lambda: [order["crate"]])

    def fault():
        try:
            get(404)
        except SoapFault as error:
            detail = error.detail["OrderNotFound"]
            return [detail["orderId"], detail["hint"]]

    check("fault", fault)

    def cancel():
        client.CancelOrder(orderId=1)
        return [get(1)["Status"]]

    check("empty reply", cancel)


{"shop": shop, "orders": orders}[service]()
