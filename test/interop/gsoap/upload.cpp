// Stores and reads a document with MTOM, using the proxy that wsdl2h and soapcpp2 generate.
#include "Soap11Binding.nsmap"
#include "soapSoap11BindingProxy.h"
#include <cstdio>
#include <vector>

namespace {

/// The bytes that the harness expects.
std::vector<unsigned char> bytes(int count) {
    std::vector<unsigned char> made(count);
    for (int i = 0; i < count; i++) made[i] = 31 * i + 17 * (i / 256) + 7;
    return made;
}

/// A value that is sent as a part: gSOAP creates a part if a type is set.
xsd__base64Binary part(std::vector<unsigned char> &content) {
    xsd__base64Binary value;
    value.__ptr = content.data();
    value.__size = content.size();
    value.type = const_cast<char *>("application/octet-stream");
    return value;
}

/// The length and a position-dependent checksum.
std::string told(const xsd__base64Binary *value) {
    long sum = 0;
    for (int i = 0; i < value->__size; i++) sum = (sum + (i + 1L) * value->__ptr[i]) % 1000003;
    return std::to_string(value->__size) + " " + std::to_string(sum);
}

} // namespace

int main(int, char **arguments) {
    struct soap *context = soap_new1(SOAP_C_UTFSTRING | SOAP_ENC_MTOM);
    Soap11BindingProxy api(context, arguments[1]);
    std::vector<unsigned char> large = bytes(40000), small = bytes(300);
    xsd__base64Binary content = part(large), thumbnail = part(small);
    std::string name = "report.pdf";
    ns1__Document document;
    document.name = &name;
    document.content = &content;
    document.thumbnail = &thumbnail;
    _ns1__StoreDocument call;
    call.Body = &document;
    _ns1__StoreDocumentResponse reply;
    if (api.StoreDocument(&call, reply) != SOAP_OK) {
        soap_stream_fault(context, std::cerr);
        return 1;
    }
    std::printf("{\"situation\":\"upload\",\"got\":[\"%s\",\"%s\",\"%s\"]}\n", reply.Result->name->c_str(),
                told(reply.Result->content).c_str(), told(reply.Result->thumbnail).c_str());
}
