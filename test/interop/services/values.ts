import { readExact } from '../exact-json.ts';

/** Initial values of the services, and the values that every client sends. Decimals keep their digits. */

const exact = (json: string): Record<string, unknown> => readExact(json) as Record<string, unknown>;

/** The .asmx service's order 1: a derived customer, nil, attributes, repeats, a branch of a choice, xs:any. */
export const firstOrder: object = exact(`{
  "id": 1,
  "Customer": { "@type": "BusinessCustomer", "Name": "A & B <Ä>", "Phone": { "kind": "work", "value": "0123" }, "VatId": "DE123" },
  "Placed": "2006-01-02T03:04:05",
  "Shipped": null,
  "Total": 129.50,
  "Status": "Open",
  "Line": [
    { "quantity": 2, "Article": "Nuts", "Price": 60.00 },
    { "quantity": 1, "Article": "Bolts", "Price": 9.50 }
  ],
  "Labels": ["new", null, ""],
  "Card": { "Last4": "4242" },
  "@any": "<x:crate xmlns:x=\\"urn:extra\\">oak</x:crate>"
}`);

/** The order that `PlaceOrder` must send. */
export const expectedOrder: object = exact(`{
  "id": 0,
  "version": "2",
  "Customer": { "@type": "BusinessCustomer", "Name": "Ö & Co", "Phone": { "kind": "mobile", "value": "555" }, "VatId": "AT9" },
  "Placed": "2020-02-29T12:00:00",
  "Shipped": null,
  "Total": 10.25,
  "Status": "Shipped",
  "Line": [
    { "quantity": 3, "Article": "Screws", "Price": 3.25 },
    { "quantity": 1, "Article": "Rope", "Price": 0.50 }
  ],
  "Labels": ["one", "two"],
  "Invoice": "I-1"
}`);

/**
 * The shop's item 1: a decimal, a double with an exponent, a time with a zone, false. The other optional members are
 * absent.
 */
export const firstItem = exact(`{
  "name": "A & B <Ä>",
  "price": 12.25,
  "weight": 1.5e-7,
  "stock": 7,
  "added": "2026-03-29T01:30:00+01:00",
  "returnable": false,
  "tags": ["new", "old"]
}`);

/** The rpc service's order 1. */
export const firstRpcOrder: object = exact(`{
  "customer": { "@type": "BusinessCustomer", "name": "A & B <Ä>", "vatId": "DE123" },
  "id": 1,
  "labels": ["new", "old"],
  "lines": [
    { "article": "Nuts", "price": 60.00, "quantity": 2 },
    { "article": "Bolts", "price": 9.50, "quantity": 1 }
  ],
  "note": null,
  "placed": "2006-01-02T03:04:05Z",
  "shipped": null,
  "total": 129.50
}`);

/** The order that `placeOrder` must send. */
export const expectedRpcOrder: object = exact(`{
  "customer": { "@type": "BusinessCustomer", "name": "Ö & Co", "vatId": "AT9" },
  "id": 0,
  "labels": ["one", "two"],
  "lines": [
    { "article": "Screws", "price": 3.25, "quantity": 3 },
    { "article": "Rope", "price": 0.50, "quantity": 1 }
  ],
  "total": 10.25
}`);

/** The catalogue's stock: two types derived from an abstract one, both branches of a choice. */
export const items: readonly Record<string, unknown>[] = [
  exact(
    '{"@type":"Book","sku":"b1","Title":"Sailing","Published":"1999-12-31","Price":{"currency":"EUR","value":19.90},"Keyword":["sea","wind"],"Pages":321}',
  ),
  exact('{"@type":"Disc","sku":"d1","Title":"Waves","Published":null,"Free":"promotion","Tracks":12}'),
  exact(
    '{"@type":"Book","sku":"b2","Title":"Harbours","Published":null,"Price":{"currency":"EUR","value":99.00},"Pages":5}',
  ),
];

/** The item that `Add` must send. */
export const expectedItem: object = exact(
  '{"@type":"Disc","sku":"d9","Title":"Storm & Calm","Published":null,"Price":{"currency":"CHF","value":7.05},"Keyword":["k1"],"Tracks":3}',
);
