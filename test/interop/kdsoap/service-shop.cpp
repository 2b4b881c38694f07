// The service of an OpenAPI document, by the proxy that kdwsdl2cpp generates.
#include "../cpp/service.h"
#include "shop.h"
#include <QCoreApplication>

namespace {

Told number(double value) {
  char text[32];
  snprintf(text, sizeof text, "%.17g", value);
  return std::string(text);
}

Told text(const QString &value) { return value.toStdString(); }

// A value, or none where the proxy reports that its element is absent.
Told given(bool there, const Told &value) { return there ? value : Told(); }

TNS__Item get(Shop::Soap11Binding &api, int id) {
  TNS__GetItem request;
  request.setId(id);
  const TNS__Item item = api.getItem(request).result();
  if (!api.lastError().isEmpty()) throw std::runtime_error(api.lastError().toStdString());
  return item;
}

} // namespace

int main(int argc, char **arguments) {
  QCoreApplication application(argc, arguments);
  Shop::Soap11Binding api;
  api.setEndPoint(arguments[1]);
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
