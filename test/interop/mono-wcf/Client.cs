using System;
using System.ServiceModel;
using System.ServiceModel.Channels;
using schemas.servicestack.net.types;

/// <summary>Makes the checks with the proxy of svcutil (WCF).</summary>
public static class Client
{
    private static readonly Authentication authentication =
        new Authentication { ApiUserId = "demo", ApiUserKey = "demo-key" };

    private static Binding binding;

    public static void Main(string[] args)
    {
        // wsHttpBinding is SOAP 1.2 with WS-Addressing
        binding = args[1] == "1.1" ? (Binding)new BasicHttpBinding() : new WSHttpBinding(SecurityMode.None);
        Checks.Run(args[2], Call);
    }

    private static object Call(Check check)
    {
        var api = new ScreeningApiClient(binding, new EndpointAddress(check.Endpoint));
        try
        {
            return Reply(api, check);
        }
        catch (FaultException e)
        {
            return new Fault { Code = e.Code.Name, Message = e.Message };
        }
        finally
        {
            api.Abort();
        }
    }

    private static object Reply(ScreeningApiClient api, Check check)
    {
        switch (check.Operation)
        {
            case "UpdateSubUser": return api.UpdateSubUser(authentication, UpdateSubUser(check));
            case "UpdateValidId": return api.UpdateValidId(authentication, UpdateValidId(check));
            case "AddClientTemplate": return api.AddClientTemplate(authentication);
            case "GetDbsSearch":
                return api.GetDbsSearch(authentication, check.Integer("Id"), check.Text("SubUserName"));
            case "RenewAllPepSearches": return api.RenewAllPepSearches(authentication, RenewAllPepSearches(check));
            case "DeleteClient": return api.DeleteClient(authentication, check.Integer("Id"));
            case "GetSearch": return api.GetSearch(authentication, GetSearch(check));
            case "CostRenewAllPepSearches":
                return api.CostRenewAllPepSearches(authentication, CostRenewAllPepSearches(check));
            case "GetPdf": return api.GetPdf(authentication, GetPdf(check));
            case "CountIncompleteClients": return CountIncompleteClients(api, check);
            case "GetEulaStatus": return api.GetEulaStatus(authentication, GetEulaStatus(check));
            case "GetValidIds": return api.GetValidIds(authentication, GetValidIds(check));
            default: throw new ArgumentException(check.Operation);
        }
    }

    private static UpdateSubUserRequest UpdateSubUser(Check check)
    {
        return new UpdateSubUserRequest
        {
            SubUserName = check.Text("Request.SubUserName"),
            Permissions = check.Texts("Request.Permissions.string"),
        };
    }

    private static UpdateValidIdRequest UpdateValidId(Check check)
    {
        return new UpdateValidIdRequest
        {
            Id = check.Integer("Request.Id"),
            ClientInResults = check.Flag("Request.ClientInResults"),
            ClientNotInResults = check.Flag("Request.ClientNotInResults"),
        };
    }

    private static RenewAllPepSearchesRequest RenewAllPepSearches(Check check)
    {
        return new RenewAllPepSearchesRequest { RenewalDate = check.Date("Request.RenewalDate") };
    }

    private static GetSearchRequest GetSearch(Check check)
    {
        return new GetSearchRequest
        {
            Id = check.Integer("Request.Id"),
            OnlyShowUnresolvedResults = check.Flag("Request.OnlyShowUnresolvedResults"),
            SubUserName = check.Text("Request.SubUserName"),
        };
    }

    private static CostRenewAllPepSearchesRequest CostRenewAllPepSearches(Check check)
    {
        return new CostRenewAllPepSearchesRequest { RenewalDate = check.Date("Request.RenewalDate") };
    }

    private static GetPdfRequest GetPdf(Check check)
    {
        return new GetPdfRequest
        {
            Id = long.Parse(check.Text("Request.Id")),
            SubUserName = check.Text("Request.SubUserName"),
        };
    }

    private static object CountIncompleteClients(ScreeningApiClient api, Check check)
    {
        var state = (ClientState)Enum.Parse(typeof(ClientState), check.Text("State"));
        return api.CountIncompleteClients(
            authentication, check.Integer("DaysIncomplete"), check.Flag("IsValidateMe"), state);
    }

    private static GetEulaStatusRequest GetEulaStatus(Check check)
    {
        return new GetEulaStatusRequest { SubUserName = check.Text("Request.SubUserName") };
    }

    private static GetValidIdsRequest GetValidIds(Check check)
    {
        return new GetValidIdsRequest
        {
            FilterDateFrom = check.Date("Request.FilterDateFrom"),
            FilterDateTo = check.Date("Request.FilterDateTo"),
            FilterReference = check.Text("Request.FilterReference"),
            FilterType = check.Text("Request.FilterType"),
            FilterUserName = check.Text("Request.FilterUserName"),
            NameSearch = check.Text("Request.NameSearch"),
            Page = check.Integer("Request.Page"),
            SortOrder = check.Text("Request.SortOrder"),
            SubUserName = check.Text("Request.SubUserName"),
        };
    }
}
