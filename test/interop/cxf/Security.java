import jakarta.xml.ws.BindingProvider;
import java.util.Map;
import javax.security.auth.callback.CallbackHandler;
import org.apache.cxf.endpoint.Client;
import org.apache.cxf.frontend.ClientProxy;
import org.apache.cxf.ws.security.wss4j.WSS4JInInterceptor;
import org.apache.cxf.ws.security.wss4j.WSS4JOutInterceptor;
import org.apache.wss4j.common.ConfigurationConstants;
import org.apache.wss4j.common.WSS4JConstants;
import org.apache.wss4j.common.ext.WSPasswordCallback;

/** Adds a Timestamp and a UsernameToken to each request with WSS4J, which also checks the reply's Timestamp. */
final class Security {
    private Security() {}

    /** Configures the token that SECURITY requests; does nothing if it is not set. */
    static void add(BindingProvider port) {
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
}
