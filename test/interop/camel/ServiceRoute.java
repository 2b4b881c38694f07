import jakarta.xml.ws.soap.SOAPFaultException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.camel.CamelContext;
import org.apache.camel.Exchange;
import org.apache.camel.ProducerTemplate;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.dataformat.soap.SoapDataFormat;
import org.apache.camel.dataformat.soap.name.TypeNameStrategy;
import org.apache.camel.impl.DefaultCamelContext;
import org.w3c.dom.Element;

/** A Camel route with the SOAP data format for one SOAP version. */
final class ServiceRoute {
    private final ProducerTemplate template;
    private final String contentType;

    ServiceRoute(String address, String version) throws Exception {
        SoapDataFormat soap = new SoapDataFormat("adopted", new TypeNameStrategy());
        soap.setVersion(version);
        contentType = version.equals("1.1") ? "text/xml; charset=utf-8" : "application/soap+xml; charset=utf-8";
        CamelContext context = new DefaultCamelContext();
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                from("direct:call").marshal(soap).to(address + "?throwExceptionOnFailure=false").unmarshal(soap);
            }
        });
        context.start();
        template = context.createProducerTemplate();
    }

    /** Makes a call with header blocks. The exchange contains the reply's body and header blocks. */
    Exchange call(String action, Object request, List<?> headers) throws Exception {
        Map<String, Object> all = new HashMap<>();
        all.put("SOAPAction", action);
        all.put(Exchange.CONTENT_TYPE, contentType);
        all.put(SoapDataFormat.SOAP_UNMARSHALLED_HEADER_LIST, headers);
        Exchange exchange = template.request("direct:call", made -> {
            made.getIn().setBody(request);
            made.getIn().setHeaders(all);
        });
        if (exchange.getException() != null) throw exchange.getException();
        return exchange;
    }

    /** Returns the text of a member in the detail of a fault. */
    static String inDetail(Exception fault, String member) {
        Element detail = ((SOAPFaultException) fault).getFault().getDetail();
        return detail.getElementsByTagNameNS("*", member).item(0).getTextContent();
    }
}
