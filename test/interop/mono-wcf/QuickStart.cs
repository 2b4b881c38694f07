using System;
using System.ServiceModel;
using System.ServiceModel.Channels;
using schemas.servicestack.net.types;

/// <summary>The examples of docs/clients/dotnet.md.</summary>
public static class QuickStart
{
    public static void Main(string[] args)
    {
        var address = args[0];

        // docs:begin call
        var api = new ScreeningApiClient(new BasicHttpBinding(), new EndpointAddress(address));
        var credentials = new Authentication { ApiUserId = "demo", ApiUserKey = "demo-key" };

        var data = api.GetSearch(
            credentials,
            new GetSearchRequest { Id = 1, OnlyShowUnresolvedResults = true, SubUserName = "jane" });
        if (data.ResponseStatus != null && data.ResponseStatus.ErrorCode != null)
            throw new InvalidOperationException(data.ResponseStatus.Message);
        Console.WriteLine("{0} results for {1}", data.SearchRecord.NumOfResults, data.SearchRecord.SearchCriteria.Name);
        // docs:end call

        // docs:begin array
        var user = api.UpdateSubUser(
            credentials,
            new UpdateSubUserRequest { SubUserName = "jane", Permissions = new[] { "bob", "owner" } }).SubUser;
        Console.WriteLine("{0} sees the searches of {1}", user.UserName, string.Join(", ", user.Permissions));
        // docs:end array

        // docs:begin headers
        using (new OperationContextScope(api.InnerChannel))
        {
            var http = new HttpRequestMessageProperty();
            http.Headers["X-Api-User"] = "demo";
            http.Headers["X-Api-Key"] = "demo-key";
            OperationContext.Current.OutgoingMessageProperties[HttpRequestMessageProperty.Name] = http;
            var eula = api.GetEulaStatus(null, new GetEulaStatusRequest { SubUserName = "jane" });
            Console.WriteLine(eula.AgreeToContactInfo);
        }
        // docs:end headers

        // docs:begin soap12
        var address12 = new EndpointAddress(address.Replace("soap11", "soap12"));
        var api12 = new ScreeningApiClient(new WSHttpBinding(SecurityMode.None), address12);
        // docs:end soap12
        api12.GetEulaStatus(credentials, new GetEulaStatusRequest { SubUserName = "jane" });
    }
}
