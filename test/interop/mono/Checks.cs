using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Xml;

/// <summary>A SOAP fault as reported by the stack's exception.</summary>
public sealed class Fault
{
    public string Code { get; set; }
    public string Message { get; set; }
}

/// <summary>One check: its inputs by path and the paths to read. Absent inputs are missing.</summary>
public sealed class Check
{
    public readonly string Operation;
    public readonly string Situation;
    public readonly Dictionary<string, string> Input = new Dictionary<string, string>();
    public readonly List<string> Read = new List<string>();

    public Check(string operation, string situation)
    {
        Operation = operation;
        Situation = situation;
    }

    /// <summary>Endpoint of the call; faults have a separate one.</summary>
    public string Endpoint
    {
        get { return Environment.GetEnvironmentVariable(Situation == "fault" ? "FAULT_ENDPOINT" : "ENDPOINT"); }
    }

    public bool Has(string path)
    {
        return Input.ContainsKey(path);
    }

    public string Text(string path)
    {
        return Has(path) ? Input[path] : null;
    }

    public int Integer(string path)
    {
        return int.Parse(Input[path]);
    }

    public bool Flag(string path)
    {
        return bool.Parse(Input[path]);
    }

    /// <summary>Returns a date. Without a zone its Kind is Unspecified.</summary>
    public DateTime? Date(string path)
    {
        if (!Has(path)) return null;
        return XmlConvert.ToDateTime(Input[path], XmlDateTimeSerializationMode.RoundtripKind);
    }

    /// <summary>Returns the items of an array, or null if the array is absent.</summary>
    public string[] Texts(string path)
    {
        if (!Has(path + ".#")) return null;
        return Enumerable.Range(0, Integer(path + ".#")).Select(i => Input[path + "." + i]).ToArray();
    }
}

/// <summary>Makes the harness's checks one after another: a call, then the values of its reply.</summary>
public static class Checks
{
    /// <summary>Runs all checks of checks.tsv in the folder and prints one JSON line for each.</summary>
    /// <param name="call">The stack's own part: gives the reply's Data, or a Fault.</param>
    public static void Run(string folder, Func<Check, object> call)
    {
        foreach (var check in Load(Path.Combine(folder, "checks.tsv")))
        {
            var head = "\"operation\":" + Quote(check.Operation) + ",\"situation\":" + Quote(check.Situation);
            Console.WriteLine("{" + head + "," + Outcome(check, call) + "}");
        }
    }

    private static IEnumerable<Check> Load(string file)
    {
        var checks = new List<Check>();
        foreach (var column in File.ReadAllLines(file).Select(row => row.Split('\t')))
        {
            var check = checks.LastOrDefault();
            if (check == null || check.Operation != column[0] || check.Situation != column[1])
            {
                check = new Check(column[0], column[1]);
                checks.Add(check);
            }
            if (column[2] == "input") check.Input[column[3]] = column[4];
            else if (column[2] == "null") check.Input[column[3]] = null;
            else check.Read.Add(column[3]);
        }
        return checks;
    }

    private static string Outcome(Check check, Func<Check, object> call)
    {
        try
        {
            var reply = call(check);
            return "\"got\":[" + string.Join(",", check.Read.Select(path => Quote(Reading.Text(reply, path)))) + "]";
        }
        catch (Exception e)
        {
            Console.Error.WriteLine(e);
            return "\"error\":" + Quote(e.GetType().Name + ": " + e.Message);
        }
    }

    private static string Quote(string text)
    {
        if (text == null) return "null";
        return "\"" + string.Concat(text.Select(Escape)) + "\"";
    }

    private static string Escape(char c)
    {
        return c < ' ' || c == '"' || c == '\\' || c > '~' ? string.Format("\\u{0:x4}", (int)c) : c.ToString();
    }
}
