import { readFileSync } from 'node:fs';
import test, { type ExecutionContext } from 'ava';
import { namespaces } from '../../../../mappings/contract/model.ts';
import { readContract } from '../../../../mappings/loader/load.ts';
import { folderOf } from '../../../mappings/loader/wsdl/wsdl-folder.ts';
import { envelope, send, startGateway } from '../../gateway.ts';

const orders = readFileSync('docs/adopt/Orders.wsdl', 'utf8');

const policy =
  '<p:Policy xmlns:p="http://www.w3.org/ns/ws-policy" xmlns:sp="http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702">' +
  '<sp:SupportingTokens><p:Policy><sp:UsernameToken/></p:Policy></sp:SupportingTokens></p:Policy>';

/** The WSDL of the orders example with a policy in its first binding that requires a UsernameToken. */
const asking = orders.replace(/<wsdl:binding [^>]*>/, (tag) => `${tag}${policy}`);

const mapped =
  'headers:\n  Security.Username: { header: X-Username }\n  Security.Password: { header: X-Password }\n';

const security = (content: string): string =>
  `<o:Security xmlns:o="${namespaces.wsse}" xmlns:e="http://schemas.xmlsoap.org/soap/envelope/" e:mustUnderstand="1">${content}</o:Security>`;
const token =
  '<o:UsernameToken><o:Username>ann</o:Username><o:Password>s3cret&amp;more</o:Password></o:UsernameToken>';

async function serveOrders(t: ExecutionContext, overlay: string) {
  const gateway = await startGateway(t, {
    serve: { contract: folderOf(t, { 'Orders.wsdl': asking, 'soap.yaml': overlay }) },
  });
  gateway.answer({ body: '{"GetOrderResult":null}' });
  const call = (header: string) =>
    send(
      gateway.port,
      'POST',
      '/shop/Orders.asmx',
      { 'Content-Type': 'text/xml; charset=utf-8' },
      envelope('1.1', {
        header,
        body: '<GetOrder xmlns="http://orders.example/"><orderId>1</orderId></GetOrder>',
      }),
    );
  return { ...gateway, call };
}

test('A31: the overlay sends values of a UsernameToken upstream in headers, and never logs them', async (t) => {
  const { call, hits, log } = await serveOrders(t, mapped);
  const reply = await call(security(token));
  t.is(reply.status, 200, reply.text);
  t.is(hits[0]?.headers['x-username'], 'ann');
  t.is(hits[0]?.headers['x-password'], 's3cret&more');
  t.is(hits[0]?.body, '{"orderId":1}');
  t.false(/s3cret/.test(log()));
  const blank = await call(security(token.replace('&amp;', ' ')));
  t.regex(blank.text, /X-Password: expected printable ASCII without blanks, at most 256 characters/);
});

test('A31: refuses another token, a digest, and a token with a signature', async (t) => {
  const { call, hits } = await serveOrders(t, mapped);
  const digest = token.replace('<o:Password>', '<o:Password Type="x#PasswordDigest">');
  for (const content of [
    '<o:BinarySecurityToken>AA==</o:BinarySecurityToken>',
    digest,
    `${token}<Signature xmlns="http://www.w3.org/2000/09/xmldsig#"/>`,
  ]) {
    const reply = await call(security(content));
    t.is(reply.status, 500);
    t.regex(reply.text, /<faultcode>/);
  }
  t.is(hits.length, 0);
});

test('A31: without the setting a mandatory block is a fault, and the policy is listed as not met', async (t) => {
  const { call } = await serveOrders(t, '');
  t.regex((await call(security(token))).text, /MustUnderstand/);
  const policiesOf = (overlay: string) =>
    readContract(folderOf(t, { 'Orders.wsdl': asking, 'soap.yaml': overlay })).contract.adopted?.service
      .policies;
  const [without] = policiesOf('') ?? [];
  t.false(without?.served);
  t.regex(
    without?.text ?? '',
    /UsernameToken \(soap\.yaml: headers, Security\.Username and Security\.Password\)$/,
  );
  t.true(policiesOf(mapped)?.[0]?.served);
});

for (const [what, overlay, problem] of [
  [
    'one value alone',
    'headers: { Security.Username: { header: X-U } }',
    /Security\.Password, got only Security\.Username/,
  ],
  [
    'a format',
    `${mapped.replace('X-Username }', 'X-Username, format: "a {}" }')}`,
    /headers\/Security\.Username\/format: expected none/,
  ],
] as const)
  test(`A31: refuses a UsernameToken with ${what}`, (t) => {
    const error = t.throws(() => readContract(folderOf(t, { 'Orders.wsdl': asking, 'soap.yaml': overlay })));
    t.regex(error?.message ?? '', problem);
  });
