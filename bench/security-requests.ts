import { createHash } from 'node:crypto';
import { namespaces } from '../mappings/contract/model.ts';
import { requestOf } from './small-call.ts';

const profile = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-username-token-profile-1.0';
/** Of the caller whose digests are checked. */
export const user = { name: 'api-user', secret: 'k-of-the-api-user' } as const;

/** The usual small call with a UsernameToken in the place of its credentials. */
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

/** UpdateSubUser with a UsernameToken whose password is text. */
export function textRequests(port: number): readonly Buffer[] {
  const password = `<o:Password Type="${profile}#PasswordText">k&amp;&lt;&gt;&quot;</o:Password>`;
  return Array.from({ length: 64 }, (_, index) => withToken(port, index, password));
}

/** The same with a digest, each with a nonce of its own. */
export function digestRequests(port: number): () => Buffer {
  let count = 0;
  return () => {
    const nonce = Buffer.alloc(16);
    nonce.writeUInt32BE(count++);
    const created = new Date().toISOString();
    const digest = createHash('sha1').update(nonce).update(created).update(user.secret).digest('base64');
    return withToken(
      port,
      count % 64,
      `<o:Password Type="${profile}#PasswordDigest">${digest}</o:Password><o:Nonce>${nonce.toString('base64')}</o:Nonce><u:Created>${created}</u:Created>`,
    );
  };
}
