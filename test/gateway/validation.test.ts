import test from 'ava';
import { folderOf } from '../plain/folders.ts';
import { send, soap11Namespace, startGateway } from './gateway.ts';

const strict = folderOf('strict-validation');

test('patternSteps: two letters and a digit are looked at in 32 steps, three digits in 48', async (t) => {
  const gateway = await startGateway(t, { serve: { contract: strict }, limits: { patternSteps: 32 } });
  gateway.answer({ status: 204, body: '' });
  const put = async (id: string) => {
    const body = `<putStrict xmlns="urn:Strict"><id>${id}</id></putStrict>`;
    const envelope = `<s:Envelope xmlns:s="${soap11Namespace}"><s:Body>${body}</s:Body></s:Envelope>`;
    const headers = { 'Content-Type': 'text/xml; charset=utf-8' };
    return (await send(gateway.port, 'POST', '/soap11', headers, envelope)).text;
  };
  t.true((await put('GB1')).includes('putStrictResponse'));
  t.true((await put('GB123')).includes('id: expected less text to match with patterns in one request'));
});

test('validate: strict answers in the form that the caller speaks', async (t) => {
  const { port, hits } = await startGateway(t, { serve: { contract: strict } });
  const headers = { 'Content-Type': 'application/json' };
  const reply = await send(port, 'POST', '/json/reply/putStrict', headers, '{"id":"gb1","Body":{"size":3}}');
  t.is(reply.status, 400);
  t.true(reply.text.includes('id: expected text that matches ^[A-Z]{2}'));
  t.true(reply.text.includes('Body.size: expected one of 1, 2, 5'));
  t.deepEqual(hits, []);
});
