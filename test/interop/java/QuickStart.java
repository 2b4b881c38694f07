import jakarta.xml.ws.BindingProvider;
import jakarta.xml.ws.handler.MessageContext;
import java.net.URL;
import java.util.List;
import java.util.Map;
import screening.ArrayOfstring;
import screening.Authentication;
import screening.GetEulaStatusRequest;
import screening.GetSearchRequest;
import screening.GetSearchResult;
import screening.IScreeningApi;
import screening.ObjectFactory;
import screening.ScreeningApi;
import screening.SearchRecord;
import screening.SubUser;
import screening.UpdateSubUserRequest;

/** The examples of docs/clients/java.md. */
public final class QuickStart {
    private QuickStart() {}

    public static void main(String[] args) throws Exception {
        String wsdl = args[0];

        // docs:begin call
        IScreeningApi api = new ScreeningApi(new URL(wsdl)).getSoap11(); // or getSoap12()
        ObjectFactory make = new ObjectFactory();

        Authentication credentials = make.createAuthentication();
        credentials.setApiUserId(make.createAuthenticationApiUserId("demo"));
        credentials.setApiUserKey(make.createAuthenticationApiUserKey("demo-key"));

        GetSearchRequest request = make.createGetSearchRequest();
        request.setId(1);
        request.setOnlyShowUnresolvedResults(true);
        request.setSubUserName(make.createGetSearchRequestSubUserName("jane"));

        GetSearchResult data = api.getSearch(credentials, request);
        var status = data.getResponseStatus();
        if (status != null && status.getValue() != null && status.getValue().getErrorCode() != null) {
            throw new IllegalStateException(status.getValue().getMessage().getValue());
        }
        SearchRecord record = data.getSearchRecord().getValue();
        System.out.println(record.getNumOfResults().getValue() + " results for "
                + record.getSearchCriteria().getValue().getName().getValue());
        // docs:end call

        // docs:begin array
        ArrayOfstring permissions = make.createArrayOfstring();
        permissions.getString().addAll(List.of("bob", "owner"));
        UpdateSubUserRequest update = make.createUpdateSubUserRequest();
        update.setSubUserName(make.createUpdateSubUserRequestSubUserName("jane"));
        update.setPermissions(make.createUpdateSubUserRequestPermissions(permissions));

        SubUser user = api.updateSubUser(credentials, update).getSubUser().getValue();
        System.out.println(user.getUserName().getValue() + " sees the searches of "
                + String.join(", ", user.getPermissions().getValue().getString()));
        // docs:end array

        // docs:begin headers
        Map<String, List<String>> headers = Map.of("X-Api-User", List.of("demo"), "X-Api-Key", List.of("demo-key"));
        ((BindingProvider) api).getRequestContext().put(MessageContext.HTTP_REQUEST_HEADERS, headers);

        GetEulaStatusRequest whose = make.createGetEulaStatusRequest();
        whose.setSubUserName(make.createGetEulaStatusRequestSubUserName("jane"));
        System.out.println(api.getEulaStatus(null, whose).getAgreeToContactInfo().getValue());
        // docs:end headers
    }
}
