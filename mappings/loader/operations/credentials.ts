import type { CredentialPart, Credentials, CredentialsBlock } from '../../contract/credentials.ts';
import type { Operation, RecordType } from '../../contract/model.ts';
import { pointerSegment, type Report } from '../document/error.ts';
import { childOf, type Node, textOf } from '../document/node.ts';
import type { References } from '../document/references.ts';
import { folded, type Names, type Wanted } from '../names/names.ts';
import { variantName } from '../names/portable.ts';
import type { CredentialsOverlay, Overlay } from '../overlay/overlay.ts';

const blockName: Wanted = { key: 'credentials', name: 'Credentials' };

/**
 * Returns the type of the credentials header block, which needs a name. Empty if credentials are in the body or there
 * are none.
 */
export function credentialsType({ credentials }: Overlay): readonly Wanted[] {
  return credentials === undefined || credentials.member !== undefined ? [] : [blockName];
}

/** Names the block's element `Credentials`, unless an operation has that name. */
function blockOf(operations: readonly Pick<Operation, 'name'>[], names: Names): CredentialsBlock | undefined {
  const type = names.get(blockName.key);
  if (type === undefined) return undefined;
  const isTaken = operations.some(({ name }) => folded(name) === folded(blockName.name));
  return { element: isTaken ? type : blockName.name, type };
}

/**
 * Builds the credentials from the overlay and the document's schema of the body member (W24, W25).
 *
 * @param names names of the gateway's own types, by key
 */
export function buildCredentials(
  overlay: Overlay,
  operations: readonly Pick<Operation, 'name' | 'input'>[],
  names: Names,
  report: Report,
): Credentials | undefined {
  const stated = overlay.credentials;
  if (stated === undefined) return undefined;
  const record = stated.member === undefined ? undefined : memberRecord(stated.member, operations, report);
  const parts: CredentialPart[] = [];
  for (const [name, header] of stated.headers) {
    const field = record?.fields.find((candidate) => candidate.json === name);
    if (record !== undefined && (field?.type.kind !== 'scalar' || field.type.scalar !== 'string')) {
      const got = field === undefined ? 'none' : 'another type';
      report(
        `/credentials/headers${pointerSegment(name)}`,
        `expected a string ${name} in ${record.name}, got ${got}`,
      );
    }
    parts.push({
      name,
      xml: field?.xml ?? variantName(name, overlay.settings.names),
      header,
      sent: stated.sent?.get(name) ?? { in: 'header', name: header },
      required: stated.required?.includes(name) ?? field?.required ?? true,
      secret: stated.secret.includes(name),
    });
  }
  for (const { json } of record?.fields ?? []) {
    // The member is rebuilt from its parts, so any other member would be lost.
    if (!stated.headers.has(json))
      report(
        '/credentials/headers',
        `expected a header for ${json}, the member of ${record?.name}, got none`,
      );
  }
  return {
    member: stated.member,
    parts,
    send: stated.send,
    basic: stated.basic,
    block: blockOf(operations, names),
  };
}

function memberRecord(
  member: string,
  operations: readonly Pick<Operation, 'name' | 'input'>[],
  report: Report,
): RecordType | undefined {
  let record: RecordType | undefined;
  for (const { name, input } of operations) {
    const type = input.fields.find((field) => field.json === member)?.type;
    if (type?.kind === 'record') record ??= type;
    if (type?.kind !== 'record' || type !== record) {
      const got = type === undefined ? 'none' : type.kind === 'record' ? 'another object' : 'another type';
      report('/credentials/member', `expected one object ${member} in every request, got ${got} in ${name}`);
      return undefined;
    }
  }
  return record;
}

/**
 * Derives credentials from the document's security schemes if the overlay does not configure any. Each is an optional
 * header, because the upstream decides which operations require it.
 */
export function schemeCredentials(document: Node, references: References): CredentialsOverlay | undefined {
  const headers = new Map<string, string>();
  const sent = new Map<string, CredentialPart['sent']>();
  const taken = new Set<string>();
  const schemes = childOf(childOf(document, 'components'), 'securitySchemes');
  for (const [name, stated] of Object.entries(schemes)) {
    const found = references.objectAt(stated, '');
    const place = found && placeOf(found);
    if (place === undefined || taken.has(place.name.toLowerCase())) continue;
    taken.add(place.name.toLowerCase());
    headers.set(name, place.name);
    sent.set(name, place);
  }
  if (headers.size === 0) return undefined;
  return { member: undefined, headers, sent, required: [], secret: [...headers.keys()], send: 'headers' };
}

/**
 * Returns the location of a scheme's credential. Undefined if it is not a text in the message, for example a client
 * certificate.
 */
function placeOf(scheme: Node): CredentialPart['sent'] | undefined {
  const { type, in: place } = scheme;
  if (type === 'http' || type === 'oauth2' || type === 'openIdConnect')
    return { in: 'header', name: 'Authorization' };
  const name = textOf(scheme.name) ?? '';
  const fits = /^[A-Za-z0-9_-]+$/.test(name) && !/^(?:host|connection|content-\w+|cookie)$/i.test(name);
  if (type !== 'apiKey' || !fits || (place !== 'header' && place !== 'query' && place !== 'cookie'))
    return undefined;
  return { in: place, name };
}
