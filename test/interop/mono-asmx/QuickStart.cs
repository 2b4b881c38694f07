using System;
using Screening;

/// <summary>The ASMX examples of docs/clients/dotnet.md.</summary>
public static class QuickStart
{
    public static void Main(string[] args)
    {
        var address = args[0];

        // docs:begin call
        var api = new ScreeningApi { Url = address };
        var credentials = new Authentication { ApiUserId = "demo", ApiUserKey = "demo-key" };

        var data = api.GetSearch(credentials, new GetSearchRequest
        {
            Id = 1,
            IdSpecified = true, // without it the Id isn't sent
            OnlyShowUnresolvedResults = true,
            OnlyShowUnresolvedResultsSpecified = true,
            SubUserName = "jane",
        });
        if (data.ResponseStatus != null && data.ResponseStatus.ErrorCode != null)
            throw new InvalidOperationException(data.ResponseStatus.Message);
        Console.WriteLine("{0} results for {1}", data.SearchRecord.NumOfResults, data.SearchRecord.SearchCriteria.Name);
        // docs:end call
    }
}
