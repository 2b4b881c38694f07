import java.io.ByteArrayInputStream;
import java.io.File;
import java.nio.charset.StandardCharsets;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.CallbackHandler;
import org.apache.axiom.om.OMXMLBuilderFactory;
import org.apache.axis2.context.ConfigurationContext;
import org.apache.axis2.context.ConfigurationContextFactory;
import org.apache.neethi.PolicyEngine;
import org.apache.rampart.RampartMessageData;
import org.apache.ws.security.WSPasswordCallback;
import screening.ScreeningApiStub;

/** Configures Rampart with a policy: a Timestamp and a UsernameToken in requests, a Timestamp in replies. */
public final class Security implements CallbackHandler {
    private static final String POLICY = """
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

    /** Returns the stub with the policy that SECURITY requests, or without a policy if it is not set. */
    static ScreeningApiStub stub() throws Exception {
        String kind = System.getenv("SECURITY");
        if (kind == null) {
            return new ScreeningApiStub();
        }
        ConfigurationContext context =
                ConfigurationContextFactory.createConfigurationContextFromFileSystem(System.getenv("REPOSITORY"));
        ScreeningApiStub stub = new ScreeningApiStub(context);
        String hash = kind.equals("digest") ? "<wsp:Policy><sp:HashPassword/></wsp:Policy>" : "<wsp:Policy/>";
        byte[] policy = String.format(POLICY, hash).getBytes(StandardCharsets.UTF_8);
        stub._getServiceClient().engageModule("rampart");
        stub._getServiceClient().getOptions().setProperty(
                RampartMessageData.KEY_RAMPART_POLICY,
                PolicyEngine.getPolicy(OMXMLBuilderFactory.createOMBuilder(new ByteArrayInputStream(policy))
                        .getDocumentElement()));
        return stub;
    }

    @Override
    public void handle(Callback[] callbacks) {
        for (Callback callback : callbacks) {
            ((WSPasswordCallback) callback).setPassword("demo-key");
        }
    }
}
