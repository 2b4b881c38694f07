import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { run } from '../gateway/commands/run.ts';
import { checkFiles, readPage, runPage } from './page.ts';

/** Creates the folder of docs/adopt.md, and returns the replacements for its paths in commands. */
async function adopted(t: ExecutionContext): Promise<Map<string, string>> {
  const directory = mkdtempSync(join(tmpdir(), 'pages-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const orders = join(directory, 'orders');
  t.is((await run(t, ['adopt', 'docs/adopt/Orders.wsdl', '--out', orders]).ended).code, 0);
  return new Map([
    ['message.xml', join(directory, 'message.xml')],
    [' orders', ` ${orders}`],
    ['--out kit', `--out ${join(directory, 'kit')}`],
  ]);
}

/** Splits the code blocks of a page into single commands. */
function lines(page: string): string {
  return page.replace(/^```sh\n(.*?)^```$/gms, (_all, commands: string) =>
    commands.replace(/.+\n/g, (line) => `\`\`\`sh\n${line}\`\`\`\n`),
  );
}

test('docs/doctor.md: explain reports what the page shows', async (t) => {
  const page = readPage('doctor.md');
  const places = await adopted(t);
  const message = places.get('message.xml') ?? '';
  const examples = page.split('\n## ').slice(0, 2);
  for (const [index, contract] of [
    'docs/tutorial/openapi.yaml',
    places.get(' orders')?.trim() ?? '',
  ].entries()) {
    const example = examples[index] ?? '';
    // `explain` exits with 1, so only the command that writes the message runs as a page
    const [write = '', ...explain] = lines(example)
      .split(/(?=^```sh\n)/m)
      .slice(1);
    t.is(explain.length, index + 1);
    await runPage(t, write, places);
    const { code, out } = await run(t, ['explain', message, contract]).ended;
    t.is(code, 1);
    const [, shown = ''] = /`explain` prints:\n\n```\n(.*?)…\n```$/ms.exec(example) ?? [];
    t.true(shown.length > 0);
    t.is(out.replaceAll(message, 'message.xml').slice(0, shown.length), shown);
  }
  checkFiles(t, page);
});

test('docs/kits.md: every command works as the page shows', async (t) => {
  const page = readPage('kits.md');
  t.deepEqual(await runPage(t, lines(page), await adopted(t)), { served: 0, compared: 0 });
  checkFiles(t, page);
});
