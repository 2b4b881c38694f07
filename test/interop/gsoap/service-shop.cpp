// The service of an OpenAPI document, called with the proxy that wsdl2h and soapcpp2 generate.
#include "Soap11Binding.nsmap"
#include "soapSoap11BindingProxy.h"
#include "service.h"

static Soap11BindingProxy proxy(SOAP_C_UTFSTRING);

static ns1__Item *get(int id) {
  _ns1__getItem request;
  request.id = &id;
  _ns1__getItemResponse *reply = soap_new__ns1__getItemResponse(proxy.soap);
  must(proxy, proxy.getItem(&request, *reply));
  return reply->Result;
}

static Told number(const double *value) {
  if (value == nullptr) return Told();
  char text[32];
  snprintf(text, sizeof text, "%.17g", *value);
  return std::string(text);
}

static Told instant(const time_t *value) {
  Told text = told(value);
  return text ? Told(*text + "Z") : text;
}

int main(int, char **arguments) {
  proxy.soap_endpoint = arguments[1];
  ns1__Item *item = get(1);
  check("read", [&] {
    auto &tags = item->tags->string;
    return std::vector<Told>{told(item->name), told(item->price), number(item->weight),
                             told(std::to_string(*item->stock)), instant(item->added), instant(item->expires),
                             number(item->rating), told(std::string(*item->returnable ? "true" : "false")),
                             told(item->note), told(int(tags.size())), told(tags[1])};
  });
  check("change", [&] {
    item->name = text(proxy.soap, "\xc3\x96 & Co");
    int id = 1;
    _ns1__putItem request;
    request.id = &id;
    request.Body = item;
    _ns1__putItemResponse reply;
    must(proxy, proxy.putItem(&request, reply));
    ns1__Item *back = get(1);
    return std::vector<Told>{told(back->name), told(back->price), number(back->weight), number(back->rating)};
  });
  check("fault", [&] {
    try {
      get(404);
    } catch (const std::exception &) {
      return std::vector<Told>{told(*detailOf(proxy.soap)->ns1__FaultDetail_->status)};
    }
    return std::vector<Told>{};
  });
}
