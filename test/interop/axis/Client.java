import java.net.URL;
import org.apache.axis.AxisFault;
import screening.Authentication;
import screening.ClientState;
import screening.CostRenewAllPepSearchesRequest;
import screening.GetEulaStatusRequest;
import screening.GetPdfRequest;
import screening.GetSearchRequest;
import screening.GetValidIdsRequest;
import screening.IScreeningApi;
import screening.RenewAllPepSearchesRequest;
import screening.ScreeningApiLocator;
import screening.Soap12BindingStub;
import screening.UpdateSubUserRequest;
import screening.UpdateValidIdRequest;

/** Makes the checks with the stub and beans of Axis 1.4's WSDL2Java. */
public final class Client {
    private static final Authentication authentication = new Authentication();

    private final String version;

    private Client(String version) {
        this.version = version;
        authentication.setApiUserId("demo");
        authentication.setApiUserKey("demo-key");
    }

    public static void main(String[] args) throws Exception {
        Client client = new Client(args[1]);
        Checks.run(args[2], client::call);
    }

    private Object call(Checks.Check check) throws Exception {
        URL endpoint = new URL(Checks.endpoint(check));
        ScreeningApiLocator service = new ScreeningApiLocator();
        IScreeningApi api =
                version.equals("1.1") ? service.getSoap11(endpoint) : new Soap12BindingStub(endpoint, service);
        try {
            return reply(api, check);
        } catch (AxisFault e) {
            return new Checks.Fault(e.getFaultCode().getLocalPart(), e.getFaultString());
        }
    }

    private static Object reply(IScreeningApi api, Checks.Check check) throws Exception {
        return switch (check.operation()) {
            case "UpdateSubUser" -> api.updateSubUser(authentication, updateSubUser(check));
            case "UpdateValidId" -> api.updateValidId(authentication, updateValidId(check));
            case "AddClientTemplate" -> api.addClientTemplate(authentication);
            case "GetDbsSearch" -> api.getDbsSearch(authentication, check.integer("Id"), check.text("SubUserName"));
            case "RenewAllPepSearches" -> api.renewAllPepSearches(authentication, renewAllPepSearches(check));
            case "DeleteClient" -> api.deleteClient(authentication, check.integer("Id"));
            case "GetSearch" -> api.getSearch(authentication, getSearch(check));
            case "CostRenewAllPepSearches" -> api.costRenewAllPepSearches(
                    authentication, costRenewAllPepSearches(check));
            case "GetPdf" -> api.getPdf(authentication, getPdf(check));
            case "CountIncompleteClients" -> api.countIncompleteClients(
                    authentication,
                    check.integer("DaysIncomplete"),
                    check.flag("IsValidateMe"),
                    ClientState.fromValue(check.text("State")));
            case "GetEulaStatus" -> api.getEulaStatus(authentication, getEulaStatus(check));
            case "GetValidIds" -> api.getValidIds(authentication, getValidIds(check));
            default -> throw new IllegalArgumentException(check.operation());
        };
    }

    private static UpdateSubUserRequest updateSubUser(Checks.Check check) {
        UpdateSubUserRequest request = new UpdateSubUserRequest();
        request.setSubUserName(check.text("Request.SubUserName"));
        request.setPermissions(check.texts("Request.Permissions.string"));
        return request;
    }

    private static UpdateValidIdRequest updateValidId(Checks.Check check) {
        UpdateValidIdRequest request = new UpdateValidIdRequest();
        request.setId(check.integer("Request.Id"));
        request.setClientInResults(check.flag("Request.ClientInResults"));
        request.setClientNotInResults(check.flag("Request.ClientNotInResults"));
        return request;
    }

    private static RenewAllPepSearchesRequest renewAllPepSearches(Checks.Check check) {
        RenewAllPepSearchesRequest request = new RenewAllPepSearchesRequest();
        request.setRenewalDate(check.calendar("Request.RenewalDate"));
        return request;
    }

    private static GetSearchRequest getSearch(Checks.Check check) {
        GetSearchRequest request = new GetSearchRequest();
        request.setId(check.integer("Request.Id"));
        request.setOnlyShowUnresolvedResults(check.flag("Request.OnlyShowUnresolvedResults"));
        request.setSubUserName(check.text("Request.SubUserName"));
        return request;
    }

    private static CostRenewAllPepSearchesRequest costRenewAllPepSearches(Checks.Check check) {
        CostRenewAllPepSearchesRequest request = new CostRenewAllPepSearchesRequest();
        request.setRenewalDate(check.calendar("Request.RenewalDate"));
        return request;
    }

    private static GetPdfRequest getPdf(Checks.Check check) {
        GetPdfRequest request = new GetPdfRequest();
        request.setId(Long.valueOf(check.text("Request.Id")));
        request.setSubUserName(check.text("Request.SubUserName"));
        return request;
    }

    private static GetEulaStatusRequest getEulaStatus(Checks.Check check) {
        GetEulaStatusRequest request = new GetEulaStatusRequest();
        request.setSubUserName(check.text("Request.SubUserName"));
        return request;
    }

    private static GetValidIdsRequest getValidIds(Checks.Check check) {
        GetValidIdsRequest request = new GetValidIdsRequest();
        request.setFilterDateFrom(check.calendar("Request.FilterDateFrom"));
        request.setFilterDateTo(check.calendar("Request.FilterDateTo"));
        request.setFilterReference(check.text("Request.FilterReference"));
        request.setFilterType(check.text("Request.FilterType"));
        request.setFilterUserName(check.text("Request.FilterUserName"));
        request.setNameSearch(check.text("Request.NameSearch"));
        request.setPage(check.integer("Request.Page"));
        request.setSortOrder(check.text("Request.SortOrder"));
        request.setSubUserName(check.text("Request.SubUserName"));
        return request;
    }
}
