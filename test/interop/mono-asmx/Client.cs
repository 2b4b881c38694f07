using System;
using System.Web.Services.Protocols;
using Screening;

/// <summary>Makes the checks with the proxy of wsdl.exe (ASMX, .NET 1 to 3).</summary>
public static class Client
{
    private static readonly Authentication authentication =
        new Authentication { ApiUserId = "demo", ApiUserKey = "demo-key" };

    public static void Main(string[] args)
    {
        Checks.Run(args[2], Call);
    }

    private static object Call(Check check)
    {
        try
        {
            using (var api = new ScreeningApi { Url = check.Endpoint }) return Reply(api, check);
        }
        catch (SoapException e)
        {
            return new Fault { Code = e.Code.Name, Message = e.Message };
        }
    }

    private static object Reply(ScreeningApi api, Check check)
    {
        switch (check.Operation)
        {
            case "UpdateSubUser": return api.UpdateSubUser(authentication, UpdateSubUser(check));
            case "UpdateValidId": return api.UpdateValidId(authentication, UpdateValidId(check));
            case "AddClientTemplate": return api.AddClientTemplate(authentication);
            case "GetDbsSearch":
                return api.GetDbsSearch(authentication, check.Integer("Id"), true, check.Text("SubUserName"));
            case "RenewAllPepSearches": return api.RenewAllPepSearches(authentication, RenewAllPepSearches(check));
            case "DeleteClient": return api.DeleteClient(authentication, check.Integer("Id"), true);
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
            IdSpecified = true,
            ClientInResults = check.Flag("Request.ClientInResults"),
            ClientInResultsSpecified = true,
            ClientNotInResults = check.Flag("Request.ClientNotInResults"),
            ClientNotInResultsSpecified = true,
        };
    }

    private static RenewAllPepSearchesRequest RenewAllPepSearches(Check check)
    {
        return new RenewAllPepSearchesRequest
        {
            RenewalDate = check.Date("Request.RenewalDate"),
            RenewalDateSpecified = true,
        };
    }

    private static GetSearchRequest GetSearch(Check check)
    {
        return new GetSearchRequest
        {
            Id = check.Integer("Request.Id"),
            IdSpecified = true,
            OnlyShowUnresolvedResults = check.Flag("Request.OnlyShowUnresolvedResults"),
            OnlyShowUnresolvedResultsSpecified = true,
            SubUserName = check.Text("Request.SubUserName"),
        };
    }

    private static CostRenewAllPepSearchesRequest CostRenewAllPepSearches(Check check)
    {
        return new CostRenewAllPepSearchesRequest
        {
            RenewalDate = check.Date("Request.RenewalDate"),
            RenewalDateSpecified = true,
        };
    }

    private static GetPdfRequest GetPdf(Check check)
    {
        return new GetPdfRequest
        {
            Id = long.Parse(check.Text("Request.Id")),
            IdSpecified = true,
            SubUserName = check.Text("Request.SubUserName"),
        };
    }

    private static object CountIncompleteClients(ScreeningApi api, Check check)
    {
        var state = (ClientState)Enum.Parse(typeof(ClientState), check.Text("State"));
        return api.CountIncompleteClients(
            authentication, check.Integer("DaysIncomplete"), true, check.Flag("IsValidateMe"), true, state, true);
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
            FilterDateFromSpecified = check.Has("Request.FilterDateFrom"),
            FilterDateTo = check.Date("Request.FilterDateTo"),
            FilterDateToSpecified = check.Has("Request.FilterDateTo"),
            FilterReference = check.Text("Request.FilterReference"),
            FilterType = check.Text("Request.FilterType"),
            FilterUserName = check.Text("Request.FilterUserName"),
            NameSearch = check.Text("Request.NameSearch"),
            Page = check.Integer("Request.Page"),
            PageSpecified = true,
            SortOrder = check.Text("Request.SortOrder"),
            SubUserName = check.Text("Request.SubUserName"),
        };
    }
}
