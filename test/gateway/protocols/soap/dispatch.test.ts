import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { Fault } from '../../../../gateway/protocols/soap/faults.ts';
import { soap11 } from '../../../../gateway/protocols/soap/versions.ts';
import { compileContract } from '../../../../mappings/compile.ts';
import { readContract, screeningContract } from '../../../../mappings/loader/load.ts';
import { folderOf } from '../../../mappings/loader/wsdl/wsdl-folder.ts';
import { createSoapReader, type ReadSoap } from '../../../read-soap.ts';
import { envelope } from '../../gateway.ts';

const protocol = 'http://schemas.xmlsoap.org/ws/2005/02/rm';
const ofOpenapi = createSoapReader(compileContract(readContract(screeningContract).contract));

function ofWsdl(t: Parameters<typeof folderOf>[0]): ReadSoap {
  const folder = folderOf(t, {});
  copyFileSync('docs/adopt/Orders.wsdl', join(folder, 'Orders.wsdl'));
  return createSoapReader(compileContract(readContract(folder).contract));
}

/** Returns the kind and the message of the fault for a Body, or the name of its operation. */
function outcomeOf(read: ReadSoap, body: string, actions: readonly string[] = []): readonly string[] {
  try {
    const document = Buffer.from(envelope('1.1', { body }));
    return [read(document, undefined, soap11, actions).operation.operation.name];
  } catch (error) {
    if (error instanceof Fault) return [error.kind, error.message];
    throw error;
  }
}

test('W4: an element with the name of an operation in another namespace is no operation', (t) => {
  for (const namespace of ['urn:other', protocol]) {
    const [kind, message = ''] = outcomeOf(ofOpenapi, `<GetSearch xmlns="${namespace}"/>`);
    t.is(kind, 'OperationNotFound');
    t.regex(message, /^expected <GetSearch> in .+, got <GetSearch> in /, namespace);
  }
});

test('W50: an unknown element of another protocol names an alternative, for both kinds of contract', (t) => {
  for (const read of [ofOpenapi, ofWsdl(t)]) {
    const [kind, message = ''] = outcomeOf(read, `<CreateSequence xmlns="${protocol}"/>`);
    t.is(kind, 'OperationNotFound');
    t.regex(message, /WS-ReliableMessaging is not supported/);
  }
});

test('A6: an element of an adopted service in another namespace makes the envelope invalid', (t) => {
  const read = ofWsdl(t);
  const [kind, message] = outcomeOf(read, '<GetOrder xmlns="urn:other"/>');
  t.is(kind, 'InvalidEnvelope');
  t.is(
    message,
    'expected <GetOrder> in namespace "http://orders.example/", got <GetOrder> in namespace "urn:other"',
  );
  t.regex(outcomeOf(read, `<GetOrder xmlns="${protocol}"/>`)[1] ?? '', /WS-ReliableMessaging/);
  t.is(outcomeOf(read, '<GetOrders xmlns="http://orders.example/"/>')[0], 'OperationNotFound');
});

test('W4, A6: only a contract of an OpenAPI document compares the end of an action with names', (t) => {
  const [kind] = outcomeOf(ofOpenapi, '<GetSearch/>', ['urn:x#DeleteClient']);
  t.is(kind, 'WrongAction');
  const order = '<GetOrder xmlns="http://orders.example/"><orderId>1</orderId></GetOrder>';
  const read = ofWsdl(t);
  t.deepEqual(outcomeOf(read, order, ['urn:x/CancelOrder']), ['GetOrder']);
  t.is(outcomeOf(read, order, ['http://orders.example/CancelOrder'])[0], 'WrongAction');
});
