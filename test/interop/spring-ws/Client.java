import jakarta.xml.soap.MessageFactory;
import jakarta.xml.soap.SOAPConstants;
import org.springframework.oxm.jaxb.Jaxb2Marshaller;
import org.springframework.ws.client.core.WebServiceTemplate;
import org.springframework.ws.soap.client.SoapFaultClientException;
import org.springframework.ws.soap.client.core.SoapActionCallback;
import org.springframework.ws.soap.saaj.SaajSoapMessageFactory;
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

/** The checks as a Spring program makes them: a WebServiceTemplate and the classes that xjc makes of the WSDL. */
public final class Client {
    private static final ObjectFactory make = new ObjectFactory();

    private final WebServiceTemplate template;
    private final Authentication authentication = new Authentication();

    private Client(String version) throws Exception {
        boolean soap11 = version.equals("1.1");
        template = new WebServiceTemplate(new SaajSoapMessageFactory(MessageFactory.newInstance(
                soap11 ? SOAPConstants.SOAP_1_1_PROTOCOL : SOAPConstants.SOAP_1_2_PROTOCOL)));
        Jaxb2Marshaller marshaller = new Jaxb2Marshaller();
        marshaller.setContextPath("screening");
        template.setMarshaller(marshaller);
        template.setUnmarshaller(marshaller);
        authentication.setApiUserId(make.createAuthenticationApiUserId("demo"));
        authentication.setApiUserKey(make.createAuthenticationApiUserKey("demo-key"));
    }

    public static void main(String[] args) throws Exception {
        Client client = new Client(args[1]);
        Checks.run(args[2], client::call);
    }

    private Object call(Checks.Check check) throws Exception {
        try {
            Object response = template.marshalSendAndReceive(
                    Checks.endpoint(check), payload(check), new SoapActionCallback(check.operation()));
            return Reading.at(response, "Data");
        } catch (SoapFaultClientException e) {
            return new Checks.Fault(e.getFaultCode().getLocalPart(), e.getFaultStringOrReason());
        }
    }

    private Object payload(Checks.Check check) throws Exception {
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

    private UpdateSubUser updateSubUser(Checks.Check check) {
        UpdateSubUser call = new UpdateSubUser();
        call.setAuthentication(make.createUpdateSubUserAuthentication(authentication));
        call.setRequest(make.createUpdateSubUserRequest(Requests.updateSubUser(check)));
        return call;
    }

    private UpdateValidId updateValidId(Checks.Check check) {
        UpdateValidId call = new UpdateValidId();
        call.setAuthentication(make.createUpdateValidIdAuthentication(authentication));
        call.setRequest(make.createUpdateValidIdRequest(Requests.updateValidId(check)));
        return call;
    }

    private AddClientTemplate addClientTemplate() {
        AddClientTemplate call = new AddClientTemplate();
        call.setAuthentication(make.createAddClientTemplateAuthentication(authentication));
        return call;
    }

    private GetDbsSearch getDbsSearch(Checks.Check check) {
        GetDbsSearch call = new GetDbsSearch();
        call.setAuthentication(make.createGetDbsSearchAuthentication(authentication));
        call.setId(check.integer("Id"));
        call.setSubUserName(make.createGetDbsSearchSubUserName(check.text("SubUserName")));
        return call;
    }

    private RenewAllPepSearches renewAllPepSearches(Checks.Check check) throws Exception {
        RenewAllPepSearches call = new RenewAllPepSearches();
        call.setAuthentication(make.createRenewAllPepSearchesAuthentication(authentication));
        call.setRequest(make.createRenewAllPepSearchesRequest(Requests.renewAllPepSearches(check)));
        return call;
    }

    private DeleteClient deleteClient(Checks.Check check) {
        DeleteClient call = new DeleteClient();
        call.setAuthentication(make.createDeleteClientAuthentication(authentication));
        call.setId(check.integer("Id"));
        return call;
    }

    private GetSearch getSearch(Checks.Check check) {
        GetSearch call = new GetSearch();
        call.setAuthentication(make.createGetSearchAuthentication(authentication));
        call.setRequest(make.createGetSearchRequest(Requests.getSearch(check)));
        return call;
    }

    private CostRenewAllPepSearches costRenewAllPepSearches(Checks.Check check) throws Exception {
        CostRenewAllPepSearches call = new CostRenewAllPepSearches();
        call.setAuthentication(make.createCostRenewAllPepSearchesAuthentication(authentication));
        call.setRequest(make.createCostRenewAllPepSearchesRequest(Requests.costRenewAllPepSearches(check)));
        return call;
    }

    private GetPdf getPdf(Checks.Check check) {
        GetPdf call = new GetPdf();
        call.setAuthentication(make.createGetPdfAuthentication(authentication));
        call.setRequest(make.createGetPdfRequest(Requests.getPdf(check)));
        return call;
    }

    private CountIncompleteClients countIncompleteClients(Checks.Check check) {
        CountIncompleteClients call = new CountIncompleteClients();
        call.setAuthentication(make.createCountIncompleteClientsAuthentication(authentication));
        call.setDaysIncomplete(make.createCountIncompleteClientsDaysIncomplete(check.integer("DaysIncomplete")));
        call.setIsValidateMe(make.createCountIncompleteClientsIsValidateMe(check.flag("IsValidateMe")));
        ClientState state = ClientState.fromValue(check.text("State"));
        call.setState(make.createCountIncompleteClientsState(state));
        return call;
    }

    private GetEulaStatus getEulaStatus(Checks.Check check) {
        GetEulaStatus call = new GetEulaStatus();
        call.setAuthentication(make.createGetEulaStatusAuthentication(authentication));
        call.setRequest(make.createGetEulaStatusRequest(Requests.getEulaStatus(check)));
        return call;
    }

    private GetValidIds getValidIds(Checks.Check check) throws Exception {
        GetValidIds call = new GetValidIds();
        call.setAuthentication(make.createGetValidIdsAuthentication(authentication));
        call.setRequest(make.createGetValidIdsRequest(Requests.getValidIds(check)));
        return call;
    }
}
