import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { parse } from 'yaml';
import { readReplayCredentials } from '../../gateway/migration/recording/replay-credentials.ts';
import { startRecording } from '../migration/recording-site.ts';
import { contractFolder } from '../migration/scenario.ts';
import { checkFiles, clone, readPage, run, type Served, serve, stepsOf } from './page.ts';

const page = readPage('record-and-replay.md');
const [walk = '', rest = ''] = page.split('\n## Record\n');

/** Replaces times, durations and ids, which differ in each run. */
function steady(printed: string): string {
  return printed
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/\d[\d.,]* ms/g, 'MS')
    .replace(/request [\w-]+/g, 'request ID')
    .trimEnd();
}

test('docs/record-and-replay.md: every command of the example works as the page shows', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'record-example-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  cpSync('examples', join(folder, 'examples'), { recursive: true });
  const place = { ...clone, folder, environment: { LEGACY_PORT: '0', NEW_PORT: '0' } };
  const ports = new Map<string, string>();
  let gateway: Served | undefined;
  let compared = 0;
  for (const { command, serves, prints } of stepsOf(walk)) {
    if (command.includes('npx soapbridge') && !serves) {
      await gateway?.stop();
      gateway = undefined;
    }
    let here = command;
    for (const [shown, port] of ports) here = here.replaceAll(`127.0.0.1:${shown}`, `127.0.0.1:${port}`);
    if (serves) {
      const served = await serve(t, here, place);
      const shown = command.includes('legacy.mjs') ? '9091' : command.includes('new.mjs') ? '9092' : '8080';
      if (shown === '8080') gateway = served;
      ports.set(shown, served.port);
      for (const name of globSync('examples/migration/*.yaml', { cwd: folder })) {
        const text = readFileSync(join(folder, name), 'utf8');
        writeFileSync(join(folder, name), text.replaceAll(`127.0.0.1:${shown}`, `127.0.0.1:${served.port}`));
      }
      continue;
    }
    const { out, code } = await run(t, here, place);
    t.is(code, 0, command);
    if (prints === undefined) continue;
    compared++;
    t.is(steady(out), steady(prints), command);
  }
  t.is(compared, 2);
});

test('docs/record-and-replay.md names existing files', (t) => {
  checkFiles(t, page);
});

test('docs/record-and-replay.md: the gateway reads the settings and the credentials', async (t) => {
  const blocks = [...rest.matchAll(/```yaml( credentials)?\n(.*?)```/gs)];
  for (const [, credentials, text = ''] of blocks) {
    if (credentials === undefined) {
      const { contracts } = parse(text);
      const { record } = contracts['/orders'].migration;
      const site = await startRecording(t, { contract: contractFolder('contracts/orders'), record });
      t.deepEqual(site.recorded(), []);
      continue;
    }
    const folder = mkdtempSync(join(tmpdir(), 'record-credentials-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(join(folder, 'credentials.yaml'), text);
    t.deepEqual([...readReplayCredentials(join(folder, 'credentials.yaml')).keys()], ['acme', '*']);
  }
  t.is(blocks.length, 2);
});
