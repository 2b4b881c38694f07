import type { CredentialPart } from '../../contract/model.ts';
import { childOf, isNode, type Node, textOf } from '../document/node.ts';
import { isUnresolved, type References } from '../document/references.ts';
import type { CredentialsOverlay } from '../overlay/overlay.ts';

/**
 * Credentials as the document's security schemes have them, for an overlay that says nothing of any: a caller gives
 * each in a header, and none has to, since which operations need one is the service's to say.
 */
export function schemeCredentials(document: Node, references: References): CredentialsOverlay | undefined {
  const headers = new Map<string, string>();
  const sent = new Map<string, CredentialPart['sent']>();
  const taken = new Set<string>();
  const schemes = childOf(childOf(document, 'components'), 'securitySchemes');
  for (const [name, stated] of Object.entries(schemes)) {
    const found = references.resolve(stated, '');
    const place = isUnresolved(found) || !isNode(found.node) ? undefined : placeOf(found.node);
    if (place === undefined || taken.has(place.name.toLowerCase())) continue;
    taken.add(place.name.toLowerCase());
    headers.set(name, place.name);
    sent.set(name, place);
  }
  if (headers.size === 0) return undefined;
  return { member: undefined, headers, sent, required: [], secret: [...headers.keys()], send: 'headers' };
}

/** Where a scheme's credential goes; undefined for one that is no text of a message, such as a client's certificate. */
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
