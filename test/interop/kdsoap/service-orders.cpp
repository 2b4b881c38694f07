// The adopted .asmx service, by the proxy that kdwsdl2cpp generates.
#include "service.h"
#include "proxy.h"
#include <KDSoapClientInterface.h>
#include <QCoreApplication>

namespace {

// A decimal with two fraction digits, which the proxy reads as a float.
Told amount(float value) { return QString::number(value, 'f', 2).toStdString(); }

Told status(const TNS__OrderStatus &value) {
  switch (value.type()) {
  case TNS__OrderStatus::Open: return std::string("Open");
  case TNS__OrderStatus::Shipped: return std::string("Shipped");
  default: return std::string("Cancelled");
  }
}

// Reads the derived type from the raw value, since the proxy creates the declared type.
TNS__BusinessCustomer customerOf(const TNS__Order &order) {
  TNS__BusinessCustomer customer;
  customer.deserialize(order.customer_as_kdsoap_value());
  return customer;
}

Told invoice(const TNS__Order &order) { return given(order.hasValueForInvoice(), text(order.invoice())); }

Told date(const KDDateTime &value) { return given(value.isValid(), text(value.toDateString())); }

template <class Proxy> TNS__Order get(Proxy &api, int id) {
  TNS__GetOrder request;
  request.setOrderId(id);
  const TNS__Order order = api.getOrder(request).getOrderResult();
  must(api);
  return order;
}

// All checks, with the proxy of one SOAP version.
template <class Proxy> void run(const char *address) {
  Proxy api;
  api.setEndPoint(address);
  TNS__SessionHeader session;
  session.setSession("abc");
  session.setBranch("north");
  api.setSessionHeader(session);
  const TNS__Order order = get(api, 1);
  const KDSoapHeaders headers = api.clientInterface()->lastResponseHeaders();
  check("read", [&] {
    const QList<TNS__Line> lines = order.line();
    const TNS__Customer *customer = order.customer();
    return std::vector<Told>{told(order.id()), amount(order.total()), status(order.status()), date(order.placed()),
                             date(order.shipped()), told(int(lines.size())), told(lines[0].quantity()),
                             amount(lines[1].price()), text(order.card().last4()), invoice(order),
                             text(customer->name()), text(customer->phone().value()), text(customer->phone().kind())};
  });
  check("polymorphism", [&] {
    return std::vector<Told>{text(order.customer_as_kdsoap_value().type()), text(customerOf(order).vatId())};
  });
  check("list", [&] {
    const QStringList labels = order.labels().string();
    return std::vector<Told>{told(int(labels.size())), text(labels[0]), given(!labels[1].isNull(), text(labels[1]))};
  });
  check("header", [&] {
    const KDSoapValue quota = headers.first().childValues().child("callsLeft");
    return std::vector<Told>{text(quota.value().toString())};
  });
  check("any", [&] { return std::vector<Told>{text(order.any().value().toString())}; });
  check("empty reply", [&] {
    TNS__CancelOrder request;
    request.setOrderId(1);
    api.cancelOrder(request);
    must(api);
    return std::vector<Told>{status(get(api, 1).status())};
  });
}

} // namespace

int main(int argc, char **arguments) {
  QCoreApplication application(argc, arguments);
  if (std::string(arguments[2]) == "1.1") run<Orders::OrdersSoap>(arguments[1]);
  else run<Orders::OrdersSoap12>(arguments[1]);
}
