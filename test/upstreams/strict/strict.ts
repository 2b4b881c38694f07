import { spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { serveContract } from '../../interop/gateway.ts';
import { run } from '../../interop/run-command.ts';

/** Servers that reject malformed request targets: Tomcat, Jetty and Go's net/http. Each returns the target. */

interface StrictServer {
  readonly name: string;
  /** Required commands. The server is skipped if one is missing. */
  readonly needs: readonly string[];
  /** Builds the server in a folder that is kept between runs. Throws an Error. */
  readonly build: (folder: string) => Promise<void>;
  readonly start: (folder: string) => readonly [command: string, args: readonly string[]];
}

const here = import.meta.dirname;
const limitMs = 300_000;

async function must(command: string, args: readonly string[], folder: string): Promise<void> {
  const done = await run(command, args, { folder, limitMs });
  if (!done.ok) throw new Error(`${command}: ${(done.errors || done.output).trim().slice(-1_000)}`);
}

function javaServer(name: string, main: string): StrictServer {
  return {
    name,
    needs: ['mvn', 'javac', 'java'],
    build: async (folder) => {
      const jars = join(folder, 'jars');
      if (!existsSync(jars))
        await must(
          'mvn',
          [
            '-q',
            '-B',
            '-f',
            join(here, 'java/pom.xml'),
            'dependency:copy-dependencies',
            `-DoutputDirectory=${jars}`,
          ],
          folder,
        );
      await must('javac', ['-cp', join(jars, '*'), '-d', folder, join(here, `java/${main}.java`)], folder);
    },
    start: (folder) => ['java', ['-cp', `${folder}:${join(folder, 'jars/*')}`, main]],
  };
}

/** The servers by their names in `--only`. */
export const strictServers: readonly StrictServer[] = [
  javaServer('tomcat', 'TomcatEcho'),
  javaServer('jetty', 'JettyEcho'),
  {
    name: 'go',
    needs: ['go'],
    build: (folder) => must('go', ['build', '-C', join(here, 'go'), '-o', join(folder, 'echo'), '.'], folder),
    start: (folder) => [join(folder, 'echo'), []],
  },
];

/** Values that must be encoded in a request target. */
const awkward = ['a[b]', '{c}|d', '^`"<>\\', 'é😀', 'a b', '100%', '#x?y=z&w', "-._~!$'()*+,;=:@/"] as const;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Calls one server through the gateway with each value. Returns the number of failures. */
export async function tryStrict({ name, needs, build, start }: StrictServer): Promise<number> {
  for (const command of needs) {
    const found = await run('which', [command], { folder: here, limitMs });
    if (!found.ok) {
      console.log(`  - [skip] upstreams › ${name} (${command} is not installed)`);
      return 0;
    }
  }
  const folder = join(tmpdir(), 'soapbridge-upstreams', `strict-${name}`);
  mkdirSync(folder, { recursive: true });
  await build(folder);
  const [command, args] = start(folder);
  const child = spawn(command, args, { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    const port = await new Promise<string>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) =>
        reject(new Error(`${name} ended with ${code} before it printed its port`)),
      );
      createInterface({ input: child.stdout }).once('line', resolve);
    });
    const gateway = await serveContract(join(here, 'contract'), `http://127.0.0.1:${port}`);
    try {
      return await callAll(name, gateway.url);
    } finally {
      await gateway.stop();
    }
  } finally {
    child.kill();
  }
}

async function callAll(name: string, url: string): Promise<number> {
  let failed = 0;
  for (const value of awkward) {
    const inner = escaped(value);
    const bare = inner.replaceAll('|', '').replaceAll(' ', '');
    // servers reject an encoded slash, backslash or percent sign in a path, although RFC 3986 allows them
    const segment = /[/\\%]/.test(value) ? 'x' : inner;
    const request =
      `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><find xmlns="urn:Strict">` +
      `<id>${segment}</id><tags_x005B__x005D_><string>${inner}</string></tags_x005B__x005D_>` +
      `<odd_x007C_name_x005E__x0060_>${inner}</odd_x007C_name_x005E__x0060_><filter><min>${inner}</min></filter>` +
      `<pipe><string>${bare}</string><string>2</string></pipe><space><string>${bare}</string><string>2</string></space>` +
      `<raw>${inner}</raw></find></s:Body></s:Envelope>`;
    const reply = await fetch(new URL('/soap11', url), {
      method: 'POST',
      headers: { 'content-type': 'text/xml; charset=utf-8' },
      body: request,
    });
    const text = await reply.text();
    const [, target = ''] = /<target>([^<]*)<\/target>/.exec(text) ?? [];
    const query = new URLSearchParams(target.replaceAll('&amp;', '&').split('?')[1] ?? '');
    const isRight =
      query.get('tags[]') === value &&
      query.get('filter[min]') === value &&
      query.get('odd|name^`') === value;
    if (!isRight) failed++;
    console.log(`  ${isRight ? '✔' : '✘'} upstreams › ${name} › takes ${JSON.stringify(value)}`);
    if (!isRight) console.log(`    ${text.slice(0, 600)}`);
  }
  return failed;
}
