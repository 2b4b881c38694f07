import jakarta.xml.bind.JAXBElement;
import java.util.function.Function;
import screening.AddClientTemplate;
import screening.Authentication;
import screening.ClientState;
import screening.CostRenewAllPepSearches;
import screening.CountIncompleteClients;
import screening.DeleteClient;
import screening.GetDbsSearch;
import screening.GetEulaStatus;
import screening.GetPdf;
import screening.GetSearch;
import screening.GetValidIds;
import screening.ObjectFactory;
import screening.RenewAllPepSearches;
import screening.UpdateSubUser;
import screening.UpdateValidId;

/** The body elements of the checks' calls, shared by programs that send JAXB elements. */
final class Payloads {
    private static final ObjectFactory make = new ObjectFactory();
    private static final Authentication authentication = authentication();

    private Payloads() {}

    /** Credentials in the body; null if a UsernameToken has them. */
    private static Authentication authentication() {
        if (System.getenv("SECURITY") != null) {
            return null;
        }
        Authentication authentication = new Authentication();
        authentication.setApiUserId(make.createAuthenticationApiUserId("demo"));
        authentication.setApiUserKey(make.createAuthenticationApiUserKey("demo-key"));
        return authentication;
    }

    /** Returns an operation's Authentication; null if a UsernameToken has the credentials. */
    private static JAXBElement<Authentication> credentials(Function<Authentication, JAXBElement<Authentication>> create) {
        return authentication == null ? null : create.apply(authentication);
    }

    /** The operation's element. */
    static Object of(Checks.Check check) throws Exception {
        return switch (check.operation()) {
            case "UpdateSubUser" -> updateSubUser(check);
            case "UpdateValidId" -> updateValidId(check);
            case "AddClientTemplate" -> addClientTemplate();
            case "GetDbsSearch" -> getDbsSearch(check);
            case "RenewAllPepSearches" -> renewAllPepSearches(check);
            case "DeleteClient" -> deleteClient(check);
            case "GetSearch" -> getSearch(check);
            case "CostRenewAllPepSearches" -> costRenewAllPepSearches(check);
            case "GetPdf" -> getPdf(check);
            case "CountIncompleteClients" -> countIncompleteClients(check);
            case "GetEulaStatus" -> getEulaStatus(check);
            case "GetValidIds" -> getValidIds(check);
            default -> throw new IllegalArgumentException(check.operation());
        };
    }

    private static UpdateSubUser updateSubUser(Checks.Check check) {
        UpdateSubUser call = new UpdateSubUser();
        call.setAuthentication(credentials(make::createUpdateSubUserAuthentication));
        call.setRequest(make.createUpdateSubUserRequest(Requests.updateSubUser(check)));
        return call;
    }

    private static UpdateValidId updateValidId(Checks.Check check) {
        UpdateValidId call = new UpdateValidId();
        call.setAuthentication(credentials(make::createUpdateValidIdAuthentication));
        call.setRequest(make.createUpdateValidIdRequest(Requests.updateValidId(check)));
        return call;
    }

    private static AddClientTemplate addClientTemplate() {
        AddClientTemplate call = new AddClientTemplate();
        call.setAuthentication(credentials(make::createAddClientTemplateAuthentication));
        return call;
    }

    private static GetDbsSearch getDbsSearch(Checks.Check check) {
        GetDbsSearch call = new GetDbsSearch();
        call.setAuthentication(credentials(make::createGetDbsSearchAuthentication));
        call.setId(check.integer("Id"));
        call.setSubUserName(make.createGetDbsSearchSubUserName(check.text("SubUserName")));
        return call;
    }

    private static RenewAllPepSearches renewAllPepSearches(Checks.Check check) throws Exception {
        RenewAllPepSearches call = new RenewAllPepSearches();
        call.setAuthentication(credentials(make::createRenewAllPepSearchesAuthentication));
        call.setRequest(make.createRenewAllPepSearchesRequest(Requests.renewAllPepSearches(check)));
        return call;
    }

    private static DeleteClient deleteClient(Checks.Check check) {
        DeleteClient call = new DeleteClient();
        call.setAuthentication(credentials(make::createDeleteClientAuthentication));
        call.setId(check.integer("Id"));
        return call;
    }

    private static GetSearch getSearch(Checks.Check check) {
        GetSearch call = new GetSearch();
        call.setAuthentication(credentials(make::createGetSearchAuthentication));
        call.setRequest(make.createGetSearchRequest(Requests.getSearch(check)));
        return call;
    }

    private static CostRenewAllPepSearches costRenewAllPepSearches(Checks.Check check) throws Exception {
        CostRenewAllPepSearches call = new CostRenewAllPepSearches();
        call.setAuthentication(credentials(make::createCostRenewAllPepSearchesAuthentication));
        call.setRequest(make.createCostRenewAllPepSearchesRequest(Requests.costRenewAllPepSearches(check)));
        return call;
    }

    private static GetPdf getPdf(Checks.Check check) {
        GetPdf call = new GetPdf();
        call.setAuthentication(credentials(make::createGetPdfAuthentication));
        call.setRequest(make.createGetPdfRequest(Requests.getPdf(check)));
        return call;
    }

    private static CountIncompleteClients countIncompleteClients(Checks.Check check) {
        CountIncompleteClients call = new CountIncompleteClients();
        call.setAuthentication(credentials(make::createCountIncompleteClientsAuthentication));
        call.setDaysIncomplete(make.createCountIncompleteClientsDaysIncomplete(check.integer("DaysIncomplete")));
        call.setIsValidateMe(make.createCountIncompleteClientsIsValidateMe(check.flag("IsValidateMe")));
        ClientState state = ClientState.fromValue(check.text("State"));
        call.setState(make.createCountIncompleteClientsState(state));
        return call;
    }

    private static GetEulaStatus getEulaStatus(Checks.Check check) {
        GetEulaStatus call = new GetEulaStatus();
        call.setAuthentication(credentials(make::createGetEulaStatusAuthentication));
        call.setRequest(make.createGetEulaStatusRequest(Requests.getEulaStatus(check)));
        return call;
    }

    private static GetValidIds getValidIds(Checks.Check check) throws Exception {
        GetValidIds call = new GetValidIds();
        call.setAuthentication(credentials(make::createGetValidIdsAuthentication));
        call.setRequest(make.createGetValidIdsRequest(Requests.getValidIds(check)));
        return call;
    }
}
