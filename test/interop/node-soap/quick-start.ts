import { createClientAsync } from 'soap';

// the quick start of docs/clients/node.md

const wsdl = process.argv[2] ?? '';

// docs:begin call
const client = await createClientAsync(wsdl);
const credentials = { ApiUserId: 'demo', ApiUserKey: 'demo-key' };

const [{ Data: user }] = await client.UpdateSubUserAsync({
  Authentication: credentials,
  Request: { SubUserName: 'jane', Permissions: { string: ['bob', 'owner'] } },
});
if (user.ResponseStatus?.ErrorCode) throw new Error(user.ResponseStatus.Message);
console.log(`${user.SubUser.UserName} sees the searches of ${user.SubUser.Permissions.string.join(', ')}`);
// docs:end call

// docs:begin headers
client.addHttpHeader('X-Api-User', 'demo');
client.addHttpHeader('X-Api-Key', 'demo-key');
const [{ Data: status }] = await client.GetEulaStatusAsync({ Request: { SubUserName: 'jane' } });
console.log(status.AgreeToContactInfo);
// docs:end headers
