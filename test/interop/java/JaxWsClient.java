import jakarta.xml.ws.BindingProvider;
import jakarta.xml.ws.WebServiceFeature;
import jakarta.xml.ws.soap.MTOMFeature;
import jakarta.xml.ws.soap.SOAPFaultException;
import java.net.URL;
import screening.Authentication;
import screening.ClientState;
import screening.IScreeningApi;
import screening.ObjectFactory;
import screening.ScreeningApi;

/** Makes the checks with the classes of wsimport or of CXF's wsdl2java. */
public final class JaxWsClient {
    private static final ObjectFactory make = new ObjectFactory();

    private final IScreeningApi api;
    /** Credentials in the body; null if a UsernameToken has them. */
    private final Authentication authentication;

    private JaxWsClient(String wsdl, String version) throws Exception {
        ScreeningApi service = new ScreeningApi(new URL(wsdl));
        WebServiceFeature[] features = System.getenv("MTOM") == null
                ? new WebServiceFeature[0]
                : new WebServiceFeature[] {new MTOMFeature()};
        api = version.equals("1.1") ? service.getSoap11(features) : service.getSoap12(features);
        Security.add((BindingProvider) api);
        if (System.getenv("SECURITY") != null) {
            authentication = null;
            return;
        }
        authentication = new Authentication();
        authentication.setApiUserId(make.createAuthenticationApiUserId("demo"));
        authentication.setApiUserKey(make.createAuthenticationApiUserKey("demo-key"));
    }

    public static void main(String[] args) throws Exception {
        JaxWsClient client = new JaxWsClient(args[0], args[1]);
        Checks.run(args[2], client::call);
    }

    private Object call(Checks.Check check) throws Exception {
        BindingProvider port = (BindingProvider) api;
        port.getRequestContext().put(BindingProvider.ENDPOINT_ADDRESS_PROPERTY, Checks.endpoint(check));
        try {
            return reply(check);
        } catch (SOAPFaultException e) {
            return new Checks.Fault(e.getFault().getFaultCodeAsQName().getLocalPart(), e.getFault().getFaultString());
        }
    }

    private Object reply(Checks.Check check) throws Exception {
        return switch (check.operation()) {
            case "UpdateSubUser" -> api.updateSubUser(authentication, Requests.updateSubUser(check));
            case "UpdateValidId" -> api.updateValidId(authentication, Requests.updateValidId(check));
            case "AddClientTemplate" -> api.addClientTemplate(authentication);
            case "GetDbsSearch" -> api.getDbsSearch(authentication, check.integer("Id"), check.text("SubUserName"));
            case "RenewAllPepSearches" -> api.renewAllPepSearches(authentication, Requests.renewAllPepSearches(check));
            case "DeleteClient" -> api.deleteClient(authentication, check.integer("Id"));
            case "GetSearch" -> api.getSearch(authentication, Requests.getSearch(check));
            case "CostRenewAllPepSearches" -> api.costRenewAllPepSearches(
                    authentication, Requests.costRenewAllPepSearches(check));
            case "GetPdf" -> api.getPdf(authentication, Requests.getPdf(check));
            case "CountIncompleteClients" -> api.countIncompleteClients(
                    authentication,
                    check.integer("DaysIncomplete"),
                    check.flag("IsValidateMe"),
                    ClientState.fromValue(check.text("State")));
            case "GetEulaStatus" -> api.getEulaStatus(authentication, Requests.getEulaStatus(check));
            case "GetValidIds" -> api.getValidIds(authentication, Requests.getValidIds(check));
            default -> throw new IllegalArgumentException(check.operation());
        };
    }
}
