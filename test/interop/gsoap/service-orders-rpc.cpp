// The rpc/encoded service, called with the proxy that wsdl2h and soapcpp2 generate.
#include "OrdersRpcSoapBinding.nsmap"
#include "soapOrdersRpcSoapBindingProxy.h"
#include "service.h"

static OrdersRpcSoapBindingProxy proxy(SOAP_C_UTFSTRING);

static ns2__Order *get(int id) {
  struct ns1__getOrderResponse *reply = soap_new_ns1__getOrderResponse(proxy.soap);
  must(proxy, proxy.getOrder(id, *reply));
  return reply->_getOrderReturn;
}

static ns2__Line *line(int quantity, const char *article, const char *price) {
  ns2__Line *made = soap_new_ns2__Line(proxy.soap);
  made->quantity = quantity;
  made->article = text(proxy.soap, article);
  made->price = text(proxy.soap, price);
  return made;
}

static ns2__Order *orderToPlace() {
  struct soap *soap = proxy.soap;
  ns2__BusinessCustomer *customer = soap_new_ns2__BusinessCustomer(soap);
  customer->name = text(soap, "\xc3\x96 & Co");
  customer->vatId = text(soap, "AT9");
  ns2__Order *order = soap_new_ns2__Order(soap);
  order->customer = customer;
  order->labels = soap_new_ArrayOf_USCOREsoapenc_USCOREstring(soap);
  order->labels->__size = 2;
  order->labels->__ptr = soap_new_std__string(soap, 2);
  order->labels->__ptr[0] = "one";
  order->labels->__ptr[1] = "two";
  order->lines = soap_new_ArrayOf_USCOREtns1_USCORELine(soap);
  order->lines->__size = 2;
  order->lines->__ptr = (ns2__Line **)soap_malloc(soap, 2 * sizeof(ns2__Line *));
  order->lines->__ptr[0] = line(3, "Screws", "3.25");
  order->lines->__ptr[1] = line(1, "Rope", "0.50");
  order->total = text(soap, "10.25");
  return order;
}

int main(int, char **arguments) {
  proxy.soap_endpoint = arguments[1];
  ns2__Order *order = get(1);
  check("read", [&] {
    return std::vector<Told>{told(order->id), told(order->total), told(order->note), told(order->placed),
                             told(order->shipped), told(order->lines->__size), told(order->lines->__ptr[0]->quantity),
                             told(order->lines->__ptr[1]->price), told(order->labels->__size),
                             told(order->labels->__ptr[1]), told(order->customer->name)};
  });
  check("polymorphism", [&] {
    auto *business = dynamic_cast<ns2__BusinessCustomer *>(order->customer);
    return std::vector<Told>{told(std::string(business == nullptr ? "Customer" : "BusinessCustomer")), told(business->vatId)};
  });
  int placed = 0;
  check("write", [&] {
    must(proxy, proxy.placeOrder(orderToPlace(), placed));
    ns2__Order *back = get(placed);
    auto *business = dynamic_cast<ns2__BusinessCustomer *>(back->customer);
    return std::vector<Told>{told(business->vatId), told(back->total), told(back->lines->__ptr[1]->article),
                             told(back->labels->__ptr[1])};
  });
  check("fault", [&] {
    try {
      get(404);
    } catch (const std::exception &error) {
      auto *detail = proxy.soap->fault == nullptr ? nullptr : proxy.soap->fault->detail;
      if (detail == nullptr || detail->fault == nullptr || detail->__type != SOAP_TYPE_ns2__OrderNotFound)
        throw std::runtime_error("expected the detail by its type, got " + std::string(error.what()));
      auto *fault = (ns2__OrderNotFound *)detail->fault;
      return std::vector<Told>{told(fault->orderId), told(fault->hint)};
    }
    return std::vector<Told>{};
  });
  check("one-way", [&] {
    must(proxy, proxy.cancelOrder(placed));
    return std::vector<Told>{told(get(placed)->note)};
  });
}
