"""A service, called with suds: service.py SERVICE WSDL_URL OUT_DIR"""

import logging
import sys
from datetime import datetime

import suds
from suds.client import Client

from services import check

service, wsdl = sys.argv[1:3]
logging.disable(logging.CRITICAL)
client = Client(wsdl, cache=None)
call = client.service


def member(record, name):
    return getattr(record, name, None)


def shop():
    item = call.getItem(id=1)
    check("read", lambda: [
        item.name, item.price, item.weight, item.stock, item.added, member(item, "expires"), member(item, "rating"),
        item.returnable, member(item, "note"), len(item.tags.string), item.tags.string[1],
    ])

    def change():
        item.name = "Ö & Co"
        call.putItem(id=1, Body=item)
        back = call.getItem(id=1)
        return [back.name, back.price, back.weight, member(back, "rating")]

    check("change", change)

    def fault():
        try:
            call.getItem(id=404)
        except suds.WebFault as error:
            return [error.fault.detail.FaultDetail.status]

    check("fault", fault)


def orders():
    header = client.factory.create("SessionHeader")
    header.session, header.branch = "abc", "north"
    client.set_options(soapheaders=header)
    order = call.GetOrder(1)
    check("read", lambda: [
        order._id, order.Total, order.Status, order.Placed, order.Shipped, len(order.Line), order.Line[0]._quantity,
        order.Line[1].Price, order.Card.Last4, member(order, "Invoice"), order.Customer.Name,
        order.Customer.Phone.value, order.Customer.Phone._kind,
    ])
    check("polymorphism", lambda: [type(order.Customer).__name__, order.Customer.VatId])
    check("list", lambda: [len(order.Labels.string), order.Labels.string[0], order.Labels.string[1]])
    check("header", lambda: [client.last_received().getChild("Envelope").getChild("Header").getChild("QuotaHeader")
                             .getChild("callsLeft").getText()])
    check("any", lambda: [order.crate])
    placed = None

    def made(type_name, **members):
        record = client.factory.create(type_name)
        for name, value in members.items():
            setattr(record, name, value)
        return record

    def write():
        nonlocal placed
        order = made(
            "Order", _id=0, _version="2", Placed=datetime(2020, 2, 29, 12), Shipped=suds.null(), Total="10.25",
            Customer=made("BusinessCustomer", Name="Ö & Co", VatId="AT9",
                          Phone=made("Phone", value="555", _kind="mobile")),
            Status="Shipped", Labels={"string": ["one", "two"]}, Invoice="I-1",
            Line=[made("Line", _quantity=3, Article="Screws", Price="3.25"),
                  made("Line", _quantity=1, Article="Rope", Price="0.50")],
        )
        placed = call.PlaceOrder(order)
        back = call.GetOrder(placed)
        return [back.Customer.Name, back.Customer.Phone._kind, back.Customer.VatId, back.Shipped, back.Total,
                back.Line[1].Article, back.Invoice, member(back, "Card")]

    check("write", write)

    def fault():
        try:
            call.GetOrder(404)
        except suds.WebFault as error:
            detail = error.fault.detail.OrderNotFound
            return [detail.orderId, detail.hint]

    check("fault", fault)

    def cancel():
        call.CancelOrder(placed)
        return [call.GetOrder(placed).Status]

    check("empty reply", cancel)


{"shop": shop, "orders": orders}[service]()
