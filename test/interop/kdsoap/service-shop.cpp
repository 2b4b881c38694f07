// The service of an OpenAPI document, by the proxy that kdwsdl2cpp generates.
#include "service.h"
#include "proxy.h"
#include <QCoreApplication>

namespace {

Told number(double value) {
  char text[32];
  snprintf(text, sizeof text, "%.17g", value);
  return std::string(text);
}

template <class Proxy> TNS__Item get(Proxy &api, int id) {
  TNS__GetItem request;
  request.setId(id);
  const TNS__Item item = api.getItem(request).result();
  must(api);
  return item;
}

// All checks, with the proxy of one SOAP version.
template <class Proxy> void run(const char *address) {
  Proxy api;
  api.setEndPoint(address);
  TNS__Item item = get(api, 1);
  check("read", [&] {
    const QStringList tags = item.tags().string();
    return std::vector<Told>{text(item.name()), number(item.price()), number(item.weight()),
                             told(std::to_string(item.stock())), text(item.added().toDateString()),
                             given(item.hasValueForExpires(), text(item.expires().toDateString())),
                             given(item.hasValueForRating(), number(item.rating())),
                             told(std::string(item.returnable() ? "true" : "false")),
                             given(item.hasValueForNote(), text(item.note())), told(int(tags.size())), text(tags[1])};
  });
  check("change", [&] {
    item.setName(QString::fromUtf8("\xc3\x96 & Co"));
    TNS__PutItem request;
    request.setId(1);
    request.setBody(item);
    api.putItem(request);
    const TNS__Item back = get(api, 1);
    return std::vector<Told>{text(back.name()), number(back.price()), number(back.weight()),
                             given(back.hasValueForRating(), number(back.rating()))};
  });
  check("fault", [&] {
    try {
      get(api, 404);
    } catch (const std::exception &) {
      return std::vector<Told>{Told()}; // the proxy returns a fault as one sentence, without its detail
    }
    return std::vector<Told>{};
  });
}

} // namespace

int main(int argc, char **arguments) {
  QCoreApplication application(argc, arguments);
  if (std::string(arguments[2]) == "1.1") run<Shop::Soap11Binding>(arguments[1]);
  else run<Shop::Soap12Binding>(arguments[1]);
}
