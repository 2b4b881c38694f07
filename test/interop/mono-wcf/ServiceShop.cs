using System;
using System.ServiceModel;
using System.ServiceModel.Channels;

/// <summary>The service of an OpenAPI document, by the proxy that svcutil generates.</summary>
static class ServiceShop
{
    static void Main(string[] arguments)
    {
        // wsHttpBinding is SOAP 1.2 with WS-Addressing
        var binding = arguments[1] == "1.1" ? (Binding)new BasicHttpBinding() : new WSHttpBinding(SecurityMode.None);
        var client = new ShopClient(binding, new EndpointAddress(arguments[0]));
        var item = client.getItem(1);
        ServiceCheck.Check("read", () => new object[] {
            item.name, item.price, item.weight, item.stock, item.added.ToUniversalTime().ToString("yyyy-MM-ddTHH:mm:ssZ"),
            item.expires, item.rating, item.returnable, item.note, item.tags.Count, item.tags[1] });
        ServiceCheck.Check("change", () => {
            item.name = "\u00d6 & Co";
            client.putItem(1, item);
            var back = client.getItem(1);
            return new object[] { back.name, back.price, back.weight, back.rating };
        });
        ServiceCheck.Check("fault", () => {
            try
            {
                client.getItem(404);
                return new object[0];
            }
            catch (FaultException)
            {
                return new object[] { null }; // svcutil generates no class for the detail
            }
        });
    }
}
