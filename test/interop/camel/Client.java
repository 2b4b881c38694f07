import jakarta.xml.ws.soap.SOAPFaultException;
import java.util.Map;
import org.apache.camel.CamelContext;
import org.apache.camel.CamelExecutionException;
import org.apache.camel.Exchange;
import org.apache.camel.ProducerTemplate;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.dataformat.soap.SoapDataFormat;
import org.apache.camel.dataformat.soap.name.TypeNameStrategy;
import org.apache.camel.impl.DefaultCamelContext;

/** Makes the checks with a Camel route: JAXB elements, the SOAP data format, HTTP. */
public final class Client {
    private final ProducerTemplate template;

    private Client(String version) throws Exception {
        SoapDataFormat soap = new SoapDataFormat("screening", new TypeNameStrategy());
        soap.setVersion(version);
        CamelContext context = new DefaultCamelContext();
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                from("direct:call")
                        .marshal(soap)
                        .toD("${header.endpoint}?throwExceptionOnFailure=false")
                        .unmarshal(soap);
            }
        });
        context.start();
        template = context.createProducerTemplate();
    }

    public static void main(String[] args) throws Exception {
        Client client = new Client(args[1]);
        Checks.run(args[2], check -> client.call(check, args[1]));
        System.exit(0); // Camel's own threads would go on
    }

    private Object call(Checks.Check check, String version) throws Exception {
        Map<String, Object> headers = Map.of(
                "endpoint", Checks.endpoint(check),
                "SOAPAction", check.operation(),
                Exchange.CONTENT_TYPE, version.equals("1.1") ? "text/xml; charset=utf-8" : "application/soap+xml; charset=utf-8");
        try {
            return Reading.at(template.requestBodyAndHeaders("direct:call", Payloads.of(check), headers), "Data");
        } catch (CamelExecutionException e) {
            if (e.getCause() instanceof SOAPFaultException fault) {
                return new Checks.Fault(
                        fault.getFault().getFaultCodeAsQName().getLocalPart(), fault.getFault().getFaultString());
            }
            throw e;
        }
    }
}
