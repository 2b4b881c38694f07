import jakarta.xml.bind.JAXBElement;
import jakarta.xml.ws.BindingProvider;
import jakarta.xml.ws.soap.SOAPFaultException;
import java.net.URL;
import java.util.function.Function;
import javax.xml.datatype.DatatypeFactory;
import javax.xml.datatype.XMLGregorianCalendar;
import screening.ArrayOfstring;
import screening.Authentication;
import screening.ClientState;
import screening.CostRenewAllPepSearchesRequest;
import screening.GetEulaStatusRequest;
import screening.GetPdfRequest;
import screening.GetSearchRequest;
import screening.GetValidIdsRequest;
import screening.IScreeningApi;
import screening.ObjectFactory;
import screening.RenewAllPepSearchesRequest;
import screening.ScreeningApi;
import screening.UpdateSubUserRequest;
import screening.UpdateValidIdRequest;

/** The checks as a Java program makes them with the classes of wsimport or of CXF's wsdl2java. */
public final class JaxWsClient {
    private static final ObjectFactory make = new ObjectFactory();

    private final IScreeningApi api;
    private final Authentication authentication = new Authentication();

    private JaxWsClient(String wsdl, String version) throws Exception {
        ScreeningApi service = new ScreeningApi(new URL(wsdl));
        api = version.equals("1.1") ? service.getSoap11() : service.getSoap12();
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
            case "UpdateSubUser" -> api.updateSubUser(authentication, updateSubUser(check));
            case "UpdateValidId" -> api.updateValidId(authentication, updateValidId(check));
            case "AddClientTemplate" -> api.addClientTemplate(authentication);
            case "GetDbsSearch" -> api.getDbsSearch(authentication, check.integer("Id"), check.text("SubUserName"));
            case "RenewAllPepSearches" -> api.renewAllPepSearches(authentication, renewAllPepSearches(check));
            case "DeleteClient" -> api.deleteClient(authentication, check.integer("Id"));
            case "GetSearch" -> api.getSearch(authentication, getSearch(check));
            case "CostRenewAllPepSearches" -> api.costRenewAllPepSearches(authentication, costRenewAllPepSearches(check));
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
        request.setSubUserName(make.createUpdateSubUserRequestSubUserName(check.text("Request.SubUserName")));
        if (check.texts("Request.Permissions.string") != null) {
            ArrayOfstring permissions = new ArrayOfstring();
            permissions.getString().addAll(check.texts("Request.Permissions.string"));
            request.setPermissions(make.createUpdateSubUserRequestPermissions(permissions));
        }
        return request;
    }

    private static UpdateValidIdRequest updateValidId(Checks.Check check) {
        UpdateValidIdRequest request = new UpdateValidIdRequest();
        request.setId(check.integer("Request.Id"));
        request.setClientInResults(check.flag("Request.ClientInResults"));
        request.setClientNotInResults(check.flag("Request.ClientNotInResults"));
        return request;
    }

    private static RenewAllPepSearchesRequest renewAllPepSearches(Checks.Check check) throws Exception {
        RenewAllPepSearchesRequest request = new RenewAllPepSearchesRequest();
        request.setRenewalDate(make.createRenewAllPepSearchesRequestRenewalDate(date(check, "Request.RenewalDate")));
        return request;
    }

    private static GetSearchRequest getSearch(Checks.Check check) {
        GetSearchRequest request = new GetSearchRequest();
        request.setId(check.integer("Request.Id"));
        request.setOnlyShowUnresolvedResults(check.flag("Request.OnlyShowUnresolvedResults"));
        request.setSubUserName(make.createGetSearchRequestSubUserName(check.text("Request.SubUserName")));
        return request;
    }

    private static CostRenewAllPepSearchesRequest costRenewAllPepSearches(Checks.Check check) throws Exception {
        CostRenewAllPepSearchesRequest request = new CostRenewAllPepSearchesRequest();
        request.setRenewalDate(make.createCostRenewAllPepSearchesRequestRenewalDate(date(check, "Request.RenewalDate")));
        return request;
    }

    private static GetPdfRequest getPdf(Checks.Check check) {
        GetPdfRequest request = new GetPdfRequest();
        request.setId(Long.valueOf(check.text("Request.Id")));
        request.setSubUserName(make.createGetPdfRequestSubUserName(check.text("Request.SubUserName")));
        return request;
    }

    private static GetEulaStatusRequest getEulaStatus(Checks.Check check) {
        GetEulaStatusRequest request = new GetEulaStatusRequest();
        request.setSubUserName(make.createGetEulaStatusRequestSubUserName(check.text("Request.SubUserName")));
        return request;
    }

    private static GetValidIdsRequest getValidIds(Checks.Check check) throws Exception {
        GetValidIdsRequest request = new GetValidIdsRequest();
        request.setFilterDateFrom(element(date(check, "Request.FilterDateFrom"), make::createGetValidIdsRequestFilterDateFrom));
        request.setFilterDateTo(element(date(check, "Request.FilterDateTo"), make::createGetValidIdsRequestFilterDateTo));
        request.setFilterReference(element(check.text("Request.FilterReference"), make::createGetValidIdsRequestFilterReference));
        request.setFilterType(element(check.text("Request.FilterType"), make::createGetValidIdsRequestFilterType));
        request.setFilterUserName(element(check.text("Request.FilterUserName"), make::createGetValidIdsRequestFilterUserName));
        request.setNameSearch(element(check.text("Request.NameSearch"), make::createGetValidIdsRequestNameSearch));
        request.setPage(check.integer("Request.Page"));
        request.setSortOrder(element(check.text("Request.SortOrder"), make::createGetValidIdsRequestSortOrder));
        request.setSubUserName(element(check.text("Request.SubUserName"), make::createGetValidIdsRequestSubUserName));
        return request;
    }

    private static XMLGregorianCalendar date(Checks.Check check, String path) throws Exception {
        return check.has(path) ? DatatypeFactory.newInstance().newXMLGregorianCalendar(check.text(path)) : null;
    }

    /** Left out where there is no value; a JAXBElement of null would be xsi:nil. */
    private static <T> JAXBElement<T> element(T value, Function<T, JAXBElement<T>> create) {
        return value == null ? null : create.apply(value);
    }
}
