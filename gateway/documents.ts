import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import type { Contract } from '../mappings/model.ts';
import { writeMetadataPage } from '../wsdl/page.ts';
import { writeSchema } from '../wsdl/schema.ts';
import { writeWsdl } from '../wsdl/wsdl.ts';

export interface Document {
  readonly kind: 'wsdl' | 'xsd' | 'page';
  readonly text: string;
}

/** The documents of a contract: written once for the address they name (W2, W34). */
export interface Documents {
  /** What a GET asks for by its query words, in any case; undefined where there is no such document. */
  readonly find: (
    words: URLSearchParams,
    wsdlWithoutQuery: boolean,
    request: IncomingMessage,
  ) => Document | undefined;
}

export interface DocumentOptions {
  /** Public URL without the base path; undefined before the process listens. */
  readonly publicUrl: string;
  /** False when the address is only the listening one, which a trusted proxy may better. */
  readonly configured: boolean;
  /** Those whose word on the address is taken; undefined for none. */
  readonly trustedProxies: BlockList | undefined;
}

interface Written {
  readonly wsdl: string;
  readonly types: string | undefined;
  readonly arrays: string | undefined;
  readonly page: string;
}

export function createDocuments(contract: Contract, options: DocumentOptions): Documents {
  const write = (publicUrl: string): Written => {
    const address = publicUrl.replace(/\/+$/, '') + contract.basePath;
    return {
      wsdl: writeWsdl(contract, { address }),
      types: writeSchema(contract, 0, { address }),
      arrays: writeSchema(contract, 1, { address }),
      page: writeMetadataPage(contract, { address }),
    };
  };
  const own = write(options.publicUrl);
  const { trustedProxies } = options;
  const writtenFor = (request: IncomingMessage): Written => {
    if (options.configured || trustedProxies === undefined) return own;
    const forwarded = forwardedUrl(request, trustedProxies);
    return forwarded === undefined ? own : write(forwarded);
  };
  return {
    find: (words, wsdlWithoutQuery, request) => {
      const written = writtenFor(request);
      for (const [word, value] of words) {
        const name = word.toLowerCase();
        if (name === 'wsdl' || name === 'singlewsdl') return { kind: 'wsdl', text: written.wsdl };
        if (name === 'xsd')
          return schema(value === '0' ? written.types : value === '1' ? written.arrays : undefined);
      }
      return wsdlWithoutQuery ? { kind: 'wsdl', text: written.wsdl } : { kind: 'page', text: written.page };
    },
  };
}

function schema(text: string | undefined): Document | undefined {
  return text === undefined ? undefined : { kind: 'xsd', text };
}

/** Addresses and ranges as a list to check against; undefined for none. Throws RangeError. */
export function proxyList(addresses: readonly string[]): BlockList | undefined {
  if (addresses.length === 0) return undefined;
  const list = new BlockList();
  for (const entry of addresses) {
    const [, address = '', bits] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(entry.trim()) ?? [];
    const version = isIP(address);
    if (version === 0 || Number(bits ?? 0) > (version === 6 ? 128 : 32)) {
      throw new RangeError(
        `trusted proxy: expected an IP address or a range such as 10.0.0.0/8, got ${JSON.stringify(entry)}`,
      );
    }
    const family = version === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}

/** The address that a listed proxy says it was reached at; anyone else's word isn't taken (W34). */
function forwardedUrl(request: IncomingMessage, proxies: BlockList): string | undefined {
  const remote = (request.socket.remoteAddress ?? '').replace(/^::ffff:/, '');
  if (isIP(remote) === 0 || !proxies.check(remote, isIP(remote) === 6 ? 'ipv6' : 'ipv4')) return undefined;
  const standard = /(?:^|[;,\s])host="?([^";,\s]+)"?/i.exec(headerText(request, 'forwarded'))?.[1];
  const standardProto = /(?:^|[;,\s])proto="?([^";,\s]+)"?/i.exec(headerText(request, 'forwarded'))?.[1];
  const host = standard ?? firstOf(headerText(request, 'x-forwarded-host'));
  const proto = (standardProto ?? firstOf(headerText(request, 'x-forwarded-proto')) ?? 'http').toLowerCase();
  const prefix = firstOf(headerText(request, 'x-forwarded-prefix')) ?? '';
  if (host === undefined || !/^(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/.test(host))
    return undefined;
  if (proto !== 'http' && proto !== 'https') return undefined;
  return `${proto}://${host}${/^(?:\/[\w.~-]+)*$/.test(prefix) ? prefix : ''}`;
}

function headerText(request: IncomingMessage, name: string): string {
  const value = request.headers[name];
  return typeof value === 'string' ? value : '';
}

function firstOf(list: string): string | undefined {
  const first = list.split(',', 1)[0]?.trim();
  return first === '' ? undefined : first;
}
