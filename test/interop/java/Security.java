import static java.nio.charset.StandardCharsets.UTF_8;

import jakarta.xml.soap.SOAPElement;
import jakarta.xml.soap.SOAPException;
import jakarta.xml.ws.BindingProvider;
import jakarta.xml.ws.handler.Handler;
import jakarta.xml.ws.handler.MessageContext;
import jakarta.xml.ws.handler.soap.SOAPHandler;
import jakarta.xml.ws.handler.soap.SOAPMessageContext;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import javax.xml.namespace.QName;

/** A handler that adds a UsernameToken to each request, as JAX-WS programs without a security stack do. */
final class Security implements SOAPHandler<SOAPMessageContext> {
    private static final String OASIS = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-";
    private static final String PROFILE = OASIS + "username-token-profile-1.0#";

    private final boolean digest;

    private Security(boolean digest) {
        this.digest = digest;
    }

    /** Adds the token that SECURITY requests; does nothing if it is not set. */
    static void add(BindingProvider port) {
        String kind = System.getenv("SECURITY");
        if (kind == null) {
            return;
        }
        @SuppressWarnings("rawtypes")
        List<Handler> handlers = port.getBinding().getHandlerChain();
        handlers.add(new Security(kind.equals("digest")));
        port.getBinding().setHandlerChain(handlers);
    }

    @Override
    public boolean handleMessage(SOAPMessageContext context) {
        if (Boolean.TRUE.equals(context.get(MessageContext.MESSAGE_OUTBOUND_PROPERTY))) {
            try {
                write(context.getMessage().getSOAPHeader() == null
                        ? context.getMessage().getSOAPPart().getEnvelope().addHeader()
                        : context.getMessage().getSOAPHeader());
            } catch (SOAPException | GeneralSecurityException e) {
                throw new IllegalStateException(e);
            }
        }
        return true;
    }

    private void write(SOAPElement header) throws SOAPException, GeneralSecurityException {
        // docs:begin token
        SOAPElement security = header.addChildElement("Security", "wsse", OASIS + "wssecurity-secext-1.0.xsd");
        SOAPElement token = security.addChildElement("UsernameToken", "wsse");
        token.addChildElement("Username", "wsse").addTextNode("demo");
        SOAPElement password = token.addChildElement("Password", "wsse");
        password.setAttribute("Type", PROFILE + (digest ? "PasswordDigest" : "PasswordText"));
        if (!digest) {
            password.addTextNode("demo-key");
            return;
        }
        // docs:end token
        byte[] nonce = new byte[16];
        new SecureRandom().nextBytes(nonce);
        String created = Instant.now().truncatedTo(ChronoUnit.MILLIS).toString();
        MessageDigest sha1 = MessageDigest.getInstance("SHA-1");
        sha1.update(nonce);
        sha1.update(created.getBytes(UTF_8));
        password.addTextNode(Base64.getEncoder().encodeToString(sha1.digest("demo-key".getBytes(UTF_8))));
        SOAPElement written = token.addChildElement("Nonce", "wsse");
        written.setAttribute("EncodingType", OASIS + "soap-message-security-1.0#Base64Binary");
        written.addTextNode(Base64.getEncoder().encodeToString(nonce));
        token.addChildElement("Created", "wsu", OASIS + "wssecurity-utility-1.0.xsd").addTextNode(created);
    }

    @Override
    public boolean handleFault(SOAPMessageContext context) {
        return true;
    }

    @Override
    public void close(MessageContext context) {}

    @Override
    public Set<QName> getHeaders() {
        return Set.of();
    }
}
