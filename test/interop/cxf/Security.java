import jakarta.xml.ws.BindingProvider;
import java.util.Map;
import java.util.Properties;
import javax.security.auth.callback.CallbackHandler;
import org.apache.cxf.endpoint.Client;
import org.apache.cxf.frontend.ClientProxy;
import org.apache.cxf.ws.security.wss4j.WSS4JInInterceptor;
import org.apache.cxf.ws.security.wss4j.WSS4JOutInterceptor;
import org.apache.wss4j.common.ConfigurationConstants;
import org.apache.wss4j.common.WSS4JConstants;
import org.apache.wss4j.common.ext.WSPasswordCallback;

/** Adds WS-Security to each request with WSS4J, and checks it in the reply. */
final class Security {
    private Security() {}

    /** Configures the token that SECURITY requests, or the keys of signed calls; does nothing if neither is set. */
    static void add(BindingProvider port) {
        if (System.getenv("SIGNING") != null) {
            sign(port);
        }
        String kind = System.getenv("SECURITY");
        if (kind == null) {
            return;
        }
        CallbackHandler password = callbacks -> ((WSPasswordCallback) callbacks[0]).setPassword("demo-key");
        Client client = ClientProxy.getClient(port);
        client.getOutInterceptors().add(new WSS4JOutInterceptor(Map.of(
                ConfigurationConstants.ACTION, "Timestamp UsernameToken",
                ConfigurationConstants.USER, "demo",
                ConfigurationConstants.PASSWORD_TYPE,
                kind.equals("digest") ? WSS4JConstants.PW_DIGEST : WSS4JConstants.PW_TEXT,
                ConfigurationConstants.PW_CALLBACK_REF, password)));
        client.getInInterceptors().add(new WSS4JInInterceptor(Map.of(ConfigurationConstants.ACTION, "Timestamp")));
    }

    /** Gives CXF the keys. The policy of the WSDL says what it signs. */
    private static void sign(BindingProvider port) {
        // docs:begin sign
        Properties keys = new Properties();
        keys.put("org.apache.wss4j.crypto.provider", "org.apache.wss4j.common.crypto.Merlin");
        keys.put("org.apache.wss4j.crypto.merlin.keystore.type", "pkcs12");
        keys.put("org.apache.wss4j.crypto.merlin.keystore.file", System.getenv("KEYSTORE"));
        keys.put("org.apache.wss4j.crypto.merlin.keystore.password", "changeit");
        CallbackHandler password = callbacks -> ((WSPasswordCallback) callbacks[0]).setPassword("changeit");
        port.getRequestContext().putAll(Map.of(
                "ws-security.signature.username", "caller",
                "ws-security.signature.properties", keys,
                "ws-security.encryption.username", "gateway",
                "ws-security.encryption.properties", keys,
                "ws-security.callback-handler", password));
        // docs:end sign
    }
}
