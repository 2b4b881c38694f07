import { readdirSync, readFileSync } from 'node:fs';
import { deflateSync, gzipSync } from 'node:zlib';
import { parse } from 'yaml';

/** A text, or its pieces if it is several megabytes long. `$n` in a repeated piece is a counter from 0. */
export type Text = string | readonly (string | { readonly times: number; readonly of: Text })[];

/** Properties that a file sets for all its inputs, or an input for itself. */
interface Said {
  /** Addresses below the base path; each is a separate input. */
  readonly at?: readonly string[];
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Alternating names and values, for repeated names. */
  readonly headerList?: readonly string[];
  readonly longHeader?: {
    readonly name: string;
    readonly before?: string;
    readonly of?: string;
    readonly times: number;
    readonly after?: string;
  };
  /** Adds valid credentials to the headers. */
  readonly credentials?: boolean;
  /** Additional path, and the query. */
  readonly path?: Text;
  readonly query?: Text;
  /** The payload: in an envelope on the SOAP endpoints, otherwise the whole body. */
  readonly element?: Text;
  readonly prolog?: Text;
  readonly header?: string;
  readonly after?: string;
  /** A renewal date, and the name in the upstream's reply. */
  readonly date?: Text;
  readonly name?: string;
  /** The whole body on every endpoint: as text, in hexadecimal, or compressed. */
  readonly document?: Text;
  readonly bytes?: string;
  readonly gzip?: Text;
  readonly deflate?: Text;
  readonly reply?: {
    readonly status?: number;
    readonly headers?: Record<string, string>;
    readonly body: string;
  };
  /** `ok`, `malformed`, `invalid`, `fault`, `jsonp`, or a status with an optional errorCode. */
  readonly answer?: string | number;
  /** The fault's code if the answer is `fault`: `sender` by default, or `any`. */
  readonly code?: string;
  /** Regular expressions: a text of the reply, a text that must not occur in it, and a forbidden header name. */
  readonly says?: string;
  readonly never?: string;
  readonly neverHeaders?: string;
  /** Expected content of the upstream request. */
  readonly sent?: string;
  /** The name in the reply, if it differs from the upstream's. */
  readonly read?: string;
  /** True if every reply must forbid caching. */
  readonly noStore?: boolean;
}

/** One input at one address. */
export interface Attack extends Said {
  readonly title: string;
  readonly address: string;
}

const directory = new URL('attacks/', import.meta.url);

/** All attacks, by the file of their class. */
export const attacks: ReadonlyMap<string, readonly Attack[]> = new Map(
  readdirSync(directory)
    .toSorted()
    .map((file) => [file.replace('.yaml', ''), attacksOf(file)]),
);

function attacksOf(file: string): Attack[] {
  const { inputs, ...all }: Said & { readonly inputs: readonly (Said & { readonly what: string })[] } = parse(
    readFileSync(new URL(file, directory), 'utf8'),
  );
  return inputs.flatMap(({ what, ...own }) =>
    (own.at ?? all.at ?? ['']).map((address) => ({
      ...all,
      ...own,
      title: `${what} at ${address}`,
      address,
    })),
  );
}

/** Joins the pieces of a text. */
export function textOf(text: Text, names: Readonly<Record<string, string>>): string {
  if (typeof text !== 'string') {
    return text
      .map((piece) => {
        if (typeof piece === 'string') return textOf(piece, names);
        const each = textOf(piece.of, names);
        if (!each.includes('$n')) return each.repeat(piece.times);
        return Array.from({ length: piece.times }, (_, index) => each.replaceAll('$n', String(index))).join(
          '',
        );
      })
      .join('');
  }
  return Object.entries(names).reduce((all, [name, value]) => all.replaceAll(`$${name}`, value), text);
}

const authentication =
  '<Authentication><ApiUserId>u</ApiUserId><ApiUserKey>canary-key</ApiUserKey></Authentication>';
const types = 'http://schemas.servicestack.net/types';

/** Returns the body of an attack, or undefined if it has none. */
export function bodyOf(attack: Attack, names: Readonly<Record<string, string>>): string | Buffer | undefined {
  const all = { ...names, auth: authentication, types };
  const isSoap = attack.address.startsWith('/soap');
  const isJson = attack.address.startsWith('/json');
  if (attack.bytes !== undefined) return Buffer.from(attack.bytes, 'hex');
  if (attack.gzip !== undefined) return gzipSync(textOf(attack.gzip, all));
  if (attack.deflate !== undefined) return deflateSync(textOf(attack.deflate, all));
  if (attack.document !== undefined && (isJson || attack.element === undefined))
    return textOf(attack.document, all);
  const date = attack.date === undefined ? undefined : textOf(attack.date, all);
  const element =
    date === undefined
      ? attack.element
      : `<CostRenewAllPepSearches>$auth<Request><RenewalDate>${date}</RenewalDate></Request></CostRenewAllPepSearches>`;
  if (element === undefined) return undefined;
  const prolog = attack.prolog === undefined ? '' : textOf(attack.prolog, all);
  // an element without a namespace is in the contract's namespace
  const payload = textOf(element, all).replace(/^<([A-Z]\w*)(?=[\s/>])/, `<$1 xmlns="${types}"`);
  if (!isSoap) return prolog + payload;
  const version = attack.address.startsWith('/soap12')
    ? 'http://www.w3.org/2003/05/soap-envelope'
    : 'http://schemas.xmlsoap.org/soap/envelope/';
  const headers = attack.header === undefined ? '' : `<e:Header>${textOf(attack.header, all)}</e:Header>`;
  const after = attack.after === undefined ? '' : textOf(attack.after, all);
  return `${prolog}<e:Envelope xmlns:e="${version}">${headers}<e:Body>${payload}</e:Body>${after}</e:Envelope>`;
}

/** Returns the headers of an attack, alternating names and values. */
export function headersOf({ headers, headerList, longHeader, credentials }: Attack): string[] {
  const list = [...Object.entries(headers ?? {}).flat(), ...(headerList ?? [])];
  if (credentials) list.push('X-Api-User', 'u', 'X-Api-Key', 'canary-key');
  if (longHeader === undefined) return list;
  const { name, before = '', of = 'x', times, after = '' } = longHeader;
  return [...list, name, before + of.repeat(times) + after];
}
