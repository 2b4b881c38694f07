// The wrapped .asmx service, called with the proxy that wsdl2h and soapcpp2 generate.
#include "OrdersSoap.nsmap"
#include "soapOrdersSoapProxy.h"
#include "service.h"

static OrdersSoapProxy proxy(SOAP_C_UTFSTRING | SOAP_XML_TREE);
static ns1__SessionHeader session;
static struct SOAP_ENV__Header header;

static void giveSession() {
  header = {};
  header.ns1__SessionHeader_ = &session;
  proxy.soap->header = &header;
}

static ns1__Order *get(int id) {
  _ns1__GetOrder request;
  request.orderId = id;
  _ns1__GetOrderResponse *reply = soap_new__ns1__GetOrderResponse(proxy.soap);
  giveSession();
  must(proxy, proxy.GetOrder(&request, *reply));
  return reply->GetOrderResult;
}

static std::string statusOf(ns1__Order *order) {
  return soap_ns1__OrderStatus2s(proxy.soap, order->Status);
}

static ns1__Line *line(int quantity, const char *article, const char *price) {
  ns1__Line *made = soap_new_ns1__Line(proxy.soap);
  made->quantity = quantity;
  made->Article = text(proxy.soap, article);
  made->Price = price;
  return made;
}

static ns1__Order *orderToPlace() {
  struct soap *soap = proxy.soap;
  ns1__BusinessCustomer *customer = soap_new_ns1__BusinessCustomer(soap);
  customer->Name = text(soap, "\xc3\x96 & Co");
  customer->VatId = text(soap, "AT9");
  customer->Phone = soap_new_ns1__Phone(soap);
  customer->Phone->__item = "555";
  customer->Phone->kind = text(soap, "mobile");
  ns1__Order *order = soap_new_ns1__Order(soap);
  order->version = text(soap, "2");
  order->Customer = customer;
  order->Placed = 1582977600; // 2020-02-29T12:00:00
  order->Total = "10.25";
  order->Status = ns1__OrderStatus::Shipped;
  order->Line = {line(3, "Screws", "3.25"), line(1, "Rope", "0.50")};
  order->Labels = soap_new_ns1__ArrayOfString(soap);
  order->Labels->string = {"one", "two"};
  order->__union_Order = SOAP_UNION__ns1__union_Order_Invoice;
  order->union_Order.Invoice = text(soap, "I-1");
  return order;
}

int main(int, char **arguments) {
  proxy.soap_endpoint = arguments[1];
  session.session = text(proxy.soap, "abc");
  session.branch = text(proxy.soap, "north");
  ns1__Order *order = get(1);
  int callsLeft = proxy.soap->header->ns1__QuotaHeader_->callsLeft;
  auto card = [](ns1__Order *of) {
    return of->__union_Order == SOAP_UNION__ns1__union_Order_Card ? of->union_Order.Card->Last4 : nullptr;
  };
  auto invoice = [](ns1__Order *of) {
    return of->__union_Order == SOAP_UNION__ns1__union_Order_Invoice ? of->union_Order.Invoice : nullptr;
  };
  check("read", [&] {
    return std::vector<Told>{told(order->id), told(order->Total), told(statusOf(order)), told(order->Placed),
                             told(order->Shipped), told(int(order->Line.size())), told(order->Line[0]->quantity),
                             told(order->Line[1]->Price), told(card(order)), told(invoice(order)),
                             told(order->Customer->Name), told(order->Customer->Phone->__item),
                             told(order->Customer->Phone->kind)};
  });
  check("polymorphism", [&] {
    auto *business = dynamic_cast<ns1__BusinessCustomer *>(order->Customer);
    return std::vector<Told>{told(std::string(business == nullptr ? "Customer" : "BusinessCustomer")), told(business->VatId)};
  });
  check("list", [&] {
    auto &labels = order->Labels->string;
    return std::vector<Told>{told(int(labels.size())), told(labels[0]), told(labels[1])};
  });
  check("header", [&] { return std::vector<Told>{told(callsLeft)}; });
  check("any", [&] {
    std::string xml = order->__any;
    size_t from = xml.find('>') + 1;
    return std::vector<Told>{told(xml.substr(from, xml.find('<', from) - from))};
  });
  int placed = 0;
  check("write", [&] {
    _ns1__PlaceOrder request;
    request.order = orderToPlace();
    _ns1__PlaceOrderResponse reply;
    giveSession();
    must(proxy, proxy.PlaceOrder(&request, reply));
    placed = reply.PlaceOrderResult;
    ns1__Order *back = get(placed);
    auto *business = dynamic_cast<ns1__BusinessCustomer *>(back->Customer);
    return std::vector<Told>{told(back->Customer->Name), told(back->Customer->Phone->kind), told(business->VatId),
                             told(back->Shipped), told(back->Total), told(back->Line[1]->Article),
                             told(invoice(back)), told(card(back))};
  });
  check("fault", [&] {
    try {
      get(404);
    } catch (const std::exception &) {
      auto *detail = detailOf(proxy.soap)->ns1__OrderNotFound_;
      return std::vector<Told>{told(detail->orderId), told(detail->hint)};
    }
    return std::vector<Told>{};
  });
  check("empty reply", [&] {
    _ns1__CancelOrder request;
    request.orderId = placed;
    _ns1__CancelOrderResponse reply;
    giveSession();
    must(proxy, proxy.CancelOrder(&request, reply));
    return std::vector<Told>{told(statusOf(get(placed)))};
  });
}
