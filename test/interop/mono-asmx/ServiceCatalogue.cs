using System;
using System.Web.Services.Protocols;
using Adopted;

/// <summary>The bare service with several namespaces, called with the proxy that wsdl generates.</summary>
static class ServiceCatalogue
{
    static CatalogueService client;

    static FindReply Find(Criterion criterion)
    {
        return client.Find(new FindRequest { limit = 5, limitSpecified = true, Items = new[] { criterion } });
    }

    static void Add()
    {
        client.Add(new AddRequest { Item = new Disc {
            sku = "d9", Title = "Storm & Calm", Item1 = new Money { currency = "CHF", Value = 7.05m },
            Keyword = new[] { "k1" }, Tracks = 3 } });
    }

    static void Main(string[] arguments)
    {
        client = new CatalogueService { Url = arguments[0] };
        client.TenantValue = new Tenant { name = "acme" };
        ServiceCheck.Check("read", () => {
            var found = Find(new ByPrice { AtMost = 20m });
            var first = found.Item[0];
            var price = (Money)first.Item1;
            var second = found.Item[1];
            return new object[] { found.more, found.Item.Length, first.Published.Value.ToString("yyyy-MM-dd"), price.Value,
                price.currency, first.Keyword.Length, second.Published, second.Item1 as string, second.Item1 as Money };
        });
        ServiceCheck.Check("polymorphism", () => {
            var items = Find(new ByPrice { AtMost = 20m }).Item;
            return new object[] { "Book " + ((Book)items[0]).Pages, "Disc " + ((Disc)items[1]).Tracks };
        });
        ServiceCheck.Check("write", () => {
            Add();
            var back = (Disc)Find(new ByTitle { Contains = "Storm" }).Item[0];
            var price = (Money)back.Item1;
            return new object[] { back.sku, back.Tracks, price.Value, price.currency };
        });
        ServiceCheck.Check("fault", () => {
            try
            {
                Add();
                return new object[0];
            }
            catch (SoapException fault)
            {
                return new object[] { ServiceCheck.InDetail(fault, "sku"), ServiceCheck.InDetail(fault, "title") };
            }
        });
        ServiceCheck.Check("one-way", () => {
            client.Remove(new Removal { sku = "d9" });
            return new object[] { (Find(new ByTitle { Contains = "Storm" }).Item ?? new Item[0]).Length };
        });
    }
}
