import type { Printed, Version } from '../checks.ts';

/**
 * A service of the interop run other than the screening service: its contract, and the values that each client reads.
 */
export interface Service {
  /** First argument of `service.sh`. */
  readonly name: string;
  readonly title: string;
  /** Folder of the contract, relative to the project's root. */
  readonly folder: string;
  /** Path of the address in an adopted WSDL; absent for an OpenAPI document. */
  readonly path?: string;
  /** The SOAP versions of its WSDL's ports. */
  readonly versions: readonly Version[];
  /** Expected values of a client by situation, with their names if they differ. */
  readonly checks: Readonly<Record<string, Readonly<Record<string, Printed>>>>;
}

export const services: readonly Service[] = [
  {
    name: 'shop',
    title: 'OpenAPI document',
    folder: 'test/interop/shop',
    versions: ['1.1', '1.2'],
    checks: {
      read: {
        name: 'A & B <Ä>',
        price: '12.25',
        weight: '1.5e-7',
        stock: '7',
        'added, with a zone': '2026-03-29T01:30:00+01:00',
        'expires, absent': null,
        'rating, absent': null,
        returnable: 'false',
        'note, absent': null,
        'how many tags': '2',
        'the second tag': 'old',
      },
      change: { name: 'Ö & Co', price: '12.25', weight: '1.5e-7', 'rating, absent': null },
      fault: { status: '404' },
    },
  },
  {
    name: 'orders',
    title: 'wrapped .asmx',
    folder: 'docs/adopt',
    path: '/shop/Orders.asmx',
    versions: ['1.1', '1.2'],
    checks: {
      read: {
        'the attribute id': '1',
        Total: '129.50',
        Status: 'Open',
        Placed: '2006-01-02T03:04:05',
        'Shipped, nil': null,
        'how many Line': '2',
        'the attribute quantity of the first Line': '2',
        'Price of the second Line': '9.50',
        'Last4 of Card': '4242',
        'Invoice, the other branch': null,
        'Name of Customer': 'A & B <Ä>',
        'text of Phone': '0123',
        'kind of Phone': 'work',
      },
      polymorphism: { 'the type of Customer': 'BusinessCustomer', VatId: 'DE123' },
      list: { 'how many Labels': '3', 'the first': 'new', 'the second, nil': null },
      header: { callsLeft: '7' },
      any: { crate: 'oak' },
      write: {
        Name: 'Ö & Co',
        'kind of Phone': 'mobile',
        VatId: 'AT9',
        'Shipped, nil': null,
        Total: '10.25',
        'Article of the second Line': 'Rope',
        Invoice: 'I-1',
        'Card, the other branch': null,
      },
      fault: { orderId: '404', hint: 'try <1> & co' },
      'empty reply': { Status: 'Cancelled' },
    },
  },
  {
    name: 'orders-rpc',
    title: 'rpc/encoded',
    folder: 'test/fixtures/adopt/orders-rpc',
    path: '/axis/services/OrdersRpc',
    versions: ['1.1'],
    checks: {
      read: {
        id: '1',
        total: '129.50',
        'note, nil': null,
        placed: '2006-01-02T03:04:05',
        'shipped, nil': null,
        'how many lines': '2',
        'quantity of the first': '2',
        'price of the second': '9.50',
        'how many labels': '2',
        'the second label': 'old',
        'name of customer': 'A & B <Ä>',
      },
      polymorphism: { 'the type of customer': 'BusinessCustomer', vatId: 'DE123' },
      write: {
        vatId: 'AT9',
        total: '10.25',
        'article of the second line': 'Rope',
        'the second label': 'two',
      },
      fault: { orderId: '404', hint: 'try <1> & co' },
      'one-way': { note: 'cancelled' },
    },
  },
  {
    name: 'catalogue',
    title: 'document/literal bare',
    folder: 'test/fixtures/adopt/catalogue',
    path: '/services/Catalogue',
    versions: ['1.1'],
    checks: {
      read: {
        'the attribute more': 'false',
        'how many Item': '2',
        'Published of the first': '1999-12-31',
        'text of Price': '19.90',
        'its currency': 'EUR',
        'how many Keyword': '2',
        'Published of the second, nil': null,
        'Free of the second': 'promotion',
        'Price of the second, the other branch': null,
      },
      polymorphism: { 'the first': 'Book 321', 'the second': 'Disc 12' },
      write: { sku: 'd9', Tracks: '3', 'text of Price': '7.05', 'its currency': 'CHF' },
      fault: { sku: 'd9', title: 'Storm & Calm' },
      'one-way': { 'how many Item': '0' },
    },
  },
];
