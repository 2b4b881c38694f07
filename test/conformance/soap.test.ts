import test, { type ExecutionContext } from 'ava';
import {
  authentication,
  getSearch,
  sharedGateway,
  soap11Namespace,
  soap12Namespace,
} from '../gateway/gateway.ts';
import { readInfoset } from '../mappings/xml/infoset.ts';

/**
 * Assertions of SOAP 1.2 Part 1 and Part 2 (second edition) and SOAP 1.1 about the structure of a message, as far as
 * they apply to a document/literal service. Each row starts with the clause.
 */

const gateway = await sharedGateway();

/** `read`: the operation succeeds; `refused`: it returns an error (W26); otherwise the code of a fault. */
type Answer = 'read' | 'refused' | 'sender' | 'VersionMismatch' | 'MustUnderstand';
type Row = readonly [clause: string, what: string, message: string | Buffer, answer: Answer];

const next = `${soap12Namespace}/role/next`;
const ultimate = `${soap12Namespace}/role/ultimateReceiver`;
const none = `${soap12Namespace}/role/none`;
const nextActor = 'http://schemas.xmlsoap.org/soap/actor/next';

/** Returns a SOAP 1.2 envelope with the given parts. */
function envelope12(parts: string, attributes = ''): string {
  return `<e:Envelope xmlns:e="${soap12Namespace}"${attributes}>${parts}</e:Envelope>`;
}

const body = `<e:Body>${getSearch}</e:Body>`;

/** Returns a SOAP 1.2 call with one header block that has the given attributes. */
function block12(attributes: string): string {
  return envelope12(`<e:Header><h:b xmlns:h="urn:h"${attributes}/></e:Header>${body}`);
}

const rows12: readonly Row[] = [
  ['Part 1, 5', 'an Envelope with a Body alone', envelope12(body), 'read'],
  [
    'Part 1, 5',
    'an XML declaration before it',
    `<?xml version="1.0" encoding="UTF-8"?>${envelope12(body)}`,
    'read',
  ],
  ['Part 1, 5', 'a document type declaration', `<!DOCTYPE e:Envelope>${envelope12(body)}`, 'sender'],
  ['Part 1, 5', 'a processing instruction before the Envelope', `<?pi x?>${envelope12(body)}`, 'sender'],
  [
    'Part 1, 5',
    'a processing instruction in the Body',
    envelope12(`<e:Body><?pi x?>${getSearch}</e:Body>`),
    'sender',
  ],
  [
    'Part 1, 5',
    'comments everywhere',
    `<!-- a -->${envelope12(`<!-- b --><e:Body><!-- c -->${getSearch}</e:Body><!-- d -->`)}<!-- e -->`,
    'read',
  ],
  [
    'Part 1, 5',
    'blanks between the parts',
    envelope12(`\n  <e:Body>\n    ${getSearch}\n  </e:Body>\n`),
    'read',
  ],
  ['Part 1, 5', 'text between the parts', envelope12(`text${body}`), 'sender'],
  [
    'Part 1, 5',
    'another prefix for the same namespace',
    `<x:Envelope xmlns:x="${soap12Namespace}"><x:Body>${getSearch}</x:Body></x:Envelope>`,
    'read',
  ],
  [
    'Part 1, 5',
    'the default namespace for the envelope',
    `<Envelope xmlns="${soap12Namespace}"><Body>${getSearch}</Body></Envelope>`,
    'read',
  ],
  [
    'Part 1, 5.1',
    'a root of another name',
    `<e:Message xmlns:e="${soap12Namespace}">${body}</e:Message>`,
    'sender',
  ],
  [
    'Part 1, 5.1',
    'a root of no namespace',
    `<Envelope><Body>${getSearch}</Body></Envelope>`,
    'VersionMismatch',
  ],
  [
    'Part 1, 5.4.7',
    'an Envelope of an unknown version',
    envelope12(body).replaceAll(soap12Namespace, 'urn:soap:13'),
    'VersionMismatch',
  ],
  ['Part 1, 5.1', 'no Body', envelope12(''), 'sender'],
  ['Part 1, 5.1', 'a Header and no Body', envelope12('<e:Header/>'), 'sender'],
  ['Part 1, 5.1', 'two Bodies', envelope12(body + body), 'sender'],
  ['Part 1, 5.1', 'two Headers', envelope12(`<e:Header/><e:Header/>${body}`), 'sender'],
  ['Part 1, 5.1', 'a Header after the Body', envelope12(`${body}<e:Header/>`), 'sender'],
  ['Part 1, 5.1', 'an element after the Body', envelope12(`${body}<x xmlns="urn:x"/>`), 'sender'],
  [
    'Part 1, 5.1',
    'an element before the Header',
    envelope12(`<x xmlns="urn:x"/><e:Header/>${body}`),
    'sender',
  ],
  ['Part 1, 5.1', 'a Body of no namespace', envelope12(`<Body>${getSearch}</Body>`), 'sender'],
  [
    'Part 1, 5.1',
    'a Body of SOAP 1.1',
    envelope12(`<o:Body xmlns:o="${soap11Namespace}">${getSearch}</o:Body>`),
    'sender',
  ],
  [
    'Part 1, 5.1',
    'an attribute with a namespace on the Envelope',
    envelope12(body, ' xmlns:x="urn:x" x:a="b"'),
    'read',
  ],
  ['Part 1, 5.1', 'an attribute without a namespace on the Envelope', envelope12(body, ' a="b"'), 'sender'],
  ['Part 1, 5.2', 'an empty Header', envelope12(`<e:Header/>${body}`), 'read'],
  [
    'Part 1, 5.2',
    'an attribute with a namespace on the Header',
    envelope12(`<e:Header xmlns:x="urn:x" x:a="b"/>${body}`),
    'read',
  ],
  ['Part 1, 5.2', 'text in the Header', envelope12(`<e:Header>text</e:Header>${body}`), 'sender'],
  [
    'Part 1, 5.2.1',
    'a header block with content, attributes and blocks of its own',
    envelope12(`<e:Header><h:b xmlns:h="urn:h" a="b">text<h:c/></h:b></e:Header>${body}`),
    'read',
  ],
  [
    'Part 1, 5.2.1',
    'two header blocks of one name',
    envelope12(`<e:Header><h:b xmlns:h="urn:h"/><h:b xmlns:h="urn:h"/></e:Header>${body}`),
    'read',
  ],
  ['Part 1, 2.4', 'an unknown header block that needn’t be understood', block12(''), 'read'],
  ['Part 1, 5.2.3', 'mustUnderstand "true"', block12(' e:mustUnderstand="true"'), 'MustUnderstand'],
  ['Part 1, 5.2.3', 'mustUnderstand "1"', block12(' e:mustUnderstand="1"'), 'MustUnderstand'],
  ['Part 1, 5.2.3', 'mustUnderstand "false"', block12(' e:mustUnderstand="false"'), 'read'],
  ['Part 1, 5.2.3', 'mustUnderstand "0"', block12(' e:mustUnderstand="0"'), 'read'],
  ['Part 1, 5.2.3', 'mustUnderstand that is no boolean', block12(' e:mustUnderstand="wrong"'), 'sender'],
  [
    'Part 1, 5.2.3',
    'mustUnderstand that is no boolean behind a block that is not understood',
    envelope12(
      `<e:Header><h:a xmlns:h="urn:h" e:mustUnderstand="1"/><h:b xmlns:h="urn:h" e:mustUnderstand="wrong"/></e:Header>${body}`,
    ),
    'sender',
  ],
  ['Part 1, 5.2.3', 'mustUnderstand without a namespace', block12(' mustUnderstand="true"'), 'read'],
  [
    'Part 1, 5.2.3',
    'mustUnderstand of SOAP 1.1',
    block12(` xmlns:o="${soap11Namespace}" o:mustUnderstand="1"`),
    'read',
  ],
  [
    'Part 1, 2.2',
    'role next, to be understood',
    block12(` e:mustUnderstand="true" e:role="${next}"`),
    'MustUnderstand',
  ],
  [
    'Part 1, 2.2',
    'role ultimateReceiver, to be understood',
    block12(` e:mustUnderstand="true" e:role="${ultimate}"`),
    'MustUnderstand',
  ],
  [
    'Part 1, 5.2.2',
    'an empty role, to be understood',
    block12(' e:mustUnderstand="true" e:role=""'),
    'MustUnderstand',
  ],
  [
    'Part 1, 2.2',
    'role none, to be understood',
    block12(` e:mustUnderstand="true" e:role="${none}"`),
    'read',
  ],
  [
    'Part 1, 2.2',
    'a role that is another node’s, to be understood',
    block12(' e:mustUnderstand="true" e:role="urn:another"'),
    'read',
  ],
  ['Part 1, 5.2.4', 'relay on a block that is not understood', block12(' e:relay="true"'), 'read'],
  [
    'Part 1, 2.6',
    'one block to be understood among others',
    envelope12(
      `<e:Header><h:a xmlns:h="urn:h"/><h:b xmlns:h="urn:h" e:mustUnderstand="1"/></e:Header>${body}`,
    ),
    'MustUnderstand',
  ],
  ['Part 1, 5.3', 'an empty Body', envelope12('<e:Body/>'), 'sender'],
  [
    'Part 1, 5.3',
    'two elements in the Body',
    envelope12(`<e:Body>${getSearch}${getSearch}</e:Body>`),
    'sender',
  ],
  [
    'Part 1, 5.3',
    'an attribute with a namespace on the Body',
    envelope12(`<e:Body xmlns:x="urn:x" x:a="b">${getSearch}</e:Body>`),
    'read',
  ],
  [
    'Part 1, 5.4',
    'a Fault as a request',
    envelope12('<e:Body><e:Fault><e:Code><e:Value>e:Sender</e:Value></e:Code></e:Fault></e:Body>'),
    'sender',
  ],
  ['Part 2, 7.5', 'UTF-16 with a mark', Buffer.from(`\ufeff${envelope12(body)}`, 'utf16le'), 'read'],
  ['Part 2, 7.5', 'XML 1.1', `<?xml version="1.1"?>${envelope12(body)}`, 'sender'],
];

function envelope11(parts: string, attributes = ''): string {
  return `<e:Envelope xmlns:e="${soap11Namespace}"${attributes}>${parts}</e:Envelope>`;
}

function block11(attributes: string): string {
  return envelope11(`<e:Header><h:b xmlns:h="urn:h"${attributes}/></e:Header>${body}`);
}

const rows11: readonly Row[] = [
  ['4', 'an Envelope with a Body alone', envelope11(body), 'read'],
  ['3', 'a document type declaration', `<!DOCTYPE e:Envelope>${envelope11(body)}`, 'sender'],
  ['3', 'a processing instruction', `<?pi x?>${envelope11(body)}`, 'sender'],
  [
    '4.1.2',
    'an Envelope of an unknown version',
    envelope11(body).replaceAll(soap11Namespace, 'urn:soap:13'),
    'VersionMismatch',
  ],
  ['4', 'an attribute without a namespace on the Envelope', envelope11(body, ' a="b"'), 'read'],
  [
    '4.1.1',
    'encodingStyle, whose encoding is not used',
    envelope11(body, ' e:encodingStyle="http://schemas.xmlsoap.org/soap/encoding/"'),
    'read',
  ],
  ['4', 'a Header after the Body', envelope11(`${body}<e:Header/>`), 'sender'],
  ['4', 'no Body', envelope11('<e:Header/>'), 'sender'],
  ['4.2', 'an unknown header block that needn’t be understood', block11(''), 'read'],
  ['4.2.3', 'mustUnderstand "1"', block11(' e:mustUnderstand="1"'), 'MustUnderstand'],
  ['4.2.3', 'mustUnderstand "0"', block11(' e:mustUnderstand="0"'), 'read'],
  ['4.2.3', 'mustUnderstand that is none', block11(' e:mustUnderstand="yes"'), 'sender'],
  [
    '4.2.3',
    'mustUnderstand that is none behind a block that is not understood',
    envelope11(
      `<e:Header><h:a xmlns:h="urn:h" e:mustUnderstand="1"/><h:b xmlns:h="urn:h" e:mustUnderstand="yes"/></e:Header>${body}`,
    ),
    'sender',
  ],
  [
    '4.2.2',
    'actor next, to be understood',
    block11(` e:mustUnderstand="1" e:actor="${nextActor}"`),
    'MustUnderstand',
  ],
  [
    '4.2.2',
    'an actor that is another node’s, to be understood',
    block11(' e:mustUnderstand="1" e:actor="urn:another"'),
    'read',
  ],
  ['4.3', 'two elements in the Body', envelope11(`<e:Body>${getSearch}${getSearch}</e:Body>`), 'sender'],
  ['4.3', 'an empty Body', envelope11('<e:Body/>'), 'sender'],
  [
    '5',
    'an array of SOAP’s encoding',
    envelope11(
      `<e:Body><GetSearch xmlns="http://schemas.servicestack.net/types" xmlns:c="http://schemas.xmlsoap.org/soap/encoding/">${authentication}<Request c:arrayType="x[1]"/></GetSearch></e:Body>`,
    ),
    'refused',
  ],
];

const namespaces = { '1.1': soap11Namespace, '1.2': soap12Namespace } as const;
const contentTypes = {
  '1.1': 'text/xml; charset=utf-8',
  '1.2': 'application/soap+xml; charset=utf-8',
} as const;
type Version = keyof typeof namespaces;

/**
 * Returns the fault code of a reply, or undefined if it is not a fault. Checks the fault's structure against its
 * clause.
 */
function faultCode(t: ExecutionContext, text: string, version: Version): string | undefined {
  const namespace = `{${namespaces[version]}}`;
  const envelope = readInfoset(text);
  t.is(envelope.name, `${namespace}Envelope`);
  const fault = envelope.children.at(-1)?.children[0];
  if (fault?.name !== `${namespace}Fault`) return undefined;
  t.is(envelope.children.at(-1)?.children.length, 1);
  const names = fault.children.map(({ name }) => name);
  if (version === '1.1') {
    // SOAP 1.1, 4.4: elements without namespace, in this order; no detail, since the Body was not processed
    t.deepEqual(names, ['faultcode', 'faultstring']);
    return fault.children[0]?.text;
  }
  // Part 1, 5.4: Code, then Reason with a language
  t.deepEqual(names, [`${namespace}Code`, `${namespace}Reason`]);
  const [code, reason] = fault.children;
  t.is(code?.children[0]?.name, `${namespace}Value`);
  t.deepEqual(
    reason?.children.map(({ name, attributes }) => [name, attributes]),
    [[`${namespace}Text`, ['{http://www.w3.org/XML/1998/namespace}lang=en']]],
  );
  return code?.children[0]?.text;
}

const codes = {
  sender: { '1.1': 's:Client', '1.2': 's:Sender' },
  VersionMismatch: { '1.1': 's:VersionMismatch', '1.2': 's:VersionMismatch' },
  MustUnderstand: { '1.1': 's:MustUnderstand', '1.2': 's:MustUnderstand' },
} as const;

const says = {
  read: 'is read',
  refused: 'is an error of the operation',
  sender: 'is the caller’s fault',
  VersionMismatch: 'is a VersionMismatch',
  MustUnderstand: 'is a MustUnderstand fault',
} as const satisfies Record<Answer, string>;

for (const [version, rows] of [
  ['1.1', rows11],
  ['1.2', rows12],
] as const) {
  for (const [clause, what, message, answer] of rows) {
    test.serial(`SOAP ${version}, ${clause}: ${what} ${says[answer]}`, async (t) => {
      const before = gateway.hits.length;
      const reply = await gateway.send('POST', version === '1.1' ? '/soap11' : '/soap12', {}, message);
      t.is(reply.headers['content-type'], contentTypes[version]);
      t.is(gateway.hits.length - before, answer === 'read' ? 1 : 0);
      const code = faultCode(t, reply.text, version);
      if (answer === 'read' || answer === 'refused') {
        t.is(reply.status, 200);
        t.is(reply.headers['x-status'], answer === 'read' ? undefined : '400');
        t.is(code, undefined);
      } else {
        t.is(reply.status, 500);
        t.is(code, codes[answer][version]);
      }
    });
  }
}

test('SOAP 1.2, Part 1, 5.4.8: MustUnderstand faults name the block in a NotUnderstood block', async (t) => {
  const reply = await gateway.send('POST', '/soap12', {}, block12(' e:mustUnderstand="true"'));
  const header = readInfoset(reply.text).children[0];
  t.is(header?.name, `{${soap12Namespace}}Header`);
  t.is(header?.children[0]?.name, `{${soap12Namespace}}NotUnderstood`);
  t.regex(header?.children[0]?.attributes[0] ?? '', /^qname=\w+:b$/);
  t.regex(reply.text, /xmlns:\w+="urn:h"/);
});

test('SOAP 1.2, Part 1, 5.4.7: VersionMismatch lists the supported versions in an Upgrade block', async (t) => {
  const reply = await gateway.send(
    'POST',
    '/soap12',
    {},
    envelope12(body).replaceAll(soap12Namespace, 'urn:soap:13'),
  );
  const upgrade = readInfoset(reply.text).children[0]?.children[0];
  t.is(upgrade?.name, `{${soap12Namespace}}Upgrade`);
  t.deepEqual(
    upgrade?.children.map(({ name, attributes }) => [name, attributes]),
    [
      [`{${soap12Namespace}}SupportedEnvelope`, ['qname=e2:Envelope']],
      [`{${soap12Namespace}}SupportedEnvelope`, ['qname=e1:Envelope']],
    ],
  );
});

test('SOAP 1.2, Part 2, 7.5: accepts the action parameter of application/soap+xml', async (t) => {
  const type = 'application/soap+xml; charset=utf-8; action="GetSearch"';
  const reply = await gateway.send('POST', '/soap12', { 'Content-Type': type }, envelope12(body));
  t.is(reply.status, 200);
});

test('SOAP 1.2, Part 2, 7.4: GET on an endpoint returns the description of the service', async (t) => {
  const reply = await gateway.send('GET', '/soap12');
  t.is(reply.status, 200);
  t.true(reply.text.includes('<wsdl:definitions'));
});

test('SOAP 1.2, Part 2, 7.4: 405 for a method that the binding does not define', async (t) => {
  const reply = await gateway.send('PUT', '/soap12', {}, envelope12(body));
  t.is(reply.status, 405);
  t.regex(reply.headers.allow ?? '', /POST/);
});
