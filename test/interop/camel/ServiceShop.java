import jakarta.xml.ws.soap.SOAPFaultException;
import java.util.Map;
import org.apache.camel.CamelContext;
import org.apache.camel.Exchange;
import org.apache.camel.ProducerTemplate;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.dataformat.soap.SoapDataFormat;
import org.apache.camel.dataformat.soap.name.TypeNameStrategy;
import org.apache.camel.impl.DefaultCamelContext;
import org.w3c.dom.Element;

/** The service of an OpenAPI document, by a Camel route with the SOAP data format. */
class ServiceShop {
    public static void main(String[] arguments) throws Exception {
        SoapDataFormat soap = new SoapDataFormat("adopted", new TypeNameStrategy());
        CamelContext context = new DefaultCamelContext();
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                from("direct:call").marshal(soap).to(arguments[0] + "?throwExceptionOnFailure=false").unmarshal(soap);
            }
        });
        context.start();
        ProducerTemplate template = context.createProducerTemplate();
        ServiceItems.run(
                (operation, request) -> template.requestBodyAndHeaders("direct:call", request, Map.of(
                        "SOAPAction", operation, Exchange.CONTENT_TYPE, "text/xml; charset=utf-8")),
                fault -> {
                    SOAPFaultException cause = (SOAPFaultException) fault.getCause();
                    Element detail = cause.getFault().getDetail();
                    return detail.getElementsByTagNameNS("*", "status").item(0).getTextContent();
                });
        System.exit(0);
    }
}
