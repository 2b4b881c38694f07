using System;
using System.Collections.Generic;
using System.Globalization;
using System.Web.Services.Protocols;
using System.Xml;

/// <summary>Output of the programs for adopted services: a line of JSON for each check.</summary>
static class ServiceCheck
{
    public static void Check(string situation, Func<object[]> read)
    {
        string outcome;
        try
        {
            var got = new List<string>();
            foreach (var value in read()) got.Add(value == null ? "null" : Quoted(Told(value)));
            outcome = "\"got\":[" + string.Join(",", got) + "]";
        }
        catch (Exception error) // the harness reports it
        {
            outcome = "\"error\":" + Quoted(error.GetType().Name + ": " + error.Message);
        }
        Console.Out.WriteLine("{\"situation\":" + Quoted(situation) + "," + outcome + "}");
    }

    /// <summary>Returns the text of a member of a fault's detail: an element or an attribute with that name.</summary>
    public static string InDetail(SoapException fault, string name)
    {
        var node = fault.Detail.SelectSingleNode(".//*[local-name()='" + name + "']|.//@" + name);
        return node == null ? null : node.InnerText;
    }

    static string Told(object value)
    {
        if (value is bool) return (bool)value ? "true" : "false";
        if (value is DateTime) return ((DateTime)value).ToString("yyyy-MM-ddTHH:mm:ss");
        return Convert.ToString(value, CultureInfo.InvariantCulture);
    }

    static string Quoted(string text)
    {
        return "\"" + text.Replace("\\", "\\\\").Replace("\"", "\\\"").Replace("\r", "").Replace("\n", "\\n") + "\"";
    }
}
