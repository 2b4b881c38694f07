import jakarta.xml.bind.JAXBElement;
import java.util.List;
import java.util.function.Function;
import javax.xml.datatype.DatatypeFactory;
import javax.xml.datatype.XMLGregorianCalendar;
import screening.ArrayOfstring;
import screening.CostRenewAllPepSearchesRequest;
import screening.GetEulaStatusRequest;
import screening.GetPdfRequest;
import screening.GetSearchRequest;
import screening.GetValidIdsRequest;
import screening.ObjectFactory;
import screening.RenewAllPepSearchesRequest;
import screening.UpdateSubUserRequest;
import screening.UpdateValidIdRequest;

/** The requests of the checks as JAXB classes, shared by JAX-WS and Spring-WS. */
final class Requests {
    private static final ObjectFactory make = new ObjectFactory();

    private Requests() {}

    static UpdateSubUserRequest updateSubUser(Checks.Check check) {
        UpdateSubUserRequest request = new UpdateSubUserRequest();
        request.setSubUserName(make.createUpdateSubUserRequestSubUserName(check.text("Request.SubUserName")));
        if (check.texts("Request.Permissions.string") != null) {
            ArrayOfstring permissions = new ArrayOfstring();
            permissions.getString().addAll(List.of(check.texts("Request.Permissions.string")));
            request.setPermissions(make.createUpdateSubUserRequestPermissions(permissions));
        }
        return request;
    }

    static UpdateValidIdRequest updateValidId(Checks.Check check) {
        UpdateValidIdRequest request = new UpdateValidIdRequest();
        request.setId(check.integer("Request.Id"));
        request.setClientInResults(check.flag("Request.ClientInResults"));
        request.setClientNotInResults(check.flag("Request.ClientNotInResults"));
        return request;
    }

    static RenewAllPepSearchesRequest renewAllPepSearches(Checks.Check check) throws Exception {
        RenewAllPepSearchesRequest request = new RenewAllPepSearchesRequest();
        XMLGregorianCalendar date = date(check, "Request.RenewalDate");
        request.setRenewalDate(make.createRenewAllPepSearchesRequestRenewalDate(date));
        return request;
    }

    static GetSearchRequest getSearch(Checks.Check check) {
        GetSearchRequest request = new GetSearchRequest();
        request.setId(check.integer("Request.Id"));
        request.setOnlyShowUnresolvedResults(check.flag("Request.OnlyShowUnresolvedResults"));
        request.setSubUserName(make.createGetSearchRequestSubUserName(check.text("Request.SubUserName")));
        return request;
    }

    static CostRenewAllPepSearchesRequest costRenewAllPepSearches(Checks.Check check) throws Exception {
        CostRenewAllPepSearchesRequest request = new CostRenewAllPepSearchesRequest();
        XMLGregorianCalendar date = date(check, "Request.RenewalDate");
        request.setRenewalDate(make.createCostRenewAllPepSearchesRequestRenewalDate(date));
        return request;
    }

    static GetPdfRequest getPdf(Checks.Check check) {
        GetPdfRequest request = new GetPdfRequest();
        request.setId(Long.valueOf(check.text("Request.Id")));
        request.setSubUserName(make.createGetPdfRequestSubUserName(check.text("Request.SubUserName")));
        return request;
    }

    static GetEulaStatusRequest getEulaStatus(Checks.Check check) {
        GetEulaStatusRequest request = new GetEulaStatusRequest();
        request.setSubUserName(make.createGetEulaStatusRequestSubUserName(check.text("Request.SubUserName")));
        return request;
    }

    static GetValidIdsRequest getValidIds(Checks.Check check) throws Exception {
        GetValidIdsRequest request = new GetValidIdsRequest();
        request.setFilterDateFrom(element(
                check, "Request.FilterDateFrom", date(check, "Request.FilterDateFrom"), make::createGetValidIdsRequestFilterDateFrom));
        request.setFilterDateTo(element(
                check, "Request.FilterDateTo", date(check, "Request.FilterDateTo"), make::createGetValidIdsRequestFilterDateTo));
        request.setFilterReference(element(
                check, "Request.FilterReference", check.text("Request.FilterReference"), make::createGetValidIdsRequestFilterReference));
        request.setFilterType(element(
                check, "Request.FilterType", check.text("Request.FilterType"), make::createGetValidIdsRequestFilterType));
        request.setFilterUserName(element(
                check, "Request.FilterUserName", check.text("Request.FilterUserName"), make::createGetValidIdsRequestFilterUserName));
        request.setNameSearch(element(
                check, "Request.NameSearch", check.text("Request.NameSearch"), make::createGetValidIdsRequestNameSearch));
        request.setPage(check.integer("Request.Page"));
        request.setSortOrder(element(
                check, "Request.SortOrder", check.text("Request.SortOrder"), make::createGetValidIdsRequestSortOrder));
        request.setSubUserName(element(
                check, "Request.SubUserName", check.text("Request.SubUserName"), make::createGetValidIdsRequestSubUserName));
        return request;
    }

    private static XMLGregorianCalendar date(Checks.Check check, String path) throws Exception {
        return check.has(path) ? DatatypeFactory.newInstance().newXMLGregorianCalendar(check.text(path)) : null;
    }

    /** Null if the check omits the value; a JAXBElement of null is xsi:nil. */
    private static <T> JAXBElement<T> element(
            Checks.Check check, String path, T value, Function<T, JAXBElement<T>> create) {
        return check.has(path) ? create.apply(value) : null;
    }
}
