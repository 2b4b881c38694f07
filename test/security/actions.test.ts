import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mock } from 'node:test';
import test, { type ExecutionContext } from 'ava';
import { Fault } from '../../gateway/protocols/soap/faults.ts';
import { soap11 } from '../../gateway/protocols/soap/versions.ts';
import { compileContract } from '../../mappings/compile.ts';
import { readContract } from '../../mappings/loader/load.ts';
import { contractWith } from '../gateway/gateway.ts';
import { folderOf } from '../mappings/loader/wsdl/wsdl-folder.ts';
import { createSoapReader, type ReadSoap } from '../read-soap.ts';
import { folder } from './captures.ts';
import { signed } from './sign.ts';

const root = JSON.stringify(join(folder, 'keys/root.crt'));
const alice = JSON.stringify(join(folder, 'keys/alice.crt'));

/** Reads messages of two operations with one element, for a contract that requires a signed Body. */
function readerOf(t: ExecutionContext, require: string): ReadSoap {
  const x509 = `x509: { ca: ${root}, certificates: ${alice}, require: ${require}, replay: allow }`;
  const overlay = `wsse: { username: apiUserId, password: apiUserKey, ${x509} }`;
  const { wsse } = readContract(contractWith(t, overlay)).contract;
  const adopted = folderOf(t, {});
  const wsdl = readFileSync('docs/adopt/Orders.wsdl', 'utf8');
  const shared = wsdl.replace(
    'name="parameters" element="tns:CancelOrder"',
    'name="parameters" element="tns:GetOrder"',
  );
  writeFileSync(join(adopted, 'Orders.wsdl'), shared);
  return createSoapReader(compileContract({ ...readContract(adopted).contract, wsse }));
}

const payload = '<GetOrder xmlns="http://orders.example/"><id>1</id></GetOrder>';
const actionOf = (name: string): string => `http://orders.example/${name}`;
const block = (name: string): string =>
  `<a:Action xmlns:a="http://www.w3.org/2005/08/addressing" u:Id="action">${actionOf(name)}</a:Action>`;

function outcomeOf(read: ReadSoap, envelope: string, actions: readonly string[]): string {
  mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-11-27T18:00:00Z') });
  try {
    return read(Buffer.from(envelope), undefined, soap11, actions).operation.operation.name;
  } catch (error) {
    if (error instanceof Fault) return error.kind;
    throw error;
  } finally {
    mock.timers.reset();
  }
}

test('X4: only a signed action selects between operations with one Body', (t) => {
  const read = readerOf(t, '[body]');
  const references = ['body', 'time'];
  const cancel = [actionOf('CancelOrder')];
  t.is(outcomeOf(read, signed({ payload }), cancel), 'InvalidSecurity');
  const unsigned = signed({ payload, header: block('CancelOrder') });
  t.is(outcomeOf(read, unsigned, cancel), 'InvalidSecurity');
  t.is(outcomeOf(read, unsigned, []), 'InvalidSecurity');
  const covered = signed({ payload, header: block('CancelOrder'), references: [...references, 'action'] });
  t.is(outcomeOf(read, covered, []), 'CancelOrder');
  t.is(outcomeOf(read, covered, cancel), 'CancelOrder');
  t.is(outcomeOf(read, covered, [actionOf('GetOrder')]), 'WrongAction');
  t.is(
    outcomeOf(read, covered.replace('/CancelOrder</a:Action>', '/GetOrder</a:Action>'), []),
    'FailedCheck',
  );
});

test('X4: if Body need not be signed, any action selects the operation', (t) => {
  const read = readerOf(t, '[timestamp]');
  t.is(outcomeOf(read, signed({ payload }), [actionOf('CancelOrder')]), 'CancelOrder');
});
