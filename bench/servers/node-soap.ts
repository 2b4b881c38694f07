import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import soap from 'soap';
import { Pool } from 'undici';

/** A typical bridge in Node: node-soap on the server side, one handler per operation, a JSON upstream. */
const [port, upstream = '', wsdlFile = ''] = process.argv.slice(2);
const pool = new Pool(upstream, { connections: 64 });

interface UpdateSubUserInput {
  readonly Authentication: { readonly ApiUserId: string; readonly ApiUserKey: string };
  readonly Request: {
    readonly SubUserName: string;
    readonly Permissions?: { readonly string?: readonly string[] };
  };
}

async function updateSubUser({ Authentication, Request }: UpdateSubUserInput): Promise<object> {
  const reply = await pool.request({
    method: 'POST',
    path: '/json/reply/UpdateSubUser',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      request: { subUserName: Request.SubUserName, permissions: Request.Permissions?.string },
      authentication: { apiUserId: Authentication.ApiUserId, apiUserKey: Authentication.ApiUserKey },
    }),
  });
  const body = (await reply.body.json()) as { data: { subUser: Record<string, unknown> } };
  const { permissions, ...rest } = body.data.subUser;
  const subUser: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(rest))
    subUser[name.charAt(0).toUpperCase() + name.slice(1)] = value;
  return { Data: { ResponseStatus: {}, SubUser: { ...subUser, Permissions: { string: permissions } } } };
}

const server = createServer();
server.listen(Number(port), '127.0.0.1', () => {
  const port11 = { UpdateSubUser: updateSubUser };
  soap.listen(
    server,
    '/v2/soap11',
    { ScreeningApi: { Soap11: port11, Soap12: port11 } },
    readFileSync(wsdlFile, 'utf8'),
    () => console.log('ready'),
  );
});
