import jakarta.xml.ws.Dispatch;
import jakarta.xml.ws.Service;
import jakarta.xml.ws.soap.SOAPFaultException;
import java.io.StringReader;
import java.io.StringWriter;
import java.net.URI;
import java.util.Map;
import java.util.Properties;
import javax.xml.namespace.QName;
import javax.xml.transform.Source;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.stream.StreamResult;
import javax.xml.transform.stream.StreamSource;

/**
 * Configures CXF from the policy of the WSDL. CXF then signs each call, and refuses a reply that the policy does not
 * permit. Arguments: the URL of the WSDL, and a folder with gateway.p12 and mallory.p12. Each has the
 * key of the caller, and the certificate that replies must have.
 */
final class CxfClient {
    private static final String TYPES = "http://schemas.servicestack.net/types";
    private static final String CALL =
            "<GetEulaStatus xmlns=\"" + TYPES + "\"><Request><SubUserName>jane</SubUserName></Request></GetEulaStatus>";

    public static void main(String[] arguments) throws Exception {
        String wsdl = arguments[0] + "&policy=signed";
        for (String version : new String[] {"1.1", "1.2"}) {
            print(version, "reply", call(wsdl, version, arguments[1], "gateway", CALL), "AgreeToTerms>true<");
            print(version, "fault", call(wsdl, version, arguments[1], "gateway", "<Unknown xmlns=\"urn:x\"/>"), "Unknown");
            print(version, "other certificate", call(wsdl, version, arguments[1], "mallory", CALL), "certificate path validation");
        }
        System.exit(0);
    }

    private static String call(String wsdl, String version, String keys, String trusted, String payload) {
        try {
            Service service = Service.create(URI.create(wsdl).toURL(), new QName(TYPES, "ScreeningApi"));
            QName port = new QName(TYPES, "Soap" + version.replace(".", ""));
            Dispatch<Source> dispatch = service.createDispatch(port, Source.class, Service.Mode.PAYLOAD);
            Map<String, Object> context = dispatch.getRequestContext();
            context.put("ws-security.signature.properties", merlin(keys + "/" + trusted + ".p12", "alice"));
            context.put("ws-security.signature.username", "alice");
            context.put("ws-security.callback-handler", new Password());
            context.put("ws-security.encryption.properties", merlin(keys + "/" + trusted + ".p12", "gateway"));
            context.put("ws-security.encryption.username", "gateway");
            StringWriter text = new StringWriter();
            Source reply = dispatch.invoke(new StreamSource(new StringReader(payload)));
            TransformerFactory.newInstance().newTransformer().transform(reply, new StreamResult(text));
            return text.toString();
        } catch (SOAPFaultException fault) {
            return "fault: " + fault.getMessage();
        } catch (Exception error) {
            return "refused: " + error;
        }
    }

    private static Properties merlin(String file, String alias) {
        Properties properties = new Properties();
        properties.put("org.apache.wss4j.crypto.provider", "org.apache.wss4j.common.crypto.Merlin");
        properties.put("org.apache.wss4j.crypto.merlin.keystore.type", "pkcs12");
        properties.put("org.apache.wss4j.crypto.merlin.keystore.password", "changeit");
        properties.put("org.apache.wss4j.crypto.merlin.keystore.file", file);
        properties.put("org.apache.wss4j.crypto.merlin.keystore.alias", alias);
        return properties;
    }

    private static void print(String version, String situation, String got, String wanted) {
        String text = got.replace("\\", "\\\\").replace("\"", "\\\"").replaceAll("\\s+", " ");
        System.out.println("{\"title\":\"SOAP " + version + ", " + situation + "\",\"ok\":" + got.contains(wanted)
                + ",\"got\":\"" + text + "\"}");
    }

    private static final class Password implements javax.security.auth.callback.CallbackHandler {
        @Override
        public void handle(javax.security.auth.callback.Callback[] callbacks) {
            ((org.apache.wss4j.common.ext.WSPasswordCallback) callbacks[0]).setPassword("changeit");
        }
    }
}
