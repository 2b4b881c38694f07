import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { freePort } from '../free-port.ts';
import { serveContract } from '../interop/gateway.ts';
import { run } from '../interop/run-command.ts';
import { scriptArguments } from '../script-arguments.ts';
import { type Server, servers, token } from './servers.ts';
import { strictServers, tryStrict } from './strict/strict.ts';

const help = `Serve the OpenAPI documents of third-party servers, and call them with zeep and a Java client.

usage: npm run upstreams -- [options]

  --only NAMES    run only these servers, separated by commas: ${[...servers, ...strictServers].map(({ name }) => name).join(', ')}
  --strict        run only the servers that refuse malformed request targets: ${strictServers.map(({ name }) => name).join(', ')}
  --install       first install missing servers from PyPI, each into its own environment
  --help          print this help`;

/** Folder of the environments; kept between runs. */
const environments = join(tmpdir(), 'soapbridge-upstreams');
const clients = ['zeep', 'java'] as const;

type Client = (typeof clients)[number];

const binOf = (server: Server): string => join(environments, server.name, 'bin');

async function main(): Promise<void> {
  const { values: options } = scriptArguments(help, {
    options: {
      only: { type: 'string' },
      install: { type: 'boolean', default: false },
      strict: { type: 'boolean', default: false },
    },
  });
  const names = options.only?.split(',');
  const known = [...servers, ...strictServers].map(({ name }) => name);
  const unknown = names?.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`--only: expected some of ${known.join(', ')}, got ${unknown}`);
  let failed = 0;
  for (const server of strictServers)
    if (names?.includes(server.name) !== false) failed += await tryStrict(server);
  for (const server of options.strict ? [] : servers) {
    if (names?.includes(server.name) === false) continue;
    if (options.install) await install(server);
    if (!existsSync(binOf(server))) {
      console.log(`  - [skip] upstreams › ${server.title} (not installed: npm run upstreams -- --install)`);
      continue;
    }
    failed += await tryServer(server);
  }
  process.exitCode = failed === 0 ? 0 : 1;
}

/** Creates the server's environment and installs its packages. Throws an Error. */
async function install(server: Server): Promise<void> {
  if (existsSync(join(environments, server.name, 'installed'))) return;
  const folder = join(environments, server.name);
  mkdirSync(environments, { recursive: true });
  rmSync(folder, { recursive: true, force: true });
  for (const [command, ...args] of [
    ['python3', '-m', 'venv', folder],
    [join(folder, 'bin/pip'), 'install', '-q', ...server.packages],
  ] as const) {
    const done = await run(command, args, { folder: environments, limitMs: 900_000 });
    if (!done.ok) throw new Error(`${server.title} can't be installed: ${done.errors.trim().slice(-2000)}`);
  }
  writeFileSync(join(folder, 'installed'), '');
}

/** Calls one server with every client. Returns the number of failed steps. */
async function tryServer(server: Server): Promise<number> {
  let failed = 0;
  for (const name of clients) {
    // each client needs an empty server
    const home = mkdtempSync(join(tmpdir(), `upstreams-${server.name}-`));
    const data = join(home, 'data');
    mkdirSync(data);
    const port = await freePort();
    const running = start(server, port, data);
    try {
      await ready(`http://127.0.0.1:${port}${server.ready}`, running);
      const contract = await contractOf(server, port, home);
      const gateway = await serveContract(contract, `http://127.0.0.1:${port}${server.base}`);
      try {
        failed += judge(server, name, await call(server, name, `${gateway.url}/soap12?wsdl`, home));
      } finally {
        await gateway.stop();
      }
    } finally {
      if (running.child.pid !== undefined && running.child.exitCode === null)
        process.kill(-running.child.pid);
      await running.ended;
      rmSync(home, { recursive: true, force: true });
    }
  }
  return failed;
}

interface RunningServer {
  readonly child: ChildProcess;
  readonly ended: Promise<unknown>;
  readonly said: () => string;
}

function start(server: Server, port: number, home: string): RunningServer {
  const [program, ...args] = server.command(port, home);
  const child = spawn(join(binOf(server), program), args, {
    cwd: home,
    env: { ...process.env, ...server.environment?.(home), PATH: `${binOf(server)}:${process.env.PATH}` },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let said = '';
  const note = (chunk: Buffer): void => {
    said = `${said}${chunk}`.slice(-2000);
  };
  child.stdout.on('data', note);
  child.stderr.on('data', note);
  const ended = new Promise((resolve) => {
    child.once('error', resolve);
    child.once('close', resolve);
  });
  return { child, ended, said: () => said };
}

/**
 * Waits until a URL responds without a server error. Throws an Error after two minutes, or if the process has ended.
 */
async function ready(url: string, { child, said }: RunningServer): Promise<void> {
  for (let waited = 0; waited < 120_000 && child.exitCode === null; waited += 250) {
    try {
      if ((await fetch(url)).status < 500) return;
    } catch {
      // not yet
    }
    await after(250);
  }
  throw new Error(`${url}: expected an answer within two minutes, got none; ${said()}`);
}

/** Creates the contract's folder with the server's own document and this project's overlay. */
async function contractOf(server: Server, port: number, home: string): Promise<string> {
  const folder = join(home, 'contract');
  cpSync(join(import.meta.dirname, 'contracts', server.name), folder, { recursive: true });
  const { document } = server;
  if ('path' in document) {
    const reply = await fetch(`http://127.0.0.1:${port}${document.path}`);
    writeFileSync(join(folder, 'openapi.json'), await reply.text());
  } else {
    const found = await run(
      join(binOf(server), 'python'),
      ['-c', `import os, ${document.module} as m; print(os.path.dirname(m.__file__))`],
      { folder: home, limitMs: 60_000 },
    );
    const file = join(found.output.trim(), document.file);
    writeFileSync(join(folder, 'openapi.yaml'), readFileSync(file));
  }
  return folder;
}

/** Runs a client against a WSDL. Returns its output by step, and its errors. */
async function call(server: Server, client: Client, wsdl: string, home: string) {
  const folder = join(import.meta.dirname, client);
  const environment = { LANG: 'C.UTF-8', TZ: 'America/New_York' };
  const limitMs = 300_000;
  if (client === 'java') {
    const built = await run('/bin/bash', ['build.sh', server.name, wsdl, home], {
      folder,
      limitMs,
      environment,
    });
    if (!built.ok) return { steps: new Map<string, string>(), errors: built.errors };
  }
  const [command, ...args] =
    client === 'zeep'
      ? ['/usr/bin/python3', `${server.name}.py`, wsdl, token]
      : [
          'java',
          '-cp',
          `${home}/classes:/usr/share/jaxws/lib/*`,
          '-Dfile.encoding=UTF-8',
          server.name,
          wsdl,
          token,
        ];
  const { output, errors } = await run(command as string, args, { folder, limitMs, environment });
  const steps = new Map(
    output.split('\n').flatMap((line): [string, string][] => {
      const [step, value] = line.split('\t');
      return step === undefined || value === undefined ? [] : [[step, value]];
    }),
  );
  return { steps, errors };
}

/** Prints a line for each step of a client. Returns the number of failures. */
function judge(
  server: Server,
  client: Client,
  { steps, errors }: { readonly steps: ReadonlyMap<string, string>; readonly errors: string },
): number {
  let failed = 0;
  for (const [step, expected] of Object.entries(server.expected)) {
    const got = steps.get(step);
    const isRight = got?.includes(expected) === true;
    if (!isRight) failed++;
    const why = isRight
      ? ''
      : ` expected ${JSON.stringify(expected)}, got ${got === undefined ? 'nothing' : JSON.stringify(got)}`;
    console.log(`  ${isRight ? '✔' : '✘ [fail]:'} upstreams › ${server.title} › ${client} › ${step}${why}`);
  }
  if (failed > 0) console.log(errors.trim().split('\n').slice(-8).join('\n'));
  return failed;
}

await main();
