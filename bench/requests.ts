import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endOfStartTag, readHead } from '../mappings/codec/byte-reader/head.ts';
import { startReading } from '../mappings/codec/problem.ts';
import { type CompiledOperation, compileContract } from '../mappings/compile.ts';
import { defaultLimits, type Limits } from '../mappings/contract/limits.ts';
import type { Contract } from '../mappings/contract/model.ts';
import { buildContract } from '../mappings/loader/build-contract.ts';
import { readContract, screeningContract } from '../mappings/loader/load.ts';
import { subUserRequest } from './messages.ts';
import { median } from './process.ts';

/** Requests that users send, XML → JSON from bytes to bytes, for both kinds of contract. */

/** Limits that no request of the bench exceeds. */
export const requestLimits: Limits = {
  ...defaultLimits,
  jsonMembers: 1e9,
  xmlElements: 1e9,
  xmlChildren: 1e9,
};

/** Reads a plain request. Throws for a request that the byte reader gives up. */
export function readRequest({ readBytes }: CompiledOperation, document: Buffer): Buffer {
  const quirks = { acceptsIllegalReferences: false };
  const end = endOfStartTag(document, 0);
  const head = readHead(document, 0, end, requestLimits, quirks, (xml) => xml.readRoot());
  const input = head && readBytes?.(document, head, startReading(20));
  if (input === undefined) throw new Error('expected a plain request');
  const [slot] = input.reading.slots.filter((json) => json !== undefined);
  return input.text.length > 2 ? (input.text as Buffer) : Buffer.from(slot ?? '');
}

const order = {
  type: 'object',
  properties: {
    OrderId: { type: 'integer', format: 'int64' },
    Customer: { type: 'string' },
    Placed: { type: 'string', format: 'date-time' },
    Total: { type: 'number' },
    Paid: { type: 'boolean' },
    State: { type: 'string', enum: ['open', 'sent', 'closed'] },
    Lines: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          Article: { type: 'string' },
          Quantity: { type: 'integer', format: 'int32' },
          Price: { type: 'number' },
          Note: { type: 'string' },
        },
      },
    },
  },
} as const;

function openapiContract(): Contract {
  const schema = { type: 'object', properties: { Orders: { type: 'array', items: order } } };
  return buildContract({
    openapiName: 'openapi',
    overlayName: 'soap',
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Orders', version: '1' },
      paths: {
        '/orders': {
          post: {
            operationId: 'PutOrders',
            requestBody: { required: true, content: { 'application/json': { schema } } },
            responses: { 204: { description: 'stored' } },
          },
        },
      },
    },
    overlay: { dialect: 'plain', service: 'Orders' },
  }).contract;
}

const element = (name: string, type: string, more = ''): string =>
  `<xs:element name="${name}" type="${type}" ${more}/>`;
const many = 'minOccurs="0" maxOccurs="unbounded"';

const wsdl = `<w:definitions xmlns:w="http://schemas.xmlsoap.org/wsdl/" xmlns:s="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:orders" targetNamespace="urn:orders"><w:types><xs:schema targetNamespace="urn:orders" elementFormDefault="qualified"><xs:simpleType name="State"><xs:restriction base="xs:string"><xs:enumeration value="open"/><xs:enumeration value="sent"/><xs:enumeration value="closed"/></xs:restriction></xs:simpleType><xs:complexType name="Line"><xs:sequence>${element('Article', 'xs:string')}${element('Quantity', 'xs:int')}${element('Price', 'xs:decimal')}${element('Note', 'xs:string', 'minOccurs="0"')}</xs:sequence></xs:complexType><xs:complexType name="Lines"><xs:sequence>${element('Line', 't:Line', many)}</xs:sequence></xs:complexType><xs:complexType name="Order"><xs:sequence>${element('OrderId', 'xs:long')}${element('Customer', 'xs:string')}${element('Placed', 'xs:dateTime')}${element('Total', 'xs:decimal')}${element('Paid', 'xs:boolean')}${element('State', 't:State')}${element('Lines', 't:Lines')}</xs:sequence></xs:complexType><xs:element name="PutOrders"><xs:complexType><xs:sequence>${element('Order', 't:Order', many)}</xs:sequence></xs:complexType></xs:element><xs:element name="PutOrdersResponse"><xs:complexType/></xs:element></xs:schema></w:types><w:message name="In"><w:part name="p" element="t:PutOrders"/></w:message><w:message name="Out"><w:part name="p" element="t:PutOrdersResponse"/></w:message><w:portType name="P"><w:operation name="PutOrders"><w:input message="t:In"/><w:output message="t:Out"/></w:operation></w:portType><w:binding name="B" type="t:P"><s:binding transport="http://schemas.xmlsoap.org/soap/http"/><w:operation name="PutOrders"><s:operation soapAction="urn:orders/Put"/><w:input><s:body use="literal"/></w:input><w:output><s:body use="literal"/></w:output></w:operation></w:binding><w:service name="Orders"><w:port name="OrdersSoap" binding="t:B"><s:address location="http://old.example/Orders.asmx"/></w:port></w:service></w:definitions>`;

function importedContract(): Contract {
  const folder = mkdtempSync(join(tmpdir(), 'soapbridge-bench-'));
  try {
    writeFileSync(join(folder, 'service.wsdl'), wsdl);
    return readContract(folder).contract;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The way a client writes its orders. */
interface Style {
  /** The prefix of each element, with its colon. */
  readonly prefix: string;
  /** White space between tags. */
  readonly between: string;
}

const styles: Readonly<Record<string, Style>> = {
  '': { prefix: '', between: '' },
  ', pretty-printed': { prefix: '', between: '\n        ' },
  ', a prefix on each element': { prefix: 'ns1:', between: '' },
};

/** The element of the items of a list, by the element of the list. */
function itemName({ types }: Contract, list: string): string {
  for (const type of types) {
    const field = type.kind === 'record' ? type.fields.find(({ xml }) => xml === list) : undefined;
    if (field?.type.kind === 'array') return field.type.itemName;
  }
  throw new Error(`expected a list ${list}`);
}

/** A request with orders, each with up to six lines. */
function ordersRequest(contract: Contract, count: number, first: number, { prefix, between }: Style): Buffer {
  const isOpenapi = contract.adopted === undefined;
  const open = (name: string): string => `${between}<${prefix}${name}>`;
  const close = (name: string): string => `</${prefix}${name}>`;
  const text = (name: string, value: string): string => open(name) + value + close(name);
  const wrap = (name: string, content: string): string => open(name) + content + between + close(name);
  const item = isOpenapi ? itemName(contract, 'Orders') : 'Order';
  const lineItem = isOpenapi ? itemName(contract, 'Lines') : 'Line';
  const lines = (index: number): string =>
    Array.from({ length: 1 + (index % 6) }, (_, line) =>
      wrap(
        lineItem,
        text('Article', `Article number ${line}`) +
          text('Quantity', `${line}`) +
          text('Price', '12.95') +
          text('Note', 'handle with care'),
      ),
    ).join('');
  const orders = Array.from({ length: count }, (_, index) =>
    wrap(
      item,
      text('OrderId', `${900_719_925_474 + index}`) +
        text('Customer', `Sample &amp; Söhne ${index}`) +
        text('Placed', '2026-11-28T07:12:33Z') +
        text('Total', `${index}.50`) +
        text('Paid', 'true') +
        text('State', 'sent') +
        wrap('Lines', lines(first + index)),
    ),
  ).join('');
  const namespace = isOpenapi ? contract.namespaces.types : 'urn:orders';
  const declaration = prefix === '' ? `xmlns="${namespace}"` : `xmlns:${prefix.slice(0, -1)}="${namespace}"`;
  const content = isOpenapi ? wrap('Body', wrap('Orders', orders)) : orders;
  return Buffer.from(`<${prefix}PutOrders ${declaration}>${content}${between}</${prefix}PutOrders>`);
}

export interface RequestRow {
  readonly name: string;
  /** Speed relative to JSON.parse on JSON of the same size in the same run; median of the rounds. */
  readonly ofJsonParse: number;
  readonly bound: number;
}

/** Measures the byte reader and JSON.parse of its output in alternating rounds. */
export function measureRequests(rounds: number): readonly RequestRow[] {
  const screening = readContract(screeningContract).contract;
  const { types, arrays } = screening.namespaces;
  const list = [Buffer.from(subUserRequest(2, types, arrays))];
  const rows = [rowOf('a list of strings, 2 MB', screening, 'UpdateSubUser', list, rounds, 1.2)];
  for (const [kind, contract] of [
    ['OpenAPI', openapiContract()],
    ['imported WSDL', importedContract()],
  ] as const) {
    for (const [style, written] of Object.entries(styles)) {
      const messages = [ordersRequest(contract, 200, 0, written)];
      const bound = style === '' ? 0.8 : 0.6;
      rows.push(rowOf(`200 orders, ${kind}${style}`, contract, 'PutOrders', messages, rounds, bound));
    }
    const small = Array.from({ length: 64 }, (_, index) =>
      ordersRequest(contract, 2, index, styles[''] as Style),
    );
    rows.push(rowOf(`2 kB with varying lists, ${kind}`, contract, 'PutOrders', small, rounds, 0.4));
  }
  return rows;
}

function rowOf(
  name: string,
  contract: Contract,
  operationName: string,
  messages: readonly Buffer[],
  rounds: number,
  bound: number,
): RequestRow {
  const operation = compileContract(contract, requestLimits).operations.get(operationName);
  if (operation === undefined) throw new Error(`expected the operation ${operationName}`);
  const jsons = messages.map((message) => readRequest(operation, message));
  const sizeOf = (all: readonly Buffer[]): number => all.reduce((sum, { length }) => sum + length, 0);
  const times = Math.max(1, Math.round(1e6 / sizeOf(messages)));
  const time = (run: () => unknown): number => {
    const started = performance.now();
    for (let count = 0; count < times; count++) run();
    return performance.now() - started;
  };
  const ratios: number[] = [];
  for (let round = -10; round < rounds; round++) {
    const parsed = time(() => jsons.map((json) => JSON.parse(json.toString()))) / sizeOf(jsons);
    const read = time(() => messages.map((message) => readRequest(operation, message))) / sizeOf(messages);
    if (round >= 0) ratios.push(parsed / read);
  }
  return { name, ofJsonParse: median(ratios), bound };
}

if (import.meta.main)
  for (const { name, ofJsonParse, bound } of measureRequests(25))
    console.log(`${ofJsonParse.toFixed(2)} × JSON.parse (≥ ${bound}): ${name}`);
