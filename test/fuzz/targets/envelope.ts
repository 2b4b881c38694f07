import { Fault, writeFault } from '../../../gateway/protocols/soap/faults.ts';
import { soap11, soap12 } from '../../../gateway/protocols/soap/versions.ts';
import { compileContract } from '../../../mappings/compile.ts';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import { namespaces } from '../../../mappings/contract/model.ts';
import { readContract, screeningContract } from '../../../mappings/loader/load.ts';
import { decodeXml } from '../../../mappings/xml/decode.ts';
import { UnsupportedCharset, XmlError } from '../../../mappings/xml/error.ts';
import type { Element } from '../../mappings/xml/infoset.ts';
import { createSoapReader, type SoapCall } from '../../read-soap.ts';
import { readByLibxml2 } from '../libxml2.ts';
import type { Random } from '../random.ts';
import { shapeOf, target } from '../target.ts';

// this oracle does not implement the rules of WS-Security
const contract = { ...readContract(screeningContract).contract, wsse: undefined };
const compiled = compileContract(contract, defaultLimits);
const readSoap = createSoapReader(compiled);
const { types } = compiled.contract.namespaces;

export type Outcome =
  | { readonly kind: 'not decoded' }
  | { readonly kind: 'fault'; readonly text: string; readonly fault: Fault; readonly written: string }
  | {
      readonly kind: 'call';
      readonly text: string;
      readonly call: SoapCall;
      /** The body of the upstream call, or undefined if a member is invalid. */
      readonly body: string | undefined;
    };

const credentials = { all: new Map([['apiUserId', 'u']]), fromHeaders: new Set<string>() };

/**
 * Reads bytes as a SOAP request. The oracle is a second implementation of the envelope's rules, on libxml2's infoset.
 */
export const envelope = target<Outcome>({
  name: 'envelope',
  words: [
    ...[
      '<e:Header>',
      '</e:Header>',
      '<e:Header/>',
      '<e:Body>',
      '</e:Body>',
      '<e:Body/>',
      '</e:Envelope>',
      'Envelope',
    ],
    ...[
      '<GetSearch>',
      '</GetSearch>',
      '<Request>',
      '</Request>',
      '<Id>1</Id>',
      '<x/>',
      '<!-- c -->',
      'text',
      ' ',
    ],
    ...[
      '<DeleteClient/>',
      '<Authentication>',
      '<SubUserName>é</SubUserName>',
      ' i:nil="true"',
      ' i:type="x:string"',
    ],
    ...[
      ' e:mustUnderstand="1"',
      ' e:mustUnderstand="true"',
      ' e:mustUnderstand="2"',
      ' e:actor=""',
      ' e:role=""',
    ],
    ...[
      ' e:encodingStyle=""',
      ' a="b"',
      ' href="#1"',
      '<w:Action>',
      '</w:Action>',
      'GetSearch',
      'GetPdf',
      '&#xD83D;',
    ],
    ...[
      '<w:ReplyTo><w:Address>',
      '</w:Address></w:ReplyTo>',
      '&#xB;',
      '<![CDATA[',
      ']]>',
      '&amp;',
      '<!DOCTYPE a>',
    ],
    ...[
      'http://www.w3.org/2003/05/soap-envelope/role/none',
      'http://www.w3.org/2003/05/soap-envelope/role/next',
    ],
    ...[
      'http://schemas.xmlsoap.org/soap/actor/next',
      'http://www.w3.org/2005/08/addressing/anonymous',
      'urn:x',
    ],
    ...Object.values(namespaces),
  ],
  make: makeEnvelope,
  judgeOneOf: 16,
  run: (input) => {
    let text: string;
    try {
      text = decodeXml(input, undefined);
    } catch (error) {
      if (error instanceof XmlError || error instanceof UnsupportedCharset) return { kind: 'not decoded' };
      throw error;
    }
    try {
      const call = readSoap(input, undefined, soap11, []);
      const { reading } = call.input;
      const request =
        reading.problems.length > 0 ? undefined : call.operation.request(call.input, credentials);
      return { kind: 'call', text, call, body: request?.body?.toString() };
    } catch (error) {
      if (error instanceof Fault)
        return { kind: 'fault', text, fault: error, written: writeFault(error, 'id') };
      throw error;
    }
  },
  kind: (outcome) => {
    if (outcome.kind === 'not decoded') return outcome.kind;
    if (outcome.kind === 'call') {
      const { operation, input } = outcome.call;
      const codes = new Set(input.reading.problems.map(({ code }) => code));
      return `${operation.operation.name} ${[...codes].toSorted().join(' ')}`;
    }
    const { version, code, message } = outcome.fault;
    return `${version.name} ${code} ${shapeOf(message)}`;
  },
  judge: (_, outcome) => {
    if (outcome.kind === 'not decoded') return undefined;
    if (outcome.kind === 'fault') return judgeFault(outcome);
    return judgeCall(outcome);
  },
});

/**
 * Returns true for documents that the gateway rejects although libxml2 reads them: DTDs, processing instructions, XML
 * 1.1, and limits.
 */
function isStricter({ cause, message }: Fault): boolean {
  if (!(cause instanceof XmlError)) return /^more than \d+ header blocks$|^Header longer than/.test(message);
  return cause.limit !== undefined || /no DTD|no processing instruction|version 1\.0/.test(message);
}

function judgeFault({ text, fault, written }: Extract<Outcome, { kind: 'fault' }>): string | undefined {
  const told = readByLibxml2(written);
  if (told.kind === 'refused') return `a fault that is not well-formed: ${told.refusal}`;
  if (isStricter(fault)) return undefined;
  const strictly = readByLibxml2(text);
  if (strictly.kind === 'refused' && fault.code === 'sender') return undefined;
  const reading = strictly.kind === 'refused' ? readByLibxml2(withoutQuirks(text)) : strictly;
  if (reading.kind === 'alone') return undefined;
  if (reading.kind === 'refused') return `expected sender, got ${fault.code}`;
  if (fault.cause instanceof XmlError) return `libxml2 reads it, we: ${fault.message}`;
  const expected = expectedOf(reading.root);
  const got = `${fault.version.name} ${fault.code}`;
  return expected === got ? undefined : `expected ${expected}, got ${got}: ${fault.message}`;
}

/** Returns the document in a form that libxml2 reads: characters allowed by the two exceptions of W10 are replaced. */
function withoutQuirks(text: string): string {
  return text.replace(/>[^<]*/g, (piece) =>
    piece
      .replace(/&#(?:x([\da-fA-F]+)|(\d+));/g, (reference, hexadecimal: string | undefined, decimal) => {
        const code = hexadecimal === undefined ? Number(decimal) : Number.parseInt(hexadecimal, 16);
        if (code >= 0xd800 && code <= 0xdfff) return String.fromCharCode(code);
        if (code === 0xfffe || code === 0xffff) return 'x';
        return code < 0x20 && code !== 9 && code !== 10 && code !== 13 ? 'x' : reference;
      })
      .replace(/\p{Surrogate}/gu, '&#xD800;'),
  );
}

function judgeCall({ text, call, body }: Extract<Outcome, { kind: 'call' }>): string | undefined {
  if (body !== undefined) {
    try {
      JSON.parse(body);
    } catch (error) {
      return `a body that is no JSON: ${String(error)}`;
    }
  }
  const reading = readByLibxml2(call.input.reading.illegalReferences > 0 ? withoutQuirks(text) : text);
  if (reading.kind === 'alone') return undefined;
  if (reading.kind === 'refused') return `libxml2 refuses what we read: ${reading.refusal}`;
  const expected = expectedOf(reading.root);
  const got = `${call.version.name} ${call.operation.operation.name}`;
  return expected === got ? undefined : `expected ${expected}, got ${got}`;
}

/** Returns the version and operation of an envelope, or its expected fault (W3, W4, W28, W41). */
function expectedOf(root: Element): string {
  if (localOf(root) !== 'Envelope') return '1.1 sender';
  const version = [soap11, soap12].find(({ namespace }) => root.name === `{${namespace}}Envelope`);
  if (version === undefined) return '1.1 VersionMismatch';
  const { name, namespace } = version;
  const sender = `${name} sender`;
  if (version === soap12 && root.attributes.some((attribute) => !attribute.startsWith('{'))) return sender;
  if (root.stray) return sender;
  const parts = root.children.map((child) => child.name.replace(`{${namespace}}`, ''));
  const hasHeader = parts[0] === 'Header';
  if (parts.slice(hasHeader ? 1 : 0).join() !== 'Body') return sender;
  const body = root.children.at(-1);
  const payload = body?.children[0];
  if (payload?.name === `{${namespaces.xenc}}EncryptedData`) return `${name} UnsupportedSecurityToken`;
  if (body === undefined || payload === undefined || body.stray || body.children.length > 1) return sender;
  const operation = localOf(payload);
  if (!compiled.operations.has(operation) || ![operation, `{${types}}${operation}`].includes(payload.name)) {
    return sender;
  }
  const header = hasHeader ? root.children[0] : undefined;
  if (header === undefined) return `${name} ${operation}`;
  if (header.stray || /[^ \t\r\n]/.test(header.text ?? '')) return sender;
  const faults = header.children.flatMap((block) => faultOfBlock(block, version, operation));
  // a wrong action (W43) or an invalid mustUnderstand takes precedence over blocks that must be understood
  const isSender = faults.some((fault) => fault === 'spoofed' || fault === 'sender');
  return `${name} ${isSender ? 'sender' : (faults[0] ?? operation)}`;
}

const addressing: readonly string[] = [namespaces.addressing10, namespaces.addressing2004];
const addressingNames = ['Action', 'MessageID', 'To', 'From', 'ReplyTo', 'FaultTo', 'RelatesTo'];
const anonymous = [
  `${namespaces.addressing10}/anonymous`,
  `${namespaces.addressing10}/none`,
  `${namespaces.addressing2004}/role/anonymous`,
];

function faultOfBlock(block: Element, version: typeof soap11, operation: string): string[] {
  const local = localOf(block);
  const namespace = block.name === local ? '' : block.name.slice(1, block.name.indexOf('}'));
  const flag = attributeOf(block, version.namespace, 'mustUnderstand');
  if (flag !== undefined && !['0', '1', 'true', 'false'].includes(flag)) return ['sender'];
  const role = attributeOf(block, version.namespace, version.roleAttribute) ?? '';
  if (role !== '' && !version.ourRoles.includes(role)) return [];
  const must = flag === '1' || flag === 'true';
  if (!addressing.includes(namespace) || !addressingNames.includes(local)) {
    return must && namespace !== namespaces.addressingNone ? ['MustUnderstand'] : [];
  }
  if (local === 'Action') {
    const named = trim(block.text ?? '').replace(/^.*[/#]/s, '');
    return block.children.length === 0 && named !== operation && compiled.operations.has(named)
      ? ['spoofed']
      : [];
  }
  if (!must || (local !== 'ReplyTo' && local !== 'FaultTo')) return [];
  const elsewhere = block.children.some(
    (child) => child.name === `{${namespace}}Address` && !anonymous.includes(trim(child.text ?? '')),
  );
  return elsewhere ? ['OnlyAnonymousAddressSupported'] : [];
}

function attributeOf({ attributes }: Element, namespace: string, local: string): string | undefined {
  const start = `{${namespace}}${local}=`;
  const found = attributes.find((attribute) => attribute.startsWith(start));
  return found === undefined ? undefined : trim(found.slice(start.length));
}

function localOf({ name }: Element): string {
  return name.slice(name.indexOf('}') + 1);
}

function trim(text: string): string {
  return text.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '');
}

function makeEnvelope(random: Random): string {
  const namespace = random.pick(
    namespaces.soap11,
    namespaces.soap12,
    random.once(8) ? 'urn:x' : namespaces.soap12,
  );
  const flags = (): string =>
    random.pick('', ' e:mustUnderstand="1"', ' e:mustUnderstand="0"', ' e:mustUnderstand=" true "') +
    random.pick('', '', ' e:actor=""', ` e:role="${namespaces.soap12}/role/next"`, ' e:actor="urn:other"');
  const block = (): string =>
    random.pick(
      `<h xmlns="urn:h"${flags()}/>`,
      `<h${flags()}>text<x/></h>`,
      `<w:Action${flags()}>${random.pick('GetSearch', 'urn:x#GetPdf', 'GetPdf')}</w:Action>`,
      `<w:MessageID${flags()}> urn:1 </w:MessageID>`,
      `<w:ReplyTo${flags()}><w:Address>${random.pick(`${namespaces.addressing10}/anonymous`, 'http://elsewhere.example')}</w:Address></w:ReplyTo>`,
    );
  const header = random.once(2) ? '' : `<e:Header>${random.many(3, block)}</e:Header>`;
  const attribute = random.once(12) ? ' a="b"' : '';
  const between = random.pick('', '', '\n', '<!-- c -->', random.once(9) ? 'x' : '');
  return `<e:Envelope xmlns:e="${namespace}" xmlns:w="${random.pick(...addressingPair)}" xmlns:i="${namespaces.xsi}"${attribute}>${header}${between}<e:Body>${between}${makePayload(random)}</e:Body>${random.once(20) ? '<x/>' : ''}</e:Envelope>`;
}

const addressingPair = [namespaces.addressing10, namespaces.addressing2004] as const;

function makePayload(random: Random): string {
  const name = random.pick(
    'GetSearch',
    'GetSearch',
    'UpdateSubUser',
    'RenewAllPepSearches',
    'GetEulaStatus',
    'Nothing',
  );
  const value = (): string =>
    random.pick('1', ' x ', '', 'é漢', 'true', '2026-01-02T03:04:05', '&lt;', '9'.repeat(30));
  const member = (): string => {
    const local = random.pick(
      'Id',
      'SubUserName',
      'OnlyShowUnresolvedResults',
      'RenewalDate',
      'Nothing',
      'Permissions',
    );
    const attribute = random.pick('', '', '', ' i:nil="true"', ' i:nil="0"', ' a="b"');
    return `<${local}${attribute}>${value()}</${local}>`;
  };
  const authentication = `<Authentication><ApiUserId>${value()}</ApiUserId></Authentication>`;
  const parts = [
    authentication,
    `<Request>${random.many(3, member)}</Request>`,
    random.once(9) ? member() : '',
  ];
  if (random.once(2)) parts.reverse();
  return `<${name} xmlns="${random.once(9) ? 'urn:x' : types}">${parts.join('')}</${name}>`;
}
