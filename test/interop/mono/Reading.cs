using System;
using System.Collections;
using System.Globalization;
using System.Linq;
using System.Reflection;
using System.Text;
using System.Xml;

/// <summary>Reads values of generated classes by a path like SearchRecords.SearchRecord.1.Status.</summary>
public static class Reading
{
    /// <summary>Returns the value at the path as text, or null if a step of the path is null.</summary>
    public static string Text(object reply, string path)
    {
        var value = path.Split('.').Aggregate(reply, Step);
        return value == null ? null : Lexical(value);
    }

    private static object Step(object value, string step)
    {
        if (step == "?") return value == null ? "absent" : "value"; // a property does not distinguish nil from absent
        if (value == null) return null;
        var list = value is string ? null : value as IEnumerable;
        return list == null ? Member(value, step) : Item(list.Cast<object>().ToArray(), step);
    }

    // a proxy omits the step of the item element, so a name stays at the list
    private static object Item(object[] items, string step)
    {
        if (step == "#") return items.Length;
        return char.IsDigit(step[0]) ? items[int.Parse(step)] : items;
    }

    private static object Member(object value, string name)
    {
        const BindingFlags ignoreCase = BindingFlags.Public | BindingFlags.Instance | BindingFlags.IgnoreCase;
        var property = value.GetType().GetProperty(name, ignoreCase);
        if (property != null) return property.GetValue(value, null);
        throw new MissingMemberException(value.GetType() + ": expected a property " + name + ", got none");
    }

    private static string Lexical(object value)
    {
        if (value is byte[]) return Encoding.ASCII.GetString((byte[])value, 0, 4) + " " + ((byte[])value).Length;
        if (value is bool) return XmlConvert.ToString((bool)value);
        if (value is DateTime) return XmlConvert.ToString((DateTime)value, XmlDateTimeSerializationMode.RoundtripKind);
        if (value is double) return XmlConvert.ToString((double)value);
        return Convert.ToString(value, CultureInfo.InvariantCulture);
    }
}
