// Helpers of the gSOAP programs for services.
#pragma once
#include "../cpp/service.h"

// Throws the error of a failed call.
template <class Proxy> void must(Proxy &proxy, int result) {
  if (result == SOAP_OK) return;
  char text[500] = "";
  soap_sprint_fault(proxy.soap, text, sizeof text);
  throw std::runtime_error(text);
}

// The detail of a fault, whose element depends on the SOAP version.
inline struct SOAP_ENV__Detail *detailOf(struct soap *soap) {
  return soap->fault->detail != nullptr ? soap->fault->detail : soap->fault->SOAP_ENV__Detail;
}

inline std::string *text(struct soap *soap, const char *value) {
  std::string *made = soap_new_std__string(soap);
  *made = value;
  return made;
}
