using System;
using System.Web.Services.Protocols;
using Adopted;

/// <summary>The service of an OpenAPI document, called with the proxy that wsdl generates.</summary>
static class ServiceShop
{
    static void Main(string[] arguments)
    {
        var client = new Shop { Url = arguments[0] };
        var item = client.getItem(1, true);
        ServiceCheck.Check("read", () => new object[] {
            item.name, item.price, item.weight, item.stock, Instant(item.added), item.expiresSpecified ? "set" : null,
            item.ratingSpecified ? "set" : null, item.returnable, item.note, item.tags.Length, item.tags[1] });
        ServiceCheck.Check("change", () => {
            item.name = "\u00d6 & Co";
            client.putItem(1, true, item);
            var back = client.getItem(1, true);
            return new object[] { back.name, back.price, back.weight, back.ratingSpecified ? "set" : null };
        });
        ServiceCheck.Check("fault", () => {
            try
            {
                client.getItem(404, true);
                return new object[0];
            }
            catch (SoapException fault)
            {
                return new object[] { ServiceCheck.InDetail(fault, "status") };
            }
        });
    }

    static string Instant(DateTime date)
    {
        return date.ToUniversalTime().ToString("yyyy-MM-ddTHH:mm:ssZ");
    }
}
