// The bare service with several namespaces, called with the proxy that wsdl2h and soapcpp2 generate.
#include "CatalogueSoap.nsmap"
#include "soapCatalogueSoapProxy.h"
#include "service.h"

static CatalogueSoapProxy proxy(SOAP_C_UTFSTRING | SOAP_XML_TREE);
static ns1__Tenant tenant;
static struct SOAP_ENV__Header header;

static void giveTenant() {
  header = {};
  header.ns1__Tenant_ = &tenant;
  proxy.soap->header = &header;
}

static ns1__FindReply *find(__ns1__union_FindRequest criterion) {
  int limit = 5;
  ns1__FindRequest request;
  request.__size_FindRequest = 1;
  request.__union_FindRequest = &criterion;
  request.limit = &limit;
  ns1__FindReply *reply = soap_new_ns1__FindReply(proxy.soap);
  giveTenant();
  must(proxy, proxy.Find(&request, *reply));
  return reply;
}

static ns1__FindReply *cheap() {
  __ns1__union_FindRequest criterion;
  criterion.__union_FindRequest = SOAP_UNION__ns1__union_FindRequest_ns3__ByPrice_;
  criterion.union_FindRequest.ns3__ByPrice_ = soap_new_ns3__ByPrice(proxy.soap);
  criterion.union_FindRequest.ns3__ByPrice_->AtMost = "20";
  return find(criterion);
}

static std::vector<ns2__Item *> named(const char *title) {
  __ns1__union_FindRequest criterion;
  criterion.__union_FindRequest = SOAP_UNION__ns1__union_FindRequest_ns3__ByTitle_;
  criterion.union_FindRequest.ns3__ByTitle_ = soap_new_ns3__ByTitle(proxy.soap);
  criterion.union_FindRequest.ns3__ByTitle_->Contains = title;
  return find(criterion)->Item;
}

static void add() {
  struct soap *soap = proxy.soap;
  ns2__Disc *disc = soap_new_ns2__Disc(soap);
  disc->sku = "d9";
  disc->Title = "Storm & Calm";
  disc->__union_Item = SOAP_UNION__ns2__union_Item_Price;
  disc->union_Item.Price = soap_new_ns2__Money(soap);
  disc->union_Item.Price->__item = "7.05";
  disc->union_Item.Price->currency = text(soap, "CHF");
  disc->Keyword = {"k1"};
  disc->Tracks = 3;
  ns1__AddRequest request;
  request.Item = disc;
  ns1__AddReply reply;
  giveTenant();
  must(proxy, proxy.Add(&request, reply));
}

static ns2__Money *priceOf(ns2__Item *item) {
  return item->__union_Item == SOAP_UNION__ns2__union_Item_Price ? item->union_Item.Price : nullptr;
}

int main(int, char **arguments) {
  proxy.soap_endpoint = arguments[1];
  tenant.name = "acme";
  check("read", [] {
    ns1__FindReply *found = cheap();
    ns2__Item *first = found->Item[0], *second = found->Item[1];
    std::string *free = second->__union_Item == SOAP_UNION__ns2__union_Item_Free ? second->union_Item.Free : nullptr;
    ns2__Money *price = priceOf(second);
    return std::vector<Told>{told(std::string(found->more ? "true" : "false")), told(int(found->Item.size())),
                             told(first->Published), told(priceOf(first)->__item), told(priceOf(first)->currency),
                             told(int(first->Keyword.size())), told(second->Published), told(free),
                             price == nullptr ? Told() : told(price->__item)};
  });
  check("polymorphism", [] {
    auto items = cheap()->Item;
    auto *book = dynamic_cast<ns2__Book *>(items[0]);
    auto *disc = dynamic_cast<ns2__Disc *>(items[1]);
    return std::vector<Told>{told("Book " + std::to_string(book->Pages)), told("Disc " + std::to_string(disc->Tracks))};
  });
  check("write", [] {
    add();
    auto *back = dynamic_cast<ns2__Disc *>(named("Storm")[0]);
    return std::vector<Told>{told(back->sku), told(back->Tracks), told(priceOf(back)->__item), told(priceOf(back)->currency)};
  });
  check("fault", [] {
    try {
      add();
    } catch (const std::exception &) {
      auto *detail = detailOf(proxy.soap)->ns1__Duplicate_;
      return std::vector<Told>{told(detail->sku), told(detail->title)};
    }
    return std::vector<Told>{};
  });
  check("one-way", [] {
    ns1__Removal removal;
    removal.sku = "d9";
    must(proxy, proxy.Remove(&removal));
    return std::vector<Told>{told(int(named("Storm").size()))};
  });
}
