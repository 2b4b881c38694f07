import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { readState } from '../../gateway/migration/state-file.ts';
import { run, start } from '../gateway/commands/run.ts';
import { until } from '../until.ts';
import { headers, message, path, zip } from './comparing.ts';
import { contractFolder, send, startStub } from './scenario.ts';

const legacyReply =
  '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><a:GetApplicationZipResponse xmlns:a="http://desk.example/services/Agency-V2"><a:FileDataHandler>UEsDBA==</a:FileDataHandler></a:GetApplicationZipResponse></soap:Body></soap:Envelope>';

test('G45 to G50: findings of two workers are in one state file and in the report', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'soapbridge-workers-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const [legacy, upstream] = await Promise.all([startStub(t), startStub(t)]);
  legacy.answer = { status: 200, headers: { 'content-type': 'text/xml' }, body: legacyReply };
  const json = { 'content-type': 'application/json' };
  upstream.answer = { status: 200, headers: json, body: '{"FileDataHandler":"UEsDBQ=="}' };
  const migration = {
    routes: [{ name: 'watch', operations: [zip], mode: 'compare' }],
    compare: { noise: '100%' },
    ready: { calls: 20, callers: 1 },
    state: 'state.json',
  };
  const contract = contractFolder('contracts/agency');
  const all = { contract, upstream: upstream.url, legacy: legacy.url, migration };
  const file = join(folder, 'soapbridge.yaml');
  writeFileSync(file, JSON.stringify({ contracts: { '/': all } }));
  const limits = 'loopDelayMs=60000,shadowMs=60000';
  const args = ['--config', file, '--workers', '2', '--drain-delay', '0', '--limits', limits];
  const { child, ended, port } = await start(t, args, { SOAPBRIDGE_LOG_LEVEL: 'info' });
  let log = '';
  child.stdout?.on('data', (chunk) => {
    log += chunk;
  });
  for (let call = 1; call <= 20; call++) {
    const reply = await send(port, { path, headers, body: message(`GRANT${call}`) });
    t.is(reply.body.toString(), legacyReply);
    await until(() => log.split('"compared":"').length > call);
  }
  // the noise comparison of the last call
  await until(() => legacy.hits.length === 40);
  child.kill('SIGTERM');
  t.is((await ended).code, 0);
  const state = join(folder, 'state.json');
  const read = readState(state);
  t.like(read?.operations[0], { operation: zip, equal: 0, different: 20, unanswered: 0 });
  t.is(read?.operations[0]?.callers.length, 1);
  t.true((read?.operations[0]?.noisePairs ?? 0) >= 19);
  t.like(read?.findings, [{ path: 'FileDataHandler', kind: 'value', count: 20, calls: 20, noise: 0 }]);
  t.is(read?.findings[0]?.examples.length, 5);
  t.like(read?.findings[0]?.examples[0], { class: 'bytes', legacy: 'UEsDBA==', new: 'UEsDBQ==' });
  const report = await run(t, ['report', '--state', state, '--operation', zip, '--require', 'ready']).ended;
  t.is(report.code, 1);
  t.regex(
    report.out,
    /^GetApplicationZip: different\n {2}calls: 20 \(required: 20\), 0 equal, 0 explained, 20 different$/m,
  );
  t.regex(report.out, /^ {2}different: FileDataHandler value\n {4}20 times in 20 calls of 1 caller/m);
});
