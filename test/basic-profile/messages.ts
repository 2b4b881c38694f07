import type { ExecutionContext } from 'ava';
import { namespaces as known } from '../../mappings/contract/model.ts';
import type { EnvelopeParts, HeaderList, Reply } from '../gateway/gateway.ts';
import { type Element, readInfoset } from '../mappings/xml/infoset.ts';
import type { Requirement } from './description.ts';

/** Requirements of the profiles for messages and receivers, each checked by calls of a gateway. */
export interface MessageRequirement extends Requirement {
  /** The only SOAP version that is checked. Undefined: both. */
  readonly version?: '1.1' | '1.2';
  readonly check: (t: ExecutionContext, endpoint: Endpoint) => Promise<unknown>;
}

/** The endpoint of one SOAP version, with functions to call it. */
export interface Endpoint {
  readonly version: '1.1' | '1.2';
  /** Sends a message; by default a valid one. */
  readonly call: (message?: string | Buffer, headers?: HeaderList, method?: string) => Promise<Reply>;
  /** Returns an envelope of the SOAP version; by default one of a valid call. */
  readonly envelope: (parts?: EnvelopeParts) => string;
  /** Content of the Body of a valid call. */
  readonly payload: string;
}

const namespaces = { '1.1': known.soap11, '1.2': known.soap12 } as const;
const senders = { '1.1': 'Client', '1.2': 'Sender' } as const;

const unknownHeader = '<x:h xmlns:x="urn:x" e:mustUnderstand="1"/>';

/** Returns the element in the Body of a reply. */
function payloadOf({ text }: Reply): Element | undefined {
  return readInfoset(text).children.at(-1)?.children[0];
}

/** Checks that the reply is a fault of the SOAP version with the given code and status 500. */
function isFault(t: ExecutionContext, reply: Reply, version: '1.1' | '1.2', code: string): void {
  t.is(reply.status, 500);
  const fault = payloadOf(reply);
  t.is(fault?.name, `{${namespaces[version]}}Fault`);
  const first = fault?.children[0];
  t.is(version === '1.1' ? first?.text : first?.children[0]?.text, `s:${code}`);
}

export const messageRequirements: readonly MessageRequirement[] = [
  {
    id: 'R0001',
    says: 'the description is available on request',
    check: async (t, { call }) => {
      const reply = await call('', {}, 'GET');
      t.is(reply.status, 200);
      t.true(reply.text.includes('<wsdl:definitions'));
    },
  },
  {
    id: 'R9701',
    says: 'an envelope is XML 1.0',
    check: async (t, { call, envelope, version }) => {
      const reply = await call();
      t.true(reply.text.startsWith('<?xml version="1.0" encoding="utf-8"?>'));
      isFault(t, await call(`<?xml version="1.1"?>${envelope()}`), version, senders[version]);
    },
  },
  {
    id: 'R4001',
    says: 'a byte order mark is accepted',
    check: async (t, { call, envelope }) => {
      t.is((await call(`\ufeff${envelope()}`)).status, 200);
      t.is((await call(Buffer.from(`\ufeff${envelope()}`, 'utf16le'))).status, 200);
    },
  },
  {
    id: 'R1008',
    says: 'an envelope has no document type declaration',
    check: async (t, { call, envelope, version }) => {
      isFault(t, await call(`<!DOCTYPE a>${envelope()}`), version, senders[version]);
      t.false((await call()).text.includes('<!DOCTYPE'));
    },
  },
  {
    id: 'R1009',
    says: 'an envelope has no processing instructions',
    check: async (t, { call, envelope, version }) => {
      isFault(t, await call(`<?a?>${envelope()}`), version, senders[version]);
      t.false((await call()).text.slice(5).includes('<?'));
    },
  },
  {
    id: 'R1010',
    says: 'an XML declaration is accepted',
    check: async (t, { call, envelope }) => {
      t.is((await call(`<?xml version="1.0" encoding="utf-8" standalone="yes"?>${envelope()}`)).status, 200);
    },
  },
  {
    id: 'R1012',
    says: 'messages are UTF-8 or UTF-16',
    check: async (t, { call }) => {
      const reply = await call();
      t.true(reply.text.startsWith('<?xml version="1.0" encoding="utf-8"?>'));
    },
  },
  {
    id: 'R1018',
    says: 'the media type states the encoding by its charset',
    check: async (t, { call }) => t.regex((await call()).headers['content-type'] ?? '', /; charset=utf-8$/),
  },
  {
    id: 'R9700',
    says: 'the body of the HTTP message is exactly one envelope',
    check: async (t, { call }) =>
      t.regex((await call()).text, /^<\?xml [^>]*><s:Envelope .*<\/s:Envelope>$/s),
  },
  {
    id: 'R9702',
    says: 'a message has a Content-Type',
    check: async (t, { call }) => t.truthy((await call()).headers['content-type']),
  },
  {
    id: 'R9703',
    version: '1.1',
    says: 'the media type is text/xml',
    check: async (t, { call }) => t.is((await call()).headers['content-type']?.split(';')[0], 'text/xml'),
  },
  {
    id: 'R9980',
    says: 'an envelope has the structure that its version defines',
    check: async (t, { call, version }) => {
      const namespace = namespaces[version];
      const root = readInfoset((await call()).text);
      t.is(root.name, `{${namespace}}Envelope`);
      t.deepEqual(
        root.children.map(({ name }) => name),
        [`{${namespace}}Body`],
      );
    },
  },
  {
    id: 'R9981',
    says: 'Body has at most one child',
    check: async (t, { call, envelope, payload, version }) => {
      t.is(readInfoset((await call()).text).children[0]?.children.length, 1);
      isFault(t, await call(envelope({ body: payload + payload })), version, senders[version]);
    },
  },
  {
    id: 'R1011',
    says: 'nothing follows Body',
    check: async (t, { call, envelope, version }) => {
      const message = envelope().replace('</e:Body>', '</e:Body><x xmlns="urn:x"/>');
      isFault(t, await call(message), version, senders[version]);
    },
  },
  {
    id: 'R1014',
    says: 'children of Body have a namespace',
    check: async (t, { call }) => t.regex(payloadOf(await call())?.name ?? '', /^\{http/),
  },
  {
    id: 'R1032',
    says: 'Envelope, Header and Body have no attributes of the envelope’s namespace',
    check: async (t, { call, envelope }) => {
      const root = readInfoset((await call(envelope({ header: unknownHeader }))).text);
      for (const { attributes } of [root, ...root.children]) t.deepEqual(attributes, []);
    },
  },
  {
    id: 'R1033',
    says: 'the prefix xml is not declared',
    check: async (t, { call }) => t.false((await call()).text.includes('xmlns:xml=')),
  },
  {
    id: 'R1013',
    version: '1.1',
    says: 'mustUnderstand is 0 or 1',
    check: async (t, { call, envelope, version }) => {
      const header = unknownHeader.replace('"1"', '"yes"');
      isFault(t, await call(envelope({ header })), version, senders[version]);
    },
  },
  {
    id: 'R1015',
    says: 'an Envelope of another namespace, or no Envelope, gets a fault',
    check: async (t, { call, envelope, payload, version }) => {
      isFault(t, await call(payload), version, senders[version]);
      const other = envelope().replace(/(xmlns:e=")[^"]*/, '$1urn:another');
      t.is((await call(other)).status, 500);
    },
  },
  {
    id: 'R1017',
    says: 'xsi:type is not required',
    check: async (t, { call }) => {
      t.false((await call()).text.includes('i:type'));
      t.is((await call()).status, 200);
    },
  },
  {
    id: 'R1005',
    says: 'no encodingStyle on elements of the envelope’s namespace',
    check: async (t, { call }) => t.false((await call()).text.includes('encodingStyle')),
  },
  {
    id: 'R1006',
    says: 'no encodingStyle on children of Body',
    check: async (t, { call }) => t.deepEqual(payloadOf(await call())?.attributes, []),
  },
  {
    id: 'R1025',
    says: 'mandatory header blocks are checked before anything is processed',
    check: async (t, { call, envelope, version }) => {
      isFault(t, await call(envelope({ header: unknownHeader })), version, 'MustUnderstand');
    },
  },
  {
    id: 'R1027',
    says: 'an unknown mandatory header block gets a MustUnderstand fault',
    check: async (t, { call, envelope, version }) => {
      isFault(t, await call(envelope({ header: unknownHeader })), version, 'MustUnderstand');
    },
  },
  {
    id: 'R1028',
    says: 'after a fault there is no further processing',
    check: async (t, { call, envelope }) => {
      const reply = await call(envelope({ header: unknownHeader }));
      t.is(readInfoset(reply.text).children.at(-1)?.children.length, 1);
    },
  },
  {
    id: 'R1029',
    says: 'a fault is sent in place of the reply',
    check: async (t, { call, envelope, version }) =>
      isFault(t, await call(envelope({ body: '<x/>' })), version, senders[version]),
  },
  {
    id: 'R1000',
    version: '1.1',
    says: 'a Fault has only faultcode, faultstring, faultactor and detail',
    check: async (t, { call }) => {
      t.deepEqual(
        payloadOf(await call('<x/>'))?.children.map(({ name }) => name),
        ['faultcode', 'faultstring'],
      );
    },
  },
  {
    id: 'R1001',
    version: '1.1',
    says: 'children of Fault have no namespace',
    check: async (t, { call }) => {
      for (const { name } of payloadOf(await call('<x/>'))?.children ?? []) t.false(name.startsWith('{'));
    },
  },
  {
    id: 'R1004',
    version: '1.1',
    says: 'faultcode is a code of SOAP 1.1 or a qualified name of another namespace',
    check: async (t, { call }) => t.is(payloadOf(await call('<x/>'))?.children[0]?.text, 's:Client'),
  },
  {
    id: 'R1031',
    version: '1.1',
    says: 'faultcode has no dots, which would refine a code in SOAP 1.1',
    check: async (t, { call }) => {
      t.notRegex(payloadOf(await call('<x/>'))?.children[0]?.text ?? '.', /\./);
    },
  },
  {
    id: 'R1141',
    says: 'messages use HTTP/1.1 or HTTP/1.0',
    check: async (t, { call }) => t.is((await call()).status, 200),
  },
  {
    id: 'R1132',
    says: 'a request is a POST',
    check: async (t, { call }) => {
      t.is((await call()).status, 200);
      t.is((await call(undefined, {}, 'PUT')).status, 405);
    },
  },
  {
    id: 'R1109',
    version: '1.1',
    says: 'SOAPAction is a quoted string; an unquoted value is accepted too (R1119)',
    check: async (t, { call }) => {
      t.is((await call(undefined, { SOAPAction: '"GetSearch"' })).status, 200);
      t.is((await call(undefined, { SOAPAction: 'GetSearch' })).status, 200);
    },
  },
  {
    id: 'R1127',
    says: 'a receiver does not rely on the action to understand the message',
    check: async (t, { call }) => {
      for (const SOAPAction of ['""', '"urn:anything"'])
        t.is((await call(undefined, { SOAPAction })).status, 200);
      t.is((await call()).status, 200);
    },
  },
  {
    id: 'R2744',
    says: 'SOAPAction equals the soapAction of the description; another operation’s is rejected',
    check: async (t, { call, version }) =>
      isFault(t, await call(undefined, { SOAPAction: '"GetPdf"' }), version, senders[version]),
  },
  {
    id: 'R1124',
    says: 'success is a 2xx status',
    check: async (t, { call }) => t.is((await call()).status, 200),
  },
  {
    id: 'R1111',
    says: 'a reply that is not a fault has status 200',
    check: async (t, { call }) => t.is((await call()).status, 200),
  },
  {
    id: 'R1126',
    says: 'a fault has status 500, in 1.2 too unless soap12FaultStatus changes it',
    check: async (t, { call, version }) => isFault(t, await call('<x/>'), version, senders[version]),
  },
  {
    id: 'R1125',
    says: 'a request that is not valid HTTP gets 4xx',
    check: async (t, { call }) => t.is((await call(undefined, { 'Content-Encoding': 'br' })).status, 415),
  },
  {
    id: 'R1114',
    says: 'a method other than POST gets 405',
    check: async (t, { call }) => t.is((await call(undefined, {}, 'PUT')).status, 405),
  },
  {
    id: 'R1115',
    says: 'an unsupported media type gets 415',
    check: async (t, { call }) => {
      t.is((await call(undefined, { 'Content-Type': 'multipart/mixed; boundary=b' })).status, 415);
    },
  },
  {
    id: 'R1121',
    says: 'the service works without cookies',
    check: async (t, { call }) => {
      const reply = await call();
      t.is(reply.headers['set-cookie'], undefined);
      t.is(reply.status, 200);
    },
  },
  {
    id: 'R2712',
    says: 'the child of Body is the element that the description gives for the message',
    check: async (t, { call }) => {
      t.is(payloadOf(await call())?.name, '{http://schemas.servicestack.net/types}GetSearchResponse');
    },
  },
  {
    id: 'R2724',
    says: 'an invalid message gets a Client fault, or the error reply of its operation (W26)',
    check: async (t, { call, envelope, payload, version }) => {
      isFault(t, await call(envelope({ body: '<Nothing/>' })), version, senders[version]);
      t.is(
        (await call(envelope({ body: payload.replace('<Id>', '<Idd/><Id>') }))).headers['x-status'],
        '400',
      );
    },
  },
  {
    id: 'R2113',
    says: 'no arrayType on the wire',
    check: async (t, { call }) => t.false((await call()).text.includes('arrayType')),
  },
];
