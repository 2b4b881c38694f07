import java.io.ByteArrayInputStream;
import java.io.FileInputStream;
import java.nio.charset.StandardCharsets;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.CallbackHandler;
import javax.xml.namespace.QName;
import org.apache.axiom.om.OMElement;
import org.apache.axiom.om.OMXMLBuilderFactory;
import org.apache.axis2.context.ConfigurationContext;
import org.apache.axis2.context.ConfigurationContextFactory;
import org.apache.neethi.Policy;
import org.apache.neethi.PolicyEngine;
import org.apache.rampart.RampartMessageData;
import org.apache.ws.security.WSPasswordCallback;
import screening.ScreeningApiStub;

/**
 * Configures Rampart with a policy: that of the WSDL for signed calls, or a Timestamp and a UsernameToken in requests and
 * a Timestamp in replies.
 */
public final class Security implements CallbackHandler {
    private static final String USER_TOKEN = """
            <wsp:Policy xmlns:wsp="http://schemas.xmlsoap.org/ws/2004/09/policy"
                xmlns:sp="http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702">
              <wsp:ExactlyOne><wsp:All>
                <sp:TransportBinding><wsp:Policy>
                  <sp:TransportToken><wsp:Policy>
                    <sp:HttpsToken RequireClientCertificate="false"/>
                  </wsp:Policy></sp:TransportToken>
                  <sp:AlgorithmSuite><wsp:Policy><sp:Basic256/></wsp:Policy></sp:AlgorithmSuite>
                  <sp:Layout><wsp:Policy><sp:Lax/></wsp:Policy></sp:Layout>
                  <sp:IncludeTimestamp/>
                </wsp:Policy></sp:TransportBinding>
                <sp:SignedSupportingTokens><wsp:Policy>
                  <sp:UsernameToken
                      sp:IncludeToken="http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702/IncludeToken/AlwaysToRecipient">
                    %s
                  </sp:UsernameToken>
                </wsp:Policy></sp:SignedSupportingTokens>
                <ramp:RampartConfig xmlns:ramp="http://ws.apache.org/rampart/policy">
                  <ramp:user>demo</ramp:user>
                  <ramp:passwordCallbackClass>Security</ramp:passwordCallbackClass>
                </ramp:RampartConfig>
              </wsp:All></wsp:ExactlyOne>
            </wsp:Policy>
            """;

    /** Returns the stub with the policy that SECURITY or SIGNING requests, or without a policy if neither is set. */
    static ScreeningApiStub stub() throws Exception {
        Policy policy = System.getenv("SECURITY") != null ? userToken() : System.getenv("SIGNING") != null ? signed() : null;
        if (policy == null) {
            return new ScreeningApiStub();
        }
        // docs:begin stub
        // REPOSITORY/modules has the file rampart-*.mar
        ConfigurationContext context =
                ConfigurationContextFactory.createConfigurationContextFromFileSystem(System.getenv("REPOSITORY"));
        ScreeningApiStub stub = new ScreeningApiStub(context);
        stub._getServiceClient().engageModule("rampart");
        stub._getServiceClient().getOptions().setProperty(RampartMessageData.KEY_RAMPART_POLICY, policy);
        // docs:end stub
        return stub;
    }

    private static Policy userToken() {
        boolean isDigest = System.getenv("SECURITY").equals("digest");
        String hash = isDigest ? "<wsp:Policy><sp:HashPassword/></wsp:Policy>" : "<wsp:Policy/>";
        byte[] policy = String.format(USER_TOKEN, hash).getBytes(StandardCharsets.UTF_8);
        return PolicyEngine.getPolicy(
                OMXMLBuilderFactory.createOMBuilder(new ByteArrayInputStream(policy)).getDocumentElement());
    }

    /** Returns the policy of the WSDL file, which has the keys. */
    private static Policy signed() throws Exception {
        // docs:begin policy
        OMElement definitions =
                OMXMLBuilderFactory.createOMBuilder(new FileInputStream(System.getenv("WSDL"))).getDocumentElement();
        Policy policy = PolicyEngine.getPolicy(definitions.getFirstChildWithName(
                new QName("http://schemas.xmlsoap.org/ws/2004/09/policy", "Policy")));
        // docs:end policy
        return policy;
    }

    @Override
    public void handle(Callback[] callbacks) {
        for (Callback callback : callbacks) {
            ((WSPasswordCallback) callback).setPassword(System.getenv("SIGNING") == null ? "demo-key" : "changeit");
        }
    }
}
