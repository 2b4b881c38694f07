"""A service, called with zeep: service.py SERVICE WSDL_URL OUT_DIR VERSION"""

import json
import sys
from datetime import datetime
from decimal import Decimal

import zeep
from zeep.exceptions import Fault

service, wsdl, _, version = sys.argv[1:]
xsi_type = "{http://www.w3.org/2001/XMLSchema-instance}type"
soap_encoding = b'''<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:e="http://schemas.xmlsoap.org/soap/encoding/"
  targetNamespace="http://schemas.xmlsoap.org/soap/encoding/">
  <xs:attribute name="arrayType" type="xs:string"/>
  <xs:complexType name="Array"><xs:sequence><xs:any minOccurs="0" maxOccurs="unbounded" processContents="lax"/></xs:sequence>
    <xs:attribute ref="e:arrayType"/></xs:complexType>
  <xs:simpleType name="string"><xs:restriction base="xs:string"/></xs:simpleType>
  <xs:simpleType name="decimal"><xs:restriction base="xs:decimal"/></xs:simpleType>
</xs:schema>'''


class Transport(zeep.transports.Transport):
    # zeep loads the schema of SOAP encoding from its public address, which some networks cannot reach
    def load(self, url):
        return soap_encoding if url == "http://schemas.xmlsoap.org/soap/encoding/" else super().load(url)


class Substitute(zeep.Plugin):
    # zeep has no substitution groups: it writes the head with xsi:type, whose value is the member's name here
    def egress(self, envelope, http_headers, operation, binding_options):
        for head in envelope.iter("{urn:catalogue:criteria}Criterion"):
            head.tag = "{urn:catalogue:criteria}" + head.attrib.pop(xsi_type).split(":")[1]
        return envelope, http_headers


client = zeep.Client(wsdl, transport=Transport(), plugins=[Substitute()])
port = {"shop": {"1.1": "Soap11", "1.2": "Soap12"}, "orders": {"1.1": "OrdersSoap", "1.2": "OrdersSoap12"}}
call = client.bind(port_name=port[service][version]) if service in port else client.service


def told(value):
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat()
    return str(value)


def check(situation, read):
    try:
        line = {"situation": situation, "got": [told(value) for value in read()]}
    except Exception as error:  # the harness reports it
        line = {"situation": situation, "error": f"{type(error).__name__}: {error}"}
    print(json.dumps(line), flush=True)


def type_name(value):
    return type(value).__name__


def fault_detail(error, name):
    return client.wsdl.types.deserialize(error.detail.find(name))


def shop():
    item = call.getItem(id=1)
    check("read", lambda: [
        item.name, item.price, item.weight, item.stock, item.added.isoformat(), item.expires, item.rating,
        item.returnable, item.note, len(item.tags.string), item.tags.string[1],
    ])

    def change():
        item.name = "Ö & Co"
        call.putItem(id=1, Body=item)
        back = call.getItem(id=1)
        return [back.name, back.price, back.weight, back.rating]

    check("change", change)

    def fault():
        try:
            call.getItem(id=404)
        except Fault as error:
            return [fault_detail(error, "{urn:Shop}FaultDetail").status]

    check("fault", fault)


def orders():
    factory = client.type_factory("http://orders.example/")
    header = client.get_element("{http://orders.example/}SessionHeader")(session="abc", branch="north")

    def get(number):
        return call.GetOrder(orderId=number, _soapheaders=[header])

    order = get(1).body.GetOrderResult
    check("read", lambda: [
        order.id, order.Total, order.Status, order.Placed, order.Shipped, len(order.Line), order.Line[0].quantity,
        order.Line[1].Price, order.Card.Last4, order.Invoice, order.Customer.Name, order.Customer.Phone._value_1,
        order.Customer.Phone.kind,
    ])
    check("polymorphism", lambda: [type_name(order.Customer), order.Customer.VatId])
    check("list", lambda: [len(order.Labels.string), order.Labels.string[0], order.Labels.string[1]])
    check("header", lambda: [get(1).header.QuotaHeader.callsLeft])
    check("any", lambda: [order._value_1.text])
    placed = None

    def write():
        nonlocal placed
        placed = call.PlaceOrder(_soapheaders=[header], order=factory.Order(
            id=0, version="2",
            Customer=factory.BusinessCustomer(Name="Ö & Co", Phone=factory.Phone("555", kind="mobile"), VatId="AT9"),
            Placed=datetime(2020, 2, 29, 12), Shipped=zeep.xsd.Nil, Total=Decimal("10.25"), Status="Shipped",
            Line=[
                factory.Line(quantity=3, Article="Screws", Price=Decimal("3.25")),
                factory.Line(quantity=1, Article="Rope", Price=Decimal("0.50")),
            ],
            Labels=factory.ArrayOfString(["one", "two"]), Invoice="I-1",
        ))
        back = get(placed).body.GetOrderResult
        return [back.Customer.Name, back.Customer.Phone.kind, back.Customer.VatId, back.Shipped, back.Total,
                back.Line[1].Article, back.Invoice, back.Card]

    check("write", write)

    def fault():
        try:
            get(404)
        except Fault as error:
            detail = fault_detail(error, "{http://orders.example/}OrderNotFound")
            return [detail.orderId, detail.hint]

    check("fault", fault)

    def cancel():
        call.CancelOrder(orderId=placed, _soapheaders=[header])
        return [get(placed).body.GetOrderResult.Status]

    check("empty reply", cancel)


def orders_rpc():
    model = client.type_factory("http://model.orders.example/")
    impl = client.type_factory("http://rpc.orders.example/")
    order = call.getOrder(1)
    check("read", lambda: [
        order.id, order.total, order.note, order.placed, order.shipped, len(order.lines), order.lines[0].quantity,
        order.lines[1].price, len(order.labels), order.labels[1], order.customer.name,
    ])
    check("polymorphism", lambda: [type_name(order.customer), order.customer.vatId])
    placed = None

    def array(type_name, item_type, values):
        # zeep does not know the item type of a SOAP array, so each item states its type
        item = zeep.xsd.Element("item", client.get_type(item_type))
        return getattr(impl, type_name)([zeep.xsd.AnyObject(item, value) for value in values])

    def write():
        nonlocal placed
        placed = call.placeOrder(model.Order(
            customer=model.BusinessCustomer(name="Ö & Co", vatId="AT9"), id=0,
            labels=array("ArrayOf_soapenc_string", "{http://schemas.xmlsoap.org/soap/encoding/}string", ["one", "two"]),
            lines=array("ArrayOf_tns1_Line", "{http://model.orders.example/}Line", [
                model.Line(article="Screws", price=Decimal("3.25"), quantity=3),
                model.Line(article="Rope", price=Decimal("0.50"), quantity=1),
            ]),
            note=None, placed=None, shipped=None, total=Decimal("10.25"),
        ))
        back = call.getOrder(placed)
        return [back.customer.vatId, back.total, back.lines[1].article, back.labels[1]]

    check("write", write)

    def fault():
        try:
            call.getOrder(404)
        except Fault as error:
            # a fault of rpc has a part with a type; the service chooses the element's name
            detail = error.detail[0]
            return [detail.findtext("orderId"), detail.findtext("hint")]

    check("fault", fault)

    def cancel():
        call.cancelOrder(placed)
        return [call.getOrder(placed).note]

    check("one-way", cancel)


def catalogue():
    items = client.type_factory("urn:catalogue:items")
    criteria = client.type_factory("urn:catalogue:criteria")
    tenant = client.get_element("{urn:catalogue:service}Tenant")(name="acme")

    def find(criterion):
        return call.Find(Criterion=[criterion], limit=5, _soapheaders={"tenant": tenant})

    def named(title):
        return find(criteria.ByTitle(Contains=title))

    def read():
        found = find(criteria.ByPrice(AtMost=Decimal("20")))
        first, second = found.Item
        return [found.more, len(found.Item), first.Published, first.Price._value_1, first.Price.currency,
                len(first.Keyword), second.Published, second.Free, second.Price]

    check("read", read)
    check("polymorphism", lambda: [f"{type_name(item)} {getattr(item, size)}" for item, size in
                                   zip(find(criteria.ByPrice(AtMost=Decimal("20"))).Item, ["Pages", "Tracks"])])
    disc = items.Disc(sku="d9", Title="Storm & Calm", Published=zeep.xsd.Nil,
                      Price=items.Money(Decimal("7.05"), currency="CHF"), Keyword=["k1"], Tracks=3)

    def write():
        call.Add(Item=disc, _soapheaders={"tenant": tenant})
        back = named("Storm").Item[0]
        return [back.sku, back.Tracks, back.Price._value_1, back.Price.currency]

    check("write", write)

    def fault():
        try:
            call.Add(Item=disc, _soapheaders={"tenant": tenant})
        except Fault as error:
            detail = fault_detail(error, "{urn:catalogue:service}Duplicate")
            return [detail.sku, detail.title]

    check("fault", fault)

    def remove():
        call.Remove(sku="d9")
        return [len(named("Storm").Item)]

    check("one-way", remove)


{"shop": shop, "orders": orders, "orders-rpc": orders_rpc, "catalogue": catalogue}[service]()
