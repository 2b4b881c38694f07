import { hash } from 'node:crypto';
import { namespaces } from '../mappings/contract/model.ts';
import { requestOf } from './small-call.ts';

const profile = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-username-token-profile-1.0';
/** The caller whose digests are checked. */
export const user = { name: 'api-user', secret: 'k-of-the-api-user' } as const;

/** Returns the usual small call with a UsernameToken instead of credentials in the body. */
function withToken(port: number, index: number, password: string): Buffer {
  const items = [`a&amp;b ${index}`, '&lt;c&gt;', `é漢😀 ${index}`, 'd']
    .slice(0, 2 + (index % 3))
    .map((name) => `<arr:string>${name}</arr:string>`)
    .join('');
  return requestOf(
    port,
    `<typ:Request><typ:Permissions>${items}</typ:Permissions><typ:SubUserName>Zoë ${index} &amp; Söhne &lt;漢字&gt;</typ:SubUserName></typ:Request>`,
    `<soap:Header><o:Security xmlns:o="${namespaces.wsse}" xmlns:u="${namespaces.wsu}" soap:mustUnderstand="1"><o:UsernameToken u:Id="token-${index}"><o:Username>${user.name}</o:Username>${password}</o:UsernameToken></o:Security></soap:Header>`,
  );
}

/** Returns UpdateSubUser requests with a UsernameToken whose password is text. */
export function textRequests(port: number): readonly Buffer[] {
  const password = `<o:Password Type="${profile}#PasswordText">k&amp;&lt;&gt;&quot;</o:Password>`;
  return Array.from({ length: 64 }, (_, index) => withToken(port, index, password));
}

/**
 * Creates requests with a digest, each with a new nonce. The values are written into the bytes of 64 prepared requests,
 * since a slow load generator would distort the measurement.
 */
export function digestRequests(port: number): () => Buffer {
  const places = { digest: 'd'.repeat(28), nonce: 'n'.repeat(24), created: 'c'.repeat(24) };
  const templates = Array.from({ length: 64 }, (_, index) => {
    const bytes = withToken(
      port,
      index,
      `<o:Password Type="${profile}#PasswordDigest">${places.digest}</o:Password><o:Nonce>${places.nonce}</o:Nonce><u:Created>${places.created}</u:Created>`,
    );
    const at = (place: keyof typeof places): number => bytes.indexOf(places[place]);
    return { bytes, digest: at('digest'), nonce: at('nonce'), created: at('created') };
  });
  const hashed = Buffer.alloc(16 + places.created.length + user.secret.length);
  hashed.write(user.secret, 16 + places.created.length);
  let count = 0;
  let created = '';
  let until = 0;
  return () => {
    const now = Date.now();
    if (now > until) {
      until = now + 1_000;
      created = new Date(now).toISOString();
      hashed.write(created, 16);
    }
    const template = templates[count % 64];
    if (template === undefined) throw new RangeError('no template');
    hashed.writeUInt32BE(count++);
    const bytes = Buffer.from(template.bytes);
    bytes.write(hash('sha1', hashed, 'base64'), template.digest);
    bytes.write(hashed.toString('base64', 0, 16), template.nonce);
    bytes.write(created, template.created);
    return bytes;
  };
}
