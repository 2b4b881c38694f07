import org.apache.axiom.soap.SOAP11Constants;
import org.apache.axiom.soap.SOAP12Constants;
import org.apache.axis2.AxisFault;
import org.apache.axis2.Constants;
import org.apache.axis2.addressing.EndpointReference;
import screening.AddClientTemplate;
import screening.ArrayOfstring;
import screening.Authentication;
import screening.ClientState;
import screening.CostRenewAllPepSearches;
import screening.CostRenewAllPepSearchesRequest;
import screening.CountIncompleteClients;
import screening.DeleteClient;
import screening.GetDbsSearch;
import screening.GetEulaStatus;
import screening.GetEulaStatusRequest;
import screening.GetPdf;
import screening.GetPdfRequest;
import screening.GetSearch;
import screening.GetSearchRequest;
import screening.GetValidIds;
import screening.GetValidIdsRequest;
import screening.RenewAllPepSearches;
import screening.RenewAllPepSearchesRequest;
import screening.ScreeningApiStub;
import screening.UpdateSubUser;
import screening.UpdateSubUserRequest;
import screening.UpdateValidId;
import screening.UpdateValidIdRequest;

/** Makes the checks with the stub and ADB beans of Axis2's WSDL2Java. */
public final class Client {
    /** Credentials in the body; null if a UsernameToken has them. */
    private static final Authentication authentication =
            System.getenv("SECURITY") == null ? new Authentication() : null;

    private final ScreeningApiStub api;

    private Client(String version) throws Exception {
        api = Security.stub();
        String envelope = version.equals("1.1")
                ? SOAP11Constants.SOAP_ENVELOPE_NAMESPACE_URI
                : SOAP12Constants.SOAP_ENVELOPE_NAMESPACE_URI;
        api._getServiceClient().getOptions().setSoapVersionURI(envelope);
        if (System.getenv("MTOM") != null) {
            api._getServiceClient().getOptions().setProperty(Constants.Configuration.ENABLE_MTOM, "true");
        }
        if (authentication != null) {
            authentication.setApiUserId("demo");
            authentication.setApiUserKey("demo-key");
        }
    }

    public static void main(String[] args) throws Exception {
        Client client = new Client(args[1]);
        Checks.run(args[2], client::call);
    }

    private Object call(Checks.Check check) throws Exception {
        api._getServiceClient().setTargetEPR(new EndpointReference(Checks.endpoint(check)));
        try {
            return reply(check);
        } catch (AxisFault e) {
            return new Checks.Fault(e.getFaultCode().getLocalPart(), e.getReason());
        }
    }

    private Object reply(Checks.Check check) throws Exception {
        return switch (check.operation()) {
            case "UpdateSubUser" -> api.updateSubUser(updateSubUser(check)).getData();
            case "UpdateValidId" -> api.updateValidId(updateValidId(check)).getData();
            case "AddClientTemplate" -> api.addClientTemplate(addClientTemplate()).getData();
            case "GetDbsSearch" -> api.getDbsSearch(getDbsSearch(check)).getData();
            case "RenewAllPepSearches" -> api.renewAllPepSearches(renewAllPepSearches(check)).getData();
            case "DeleteClient" -> api.deleteClient(deleteClient(check)).getData();
            case "GetSearch" -> api.getSearch(getSearch(check)).getData();
            case "CostRenewAllPepSearches" -> api.costRenewAllPepSearches(costRenewAllPepSearches(check)).getData();
            case "GetPdf" -> api.getPdf(getPdf(check)).getData();
            case "CountIncompleteClients" -> api.countIncompleteClients(countIncompleteClients(check)).getData();
            case "GetEulaStatus" -> api.getEulaStatus(getEulaStatus(check)).getData();
            case "GetValidIds" -> api.getValidIds(getValidIds(check)).getData();
            default -> throw new IllegalArgumentException(check.operation());
        };
    }

    private static UpdateSubUser updateSubUser(Checks.Check check) {
        UpdateSubUserRequest request = new UpdateSubUserRequest();
        request.setSubUserName(check.text("Request.SubUserName"));
        if (check.texts("Request.Permissions.string") != null) {
            ArrayOfstring permissions = new ArrayOfstring();
            permissions.setString(check.texts("Request.Permissions.string"));
            request.setPermissions(permissions);
        }
        UpdateSubUser call = new UpdateSubUser();
        call.setAuthentication(authentication);
        call.setRequest(request);
        return call;
    }

    private static UpdateValidId updateValidId(Checks.Check check) {
        UpdateValidIdRequest request = new UpdateValidIdRequest();
        request.setId(check.integer("Request.Id"));
        request.setClientInResults(check.flag("Request.ClientInResults"));
        request.setClientNotInResults(check.flag("Request.ClientNotInResults"));
        UpdateValidId call = new UpdateValidId();
        call.setAuthentication(authentication);
        call.setRequest(request);
        return call;
    }

    private static RenewAllPepSearches renewAllPepSearches(Checks.Check check) {
        RenewAllPepSearchesRequest request = new RenewAllPepSearchesRequest();
        request.setRenewalDate(check.calendar("Request.RenewalDate"));
        RenewAllPepSearches call = new RenewAllPepSearches();
        call.setAuthentication(authentication);
        call.setRequest(request);
        return call;
    }

    private static GetSearch getSearch(Checks.Check check) {
        GetSearchRequest request = new GetSearchRequest();
        request.setId(check.integer("Request.Id"));
        request.setOnlyShowUnresolvedResults(check.flag("Request.OnlyShowUnresolvedResults"));
        request.setSubUserName(check.text("Request.SubUserName"));
        GetSearch call = new GetSearch();
        call.setAuthentication(authentication);
        call.setRequest(request);
        return call;
    }

    private static CostRenewAllPepSearches costRenewAllPepSearches(Checks.Check check) {
        CostRenewAllPepSearchesRequest request = new CostRenewAllPepSearchesRequest();
        request.setRenewalDate(check.calendar("Request.RenewalDate"));
        CostRenewAllPepSearches call = new CostRenewAllPepSearches();
        call.setAuthentication(authentication);
        call.setRequest(request);
        return call;
    }

    private static GetPdf getPdf(Checks.Check check) {
        GetPdfRequest request = new GetPdfRequest();
        request.setId(Long.valueOf(check.text("Request.Id")));
        request.setSubUserName(check.text("Request.SubUserName"));
        GetPdf call = new GetPdf();
        call.setAuthentication(authentication);
        call.setRequest(request);
        return call;
    }

    private static GetEulaStatus getEulaStatus(Checks.Check check) {
        GetEulaStatusRequest request = new GetEulaStatusRequest();
        request.setSubUserName(check.text("Request.SubUserName"));
        GetEulaStatus call = new GetEulaStatus();
        call.setAuthentication(authentication);
        call.setRequest(request);
        return call;
    }

    private static GetValidIds getValidIds(Checks.Check check) {
        GetValidIdsRequest request = new GetValidIdsRequest();
        // a value set to null is written as xsi:nil
        if (check.has("Request.FilterDateFrom")) {
            request.setFilterDateFrom(check.calendar("Request.FilterDateFrom"));
        }
        if (check.has("Request.FilterDateTo")) {
            request.setFilterDateTo(check.calendar("Request.FilterDateTo"));
        }
        if (check.has("Request.FilterReference")) {
            request.setFilterReference(check.text("Request.FilterReference"));
        }
        if (check.has("Request.FilterType")) {
            request.setFilterType(check.text("Request.FilterType"));
        }
        if (check.has("Request.FilterUserName")) {
            request.setFilterUserName(check.text("Request.FilterUserName"));
        }
        if (check.has("Request.NameSearch")) {
            request.setNameSearch(check.text("Request.NameSearch"));
        }
        if (check.has("Request.Page")) {
            request.setPage(check.integer("Request.Page"));
        }
        if (check.has("Request.SortOrder")) {
            request.setSortOrder(check.text("Request.SortOrder"));
        }
        if (check.has("Request.SubUserName")) {
            request.setSubUserName(check.text("Request.SubUserName"));
        }
        GetValidIds call = new GetValidIds();
        call.setAuthentication(authentication);
        call.setRequest(request);
        return call;
    }

    private static AddClientTemplate addClientTemplate() {
        AddClientTemplate call = new AddClientTemplate();
        call.setAuthentication(authentication);
        return call;
    }

    private static GetDbsSearch getDbsSearch(Checks.Check check) {
        GetDbsSearch call = new GetDbsSearch();
        call.setAuthentication(authentication);
        call.setId(check.integer("Id"));
        call.setSubUserName(check.text("SubUserName"));
        return call;
    }

    private static DeleteClient deleteClient(Checks.Check check) {
        DeleteClient call = new DeleteClient();
        call.setAuthentication(authentication);
        call.setId(check.integer("Id"));
        return call;
    }

    private static CountIncompleteClients countIncompleteClients(Checks.Check check) {
        CountIncompleteClients call = new CountIncompleteClients();
        call.setAuthentication(authentication);
        call.setDaysIncomplete(check.integer("DaysIncomplete"));
        call.setIsValidateMe(check.flag("IsValidateMe"));
        call.setState(ClientState.Factory.fromValue(check.text("State")));
        return call;
    }
}
