import { createHash } from 'node:crypto';
import { checkDigest } from '../../../gateway/call/digest.ts';
import { Fault, isSecurityCode, writeFault } from '../../../gateway/protocols/soap/faults.ts';
import { soap11 } from '../../../gateway/protocols/soap/versions.ts';
import { compileContract } from '../../../mappings/compile.ts';
import type { Wsse } from '../../../mappings/contract/credentials.ts';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import { namespaces } from '../../../mappings/contract/model.ts';
import { readContract, screeningContract } from '../../../mappings/loader/load.ts';
import { UnsupportedCharset, XmlError } from '../../../mappings/xml/error.ts';
import type { Element } from '../../mappings/xml/infoset.ts';
import { createSoapReader, type ReadSoap, type SoapCall } from '../../read-soap.ts';
import { readByLibxml2 } from '../libxml2.ts';
import type { Random } from '../random.ts';
import { shapeOf, target } from '../target.ts';

const { wsse, wsse11, wsu } = namespaces;
const profile = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-username-token-profile-1.0';
const base64Type =
  'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-soap-message-security-1.0#Base64Binary';
/** Current time of the tests: 2026-11-22T06:00:00Z. */
const now = Date.UTC(2026, 10, 22, 6);
const secrets = new Map([['demo', 'demo-key']]);

const settings = {
  refused: { digest: 'refuse', timestamp: 'optional', unverified: [] },
  checked: { digest: 'secrets', timestamp: 'optional', unverified: [] },
  passed: {
    digest: { password: 'apiUserKey', nonce: 'nonce', created: 'created' },
    timestamp: 'required',
    unverified: ['Signature', 'BinarySecurityToken'],
  },
} as const satisfies Record<string, Omit<Wsse, 'username' | 'password'>>;

const { contract } = readContract(screeningContract);
/** Settings that read a UsernameToken. */
type TokenSettings = Wsse & { readonly username: string; readonly password: string };

const readers = Object.entries(settings).map(
  ([name, setting]): readonly [string, TokenSettings, ReadSoap] => {
    const read: TokenSettings = { username: 'apiUserId', password: 'apiUserKey', ...setting };
    return [name, read, createSoapReader(compileContract({ ...contract, wsse: read }, defaultLimits))];
  },
);
const { types } = contract.namespaces;

/** Result of reading a message. */
type Outcome =
  | { readonly kind: 'call'; readonly call: SoapCall }
  | { readonly kind: 'fault'; readonly fault: Fault; readonly written: string };

/** Returns a message with this content of the Header. */
function messageOf(header: string): string {
  return `<e:Envelope xmlns:e="${namespaces.soap11}" xmlns:o="${wsse}" xmlns:u="${wsu}" xmlns:o11="${wsse11}" xmlns:d="http://www.w3.org/2000/09/xmldsig#"><e:Header>${header}</e:Header><e:Body><GetEulaStatus xmlns="${types}"/></e:Body></e:Envelope>`;
}

/**
 * Reads the content of a SOAP Header with contracts that refuse, check and pass digests. The oracle is a second
 * implementation of W46 to W53.
 */
export const security = target<readonly Outcome[] | undefined>({
  name: 'security',
  words: [
    ...[
      '<o:Security>',
      '</o:Security>',
      '<o:UsernameToken>',
      '</o:UsernameToken>',
      '<u:Timestamp>',
      '</u:Timestamp>',
    ],
    ...[
      '<u:Created>',
      '</u:Created>',
      '<u:Expires>',
      '</u:Expires>',
      '<o:Nonce>',
      '</o:Nonce>',
      '<o:Username>',
    ],
    ...[
      '</o:Username>',
      '<o:Password>',
      '</o:Password>',
      ' Type="',
      ' EncodingType="',
      '<d:Signature/>',
      '<!-- c -->',
    ],
    ...['2026-11-22T06:00:00Z', '2026-11-22T07:00:00+01:00', ' e:mustUnderstand="1"', ' e:actor="urn:other"'],
    ...[
      `${profile}#PasswordText`,
      `${profile}#PasswordDigest`,
      base64Type,
      'demo',
      'demo-key',
      '&#32;',
      '<![CDATA[',
      ']]>',
    ],
  ],
  make: makeHeader,
  judgeOneOf: 8,
  readings: readers.length,
  run: (input) => {
    const document = Buffer.from(messageOf(input.toString('utf8')));
    const { now: clock } = Date;
    const { uptime } = process;
    Date.now = () => now;
    process.uptime = () => 86_400; // a digest from before the start would be rejected (W49)
    try {
      return readers.map(([, , read]) => outcomeOf(read, document));
    } catch (error) {
      if (error instanceof UnsupportedCharset) return undefined;
      throw error;
    } finally {
      Date.now = clock;
      process.uptime = uptime;
    }
  },
  kind: (outcomes) =>
    (outcomes ?? [])
      .map((outcome) => {
        if (outcome.kind === 'call') return outcome.call.header?.security?.token ?? 'nothing';
        return `${outcome.fault.code} ${shapeOf(outcome.fault.message)}`;
      })
      .join('; '),
  judge: (input, outcomes) => {
    if (outcomes === undefined) return undefined;
    const reading = readByLibxml2(messageOf(input.toString('utf8')));
    const header = reading.kind === 'read' ? headerOf(reading.root) : undefined;
    if (header === undefined) return undefined; // judged by the target `envelope`
    for (const [index, [name, setting]] of readers.entries()) {
      const outcome = outcomes[index];
      if (outcome === undefined || isOverLimit(outcome)) continue;
      const expected = expectedOf(header, setting);
      const got = outcome.kind === 'call' ? gotOf(outcome.call) : outcome.fault.code;
      if (expected !== undefined && expected !== got) return `${name}: expected ${expected}, got ${got}`;
      const leak = outcome.kind === 'fault' ? leakOf(outcome, header) : undefined;
      if (leak !== undefined) return `${name}: ${leak}`;
    }
    return undefined;
  },
});

function outcomeOf(read: ReadSoap, document: Buffer): Outcome {
  try {
    return { kind: 'call', call: read(document, undefined, soap11, []) };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { kind: 'fault', fault: error, written: writeFault(error, 'id') };
  }
}

function isOverLimit(outcome: Outcome): boolean {
  if (outcome.kind === 'call') return false;
  const { cause, message } = outcome.fault;
  return cause instanceof XmlError || /^more than \d+ header blocks$|^Header longer than/.test(message);
}

/** Returns the Header if only the Header of the generated message was changed, and it contains only Security blocks. */
function headerOf(root: Element): Element | undefined {
  const [header, body, ...more] = root.children;
  const isOurs =
    header?.name === `{${namespaces.soap11}}Header` &&
    body?.name === `{${namespaces.soap11}}Body` &&
    more.length === 0 &&
    !root.stray &&
    body.children.length === 1 &&
    body.children[0]?.name === `{${types}}GetEulaStatus` &&
    body.children[0].children.length === 0;
  if (!isOurs || header.stray || /[^ \t\r\n]/.test(header.text ?? '')) return undefined;
  const flags = header.children.map((block) => attributeOf(block, 'mustUnderstand', namespaces.soap11));
  if (!flags.every((flag) => flag === undefined || /^[ \t\r\n]*(?:0|1|true|false)[ \t\r\n]*$/.test(flag)))
    return undefined;
  return header.children.every(({ name }) => name === `{${wsse}}Security`) ? header : undefined;
}

/** Summarizes a call in one line. */
function gotOf({ values, header }: SoapCall): string {
  const { token, digest } = values ?? {};
  const checked =
    digest === undefined ? '' : ` ${checkDigest(digest, secrets) === undefined ? 'wrong' : 'right'}`;
  const tokenText = JSON.stringify([...(token ?? [])].toSorted());
  const facts = header?.security;
  return `${tokenText}${checked} ${facts?.timestamp ?? ''} ${facts?.token ?? ''} ${facts?.unverified.join() ?? ''}`;
}

/** Returns the expected summary or the code of the fault, or undefined if the oracle cannot decide. */
function expectedOf(header: Element, setting: TokenSettings): string | undefined {
  const blocks = header.children.filter((block) => {
    const actor = trim(attributeOf(block, 'actor', namespaces.soap11) ?? '');
    return actor === '' || actor === 'http://schemas.xmlsoap.org/soap/actor/next';
  });
  const faults: string[] = [];
  let token: Token | undefined;
  let hasTimestamp = false;
  const unverified: string[] = [];
  let kind = 'none';
  for (const [index, block] of blocks.entries()) {
    if (index > 0) faults.push('InvalidSecurity');
    const tokens = block.children.filter(({ name }) => name === `{${wsse}}UsernameToken`);
    const stamps = block.children.filter(({ name }) => name === `{${wsu}}Timestamp`);
    for (const child of block.children) {
      if (tokens.includes(child)) {
        if (child !== tokens[0]) faults.push('InvalidSecurity');
        const read = tokenOf(child, setting);
        if (read === undefined) return undefined;
        if (typeof read === 'string') faults.push(read);
        else {
          token = read;
          kind = read.kind;
        }
      } else if (stamps.includes(child)) {
        hasTimestamp = true;
        if (child !== stamps[0]) faults.push('InvalidSecurity');
        const wrong = timestampFault(child);
        if (wrong === undefined) return undefined;
        if (wrong !== '') faults.push(wrong);
      } else if (setting.unverified.some((name) => name === localOf(child))) unverified.push(localOf(child));
      else faults.push('UnsupportedSecurityToken');
    }
    if (isStray(block)) faults.push('InvalidSecurity');
  }
  if (setting.timestamp === 'required' && !hasTimestamp) faults.push('InvalidSecurity');
  const [fault] = faults;
  if (fault !== undefined) return fault;
  const values = JSON.stringify([...(token?.values ?? [])].toSorted());
  if (blocks.length === 0) return `${values}   `;
  const checked = token?.isRight === undefined ? '' : ` ${token.isRight ? 'right' : 'wrong'}`;
  return `${values}${checked} ${hasTimestamp ? now : ''} ${kind} ${unverified.join()}`;
}

/** Content of a UsernameToken. */
interface Token {
  readonly kind: 'text' | 'digest';
  readonly values: ReadonlyMap<string, string>;
  /** True if a digest is right; undefined if it is not checked. */
  readonly isRight?: boolean;
}

/** W47 and W49: returns the content of a token, or the code of its fault. */
function tokenOf(
  element: Element,
  { username, password, digest }: TokenSettings,
): Token | string | undefined {
  const found = new Map<string, Element>();
  let fault: string | undefined;
  for (const child of element.children) {
    const { name } = child;
    if (name === `{${wsse11}}Salt` || name === `{${wsse11}}Iteration`) fault ??= 'UnsupportedSecurityToken';
    else if (!partNames.has(name) || found.has(localOf(child))) fault ??= 'InvalidSecurityToken';
    else {
      found.set(localOf(child), child);
      if (child.text === undefined) fault ??= 'InvalidSecurityToken';
    }
  }
  if (isStray(element) || !found.has('Username')) fault ??= 'InvalidSecurityToken';
  if (fault !== undefined) return fault;
  const textOf = (local: string): string => found.get(local)?.text ?? '';
  const passwordElement = found.get('Password');
  const type = passwordElement === undefined ? undefined : attributeOf(passwordElement, 'Type');
  if (type === undefined || trim(type) === `${profile}#PasswordText`) {
    const values = new Map([
      [username, textOf('Username')],
      [password, textOf('Password')],
    ]);
    return { kind: 'text', values };
  }
  if (trim(type) !== `${profile}#PasswordDigest`) return 'InvalidSecurityToken';
  if (digest === 'refuse') return 'UnsupportedSecurityToken';
  const nonce = found.get('Nonce');
  if (nonce === undefined || !found.has('Created')) return 'InvalidSecurityToken';
  const encoding = attributeOf(nonce, 'EncodingType');
  if (encoding !== undefined && trim(encoding) !== base64Type) return 'InvalidSecurityToken';
  const bytes = bytesOf(textOf('Nonce'));
  if (bytes === undefined || bytes.length === 0 || bytes.length > 256) return 'InvalidSecurityToken';
  const created = instantOf(textOf('Created'));
  if (created === 'unknown') return undefined;
  if (created === undefined) return 'InvalidSecurityToken';
  if (!isInWindow(created, created + defaultLimits.wsseFreshMs)) return 'MessageExpired';
  const hash = bytesOf(textOf('Password'));
  if (hash?.length !== 20) return 'InvalidSecurityToken';
  if (digest === 'secrets') {
    const secret = secrets.get(textOf('Username'));
    const sum = createHash('sha1')
      .update(bytes)
      .update(textOf('Created'))
      .update(secret ?? '')
      .digest();
    const isRight = secret !== undefined && sum.equals(hash);
    return { kind: 'digest', values: new Map([[username, textOf('Username')]]), isRight };
  }
  const values = new Map([
    [username, textOf('Username')],
    [digest.password, textOf('Password')],
    [digest.nonce, textOf('Nonce')],
    [digest.created, textOf('Created')],
  ]);
  return { kind: 'digest', values };
}

const partNames = new Set([`{${wsse}}Username`, `{${wsse}}Password`, `{${wsse}}Nonce`, `{${wsu}}Created`]);

/** W48: returns the code of a Timestamp's fault, or an empty text. Undefined if the oracle cannot decide. */
function timestampFault(element: Element): string | undefined {
  const names = element.children.map(({ name }) => name);
  const isFormed =
    names[0] === `{${wsu}}Created` &&
    (names.length === 1 || (names.length === 2 && names[1] === `{${wsu}}Expires`)) &&
    !isStray(element);
  if (!isFormed) return 'InvalidSecurity';
  const [created, expires] = element.children.map(({ text }) => instantOf(text ?? 'none'));
  if (created === 'unknown' || expires === 'unknown') return undefined;
  if (created === undefined || (names.length === 2 && expires === undefined)) return 'InvalidSecurity';
  if (expires !== undefined && expires <= created) return 'InvalidSecurity';
  return isInWindow(created, expires ?? created + defaultLimits.wsseFreshMs) ? '' : 'MessageExpired';
}

function isInWindow(created: number, end: number): boolean {
  const { wsseSkewMs } = defaultLimits;
  return created <= now + wsseSkewMs && now <= end + wsseSkewMs;
}

/** Returns ms since 1970. Undefined for a text that is not an xs:dateTime; `unknown` if JavaScript's dates differ. */
function instantOf(text: string): number | 'unknown' | undefined {
  const form = /^(-?\d{4,})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)?$/.exec(
    trim(text),
  );
  if (form === null) return undefined;
  const [, year = '', month, day, hour = '', minute, second, fraction = '', zone = 'Z'] = form;
  if (year.length !== 4 || year === '0000' || hour === '24') return 'unknown';
  const wall = `${year}-${month}-${day}T${hour}:${minute}:${second}`;
  const ms = Date.parse(`${wall}.${fraction.slice(0, 3).padEnd(3, '0')}Z`);
  if (Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 19) !== wall) return undefined;
  if (zone === 'Z') return ms;
  const [hours = 0, minutes = 0] = zone.slice(1).split(':').map(Number);
  if (minutes > 59 || hours * 60 + minutes > 14 * 60) return undefined;
  return ms - (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}

/** Decodes base64 without blanks. */
function bytesOf(text: string): Buffer | undefined {
  const letters = text.replace(/[ \t\r\n]/g, '');
  const bytes = Buffer.from(letters, 'base64');
  // XSD 3.2.16: unused bits of the last letter are zero
  return bytes.toString('base64') === letters ? bytes : undefined;
}

/** Checks that a fault contains nothing from the block (W46) except names of elements and times. */
function leakOf(
  { fault, written }: Extract<Outcome, { kind: 'fault' }>,
  header: Element,
): string | undefined {
  if (!isSecurityCode(fault.code)) return undefined;
  if (readByLibxml2(written).kind === 'refused') return 'a fault that is not well-formed';
  const told = secretsIn(header).find((value) => value.length > 5 && fault.message.includes(value));
  return told === undefined ? undefined : `a fault that tells ${told}`;
}

/** Returns the texts of Username, Password and Nonce. */
function secretsIn(element: Element): string[] {
  const isSecret = ['Username', 'Password', 'Nonce'].includes(localOf(element));
  const own = isSecret && element.text !== undefined && !words.includes(element.text) ? [element.text] : [];
  return [...own, ...element.children.flatMap(secretsIn)];
}

/** Words that a fault always contains. */
const words = `Username Password Nonce Created UsernameToken Timestamp Security PasswordDigest PasswordText Expires ${profile}#PasswordText`;

function isStray({ stray, text }: Element): boolean {
  return stray || /[^ \t\r\n]/.test(text ?? '');
}

function attributeOf({ attributes }: Element, local: string, namespace = ''): string | undefined {
  const start = namespace === '' ? `${local}=` : `{${namespace}}${local}=`;
  return attributes.find((attribute) => attribute.startsWith(start))?.slice(start.length);
}

function localOf({ name }: Element): string {
  return name.slice(name.indexOf('}') + 1);
}

function trim(text: string): string {
  return text.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '');
}

function makeHeader(random: Random): string {
  const time = (): string => {
    const near = new Date(
      now + random.pick(0, 1, -1) * random.pick(1, 299_999, 300_000, 300_001, 600_000, 600_001),
    );
    const iso = near.toISOString();
    return random.pick(
      iso,
      iso,
      iso.replace(/\.\d+/, ''),
      iso.replace('Z', '+00:00'),
      iso.replace('Z', ''),
      iso.replace('Z', '9999Z'),
      ` ${iso} `,
      '2026-02-30T06:00:00Z',
      '2026-11-22',
      '',
    );
  };
  const created = (): string => `<u:Created>${time()}</u:Created>`;
  const stamp = (): string =>
    `<u:Timestamp${random.pick('', ' u:Id="_0"')}>${random.pick(created(), '', `${created()}${created()}`)}${random.pick('', '', `<u:Expires>${time()}</u:Expires>`)}${random.once(9) ? 'x' : ''}</u:Timestamp>`;
  const part = (): string =>
    random.pick(
      '<o:Username>demo</o:Username>',
      '<o:Username> dem&#111; </o:Username>',
      '<o:Password>demo-key</o:Password>',
      `<o:Password Type="${profile}#PasswordText">p&lt;<![CDATA[&]]></o:Password>`,
      `<o:Password Type="${profile}#PasswordDigest">${random.pick('AAAAAAAAAAAAAAAAAAAAAAAAAAA=', 'AAAA', 'x')}</o:Password>`,
      `<o:Password Type="urn:x"/>`,
      `<o:Nonce${random.pick('', ` EncodingType="${base64Type}"`, ' EncodingType="x"')}>${random.pick('bm9uY2U=', ' bm9u Y2U= ', '', '=', 'YQ')}</o:Nonce>`,
      created(),
      '<o11:Salt>a</o11:Salt>',
      '<x/>',
    );
  const token = (): string =>
    random.once(2)
      ? `<o:UsernameToken>${random.many(4, part)}</o:UsernameToken>`
      : digestToken(
          random.pick('demo', 'demo', 'nobody'),
          random.pick('bm9uY2U=', 'YQ=='),
          time(),
          random.once(4),
        );
  const child = (): string =>
    random.pick(
      token(),
      token(),
      stamp(),
      stamp(),
      '<d:Signature><d:x/></d:Signature>',
      '<o:BinarySecurityToken/>',
      random.once(5) ? 'text' : ' ',
    );
  const flags = random.pick(
    '',
    ' e:mustUnderstand="1"',
    ' mustUnderstand="true"',
    ' e:actor="urn:other"',
    ' e:actor=""',
  );
  return random.many(
    random.once(6) ? 2 : 1,
    () => `<o:Security${flags}>${random.many(3, child)}</o:Security>`,
  );
}

/** Returns a token with a right or wrong digest. */
function digestToken(username: string, nonce: string, created: string, isWrong: boolean): string {
  const sum = createHash('sha1').update(Buffer.from(nonce, 'base64')).update(created);
  const hash = sum.update(isWrong ? 'other' : 'demo-key').digest('base64');
  return `<o:UsernameToken><o:Username>${username}</o:Username><o:Password Type="${profile}#PasswordDigest">${hash}</o:Password><o:Nonce>${nonce}</o:Nonce><u:Created>${created}</u:Created></o:UsernameToken>`;
}
