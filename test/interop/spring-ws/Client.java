import jakarta.xml.soap.MessageFactory;
import jakarta.xml.soap.SOAPConstants;
import org.springframework.oxm.jaxb.Jaxb2Marshaller;
import org.springframework.ws.client.core.WebServiceTemplate;
import org.springframework.ws.client.support.interceptor.ClientInterceptor;
import org.springframework.ws.soap.client.SoapFaultClientException;
import org.springframework.ws.soap.client.core.SoapActionCallback;
import org.springframework.ws.soap.saaj.SaajSoapMessageFactory;
import org.springframework.ws.soap.security.wss4j2.Wss4jSecurityInterceptor;

/** Makes the checks with a WebServiceTemplate and the classes that xjc generates from the WSDL. */
public final class Client {
    private final WebServiceTemplate template;

    private Client(String version) throws Exception {
        boolean soap11 = version.equals("1.1");
        template = new WebServiceTemplate(new SaajSoapMessageFactory(MessageFactory.newInstance(
                soap11 ? SOAPConstants.SOAP_1_1_PROTOCOL : SOAPConstants.SOAP_1_2_PROTOCOL)));
        Jaxb2Marshaller marshaller = new Jaxb2Marshaller();
        marshaller.setContextPath("screening");
        marshaller.setMtomEnabled(System.getenv("MTOM") != null);
        marshaller.afterPropertiesSet();
        template.setMarshaller(marshaller);
        template.setUnmarshaller(marshaller);
        String security = System.getenv("SECURITY");
        if (security != null) {
            template.setInterceptors(new ClientInterceptor[] {usernameToken(security)});
        }
    }

    /** Writes a Timestamp and a UsernameToken, and checks the reply's Timestamp. */
    private static ClientInterceptor usernameToken(String security) throws Exception {
        Wss4jSecurityInterceptor interceptor = new Wss4jSecurityInterceptor();
        interceptor.setSecurementActions("Timestamp UsernameToken");
        interceptor.setSecurementUsername("demo");
        interceptor.setSecurementPassword("demo-key");
        interceptor.setSecurementPasswordType(security.equals("digest") ? "PasswordDigest" : "PasswordText");
        interceptor.setValidationActions("Timestamp");
        interceptor.afterPropertiesSet();
        return interceptor;
    }

    public static void main(String[] args) throws Exception {
        Client client = new Client(args[1]);
        Checks.run(args[2], client::call);
    }

    private Object call(Checks.Check check) throws Exception {
        try {
            Object response = template.marshalSendAndReceive(
                    Checks.endpoint(check), Payloads.of(check), new SoapActionCallback(check.operation()));
            return Reading.at(response, "Data");
        } catch (SoapFaultClientException e) {
            return new Checks.Fault(e.getFaultCode().getLocalPart(), e.getFaultStringOrReason());
        }
    }
}
