import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { compileContract } from '../../mappings/compile.ts';
import { readContract, screeningContract } from '../../mappings/loader/load.ts';
import { Kits } from '../../wsdl/kits/kits.ts';
import { signingFiles } from '../../wsdl/kits/signing.ts';
import type { Snippet } from '../../wsdl/kits/snippets.ts';
import { createSampler } from '../../wsdl/samples/samples.ts';
import { startSigned } from '../security/signed.ts';
import { endpointOf, serveContract } from './gateway.ts';

// Runs the programs of kits with their stacks against the gateway. Only the placeholders of credentials are replaced.

const documents = join(import.meta.dirname, '../documents');

/** The contracts and called operations: the shipped contract, a large document, and one with unions. */
const contracts = [
  ['screening', screeningContract, ['UpdateSubUser', 'GetSearch', 'GetPdf']],
  ['a large document', join(documents, 'galaxy'), undefined],
  ['unions', join(documents, 'fulfillment'), undefined],
  ['a header block with a credential', join(import.meta.dirname, '../fixtures/kits/session'), undefined],
] as const;

/** The runner of a stack's programs: a command that probes for the stack, and the command for a program. */
interface Stack {
  readonly probe: string;
  readonly run: (file: string, folder: string) => readonly string[];
  /** Adapts the program to an older library on the machine. */
  readonly edit?: (text: string) => string;
}

const jaxWs = '/usr/share/jaxws/lib/*';

const stacks: Readonly<Record<string, Stack>> = {
  curl: { probe: 'curl --version', run: (file) => ['sh', file] },
  php: {
    probe: 'php -r \'exit(class_exists("SoapClient") ? 0 : 1);\'',
    run: (file) => ['php', '-d', 'soap.wsdl_cache_enabled=0', file],
  },
  zeep: { probe: "/usr/bin/python3 -c 'import zeep'", run: (file) => ['/usr/bin/python3', file] },
  // the program is outside the project but uses its package
  node: {
    probe: 'true',
    run: (file) => [process.execPath, file],
    edit: (program) => program.replace("'soap'", JSON.stringify(import.meta.resolve('soap'))),
  },
  perl: { probe: 'perl -MHTTP::Tiny -e 1', run: (file) => ['perl', file] },
  go: { probe: 'go version', run: (file) => ['go', 'run', file] },
  jaxws: {
    probe: 'test -d /usr/share/jaxws/lib && javac -version',
    run: (file, folder) => [
      'sh',
      '-c',
      `javac -nowarn -cp '${jaxWs}' -d ${folder} ${file} && java -cp '${folder}:${jaxWs}' JaxWsCall`,
    ],
    edit: (program) => program.replaceAll('jakarta.xml.', 'javax.xml.'),
  },
};

const cases = contracts.flatMap((contract) =>
  ['http', ...Object.keys(stacks)].map((id) => [...contract, id] as const),
);

/** Stacks that are not installed. */
const missing = new Set(
  Object.keys(stacks).filter((id) => spawnSync('sh', ['-c', stacks[id]?.probe ?? '']).status !== 0),
);

for (const [name, place, named, id] of cases) {
  const title = `${name}: the programs for ${id} run, and get the reply`;
  if (missing.has(id)) {
    test.skip(`${title} (skipped: ${id} is not installed)`, () => {});
    continue;
  }
  test.serial(title, async (t) => {
    const { contract } = readContract(place);
    const compiled = compileContract(contract);
    const sampler = createSampler(compiled);
    const upstream = await startUpstream(t);
    const gateway = await serveContract(place, upstream.url);
    t.teardown(gateway.stop);
    const address =
      contract.adopted === undefined ? endpointOf(gateway, '1.1').replace('/soap11', '') : gateway.url;
    const kits = new Kits(compiled, address, sampler);
    const operations = named ?? [...compiled.operations.keys()].slice(0, 2);
    const folder = mkdtempSync(join(tmpdir(), 'kits-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    for (const operation of operations) {
      upstream.answer(sampler.samplesOf(operation)?.upstreamReply ?? { body: '{}' });
      for (const snippet of kits.snippets(operation) ?? []) {
        if (snippet.id !== id) continue;
        const before = upstream.calls();
        const out = await runSnippet(snippet, folder, Number(new URL(gateway.url).port));
        t.true(upstream.calls() > before, `${operation} by ${snippet.id}: ${out}`);
        t.notRegex(out, /Fault|ErrorCode>|HTTP\/1\.1 [45]/, `${operation} by ${snippet.id}: ${out}`);
        if (contract.adopted !== undefined) t.is(upstream.authorization(), 'Bearer YOUR_SESSION', snippet.id);
      }
    }
  });
}

/** A reply of the upstream: status 200 by default. */
interface Reply {
  readonly status?: number | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** Starts an upstream that gives every call the same reply, and counts the calls. */
async function startUpstream(t: ExecutionContext) {
  let reply: Reply = { body: '{}' };
  let count = 0;
  let authorization: string | undefined;
  const server = createServer((request, response) => {
    count += 1;
    authorization = request.headers.authorization;
    request.resume();
    response.writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers });
    response.end(reply.body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: () => count,
    /** The `Authorization` header of the last call. */
    authorization: () => authorization,
    answer: (next: Reply): void => {
      reply = next;
    },
  };
}

/** Runs a program and returns its output. */
async function runSnippet(
  { id, file, text: program }: Snippet,
  folder: string,
  port: number,
): Promise<string> {
  if (id === 'http') return sendRaw(program, port);
  const stack = stacks[id];
  if (stack === undefined) throw new Error(`${id}: said to be run, and nothing runs it`);
  const path = join(folder, file);
  writeFileSync(path, stack.edit?.(program) ?? program);
  const [command = '', ...rest] = stack.run(path, folder);
  return new Promise((resolve) => {
    execFile(command, rest, { encoding: 'utf8', timeout: 90_000 }, (error, out, err) => {
      resolve(
        error === null
          ? out
          : `Fault: ${id} failed: ${out}\n${err || error.message}\n${program.slice(0, 3_000)}`,
      );
    });
  });
}

/** Sends a raw message over a socket. */
async function sendRaw(message: string, port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  // the connection is not half-closed, since the gateway would treat the client as gone
  socket.write(message);
  return text(socket);
}

test('every program listed as run has a stack that runs it', (t) => {
  const compiled = compileContract(readContract(screeningContract).contract);
  const snippets = new Kits(compiled, 'http://127.0.0.1').snippets('GetSearch') ?? [];
  const run = snippets.filter(({ isRun }) => isRun).map(({ id }) => id);
  t.deepEqual(run.toSorted(), ['http', ...Object.keys(stacks)].toSorted());
});

const python = '/usr/bin/python3';
const hasZeep = spawnSync(python, ['-c', 'import zeep, xmlsec']).status === 0;

(hasZeep ? test : test.skip)(
  `X38: the program for zeep that signs gets a reply, and verifies it${hasZeep ? '' : ' (skipped: zeep or xmlsec is not installed)'}`,
  async (t) => {
    const cwd = mkdtempSync(join(tmpdir(), 'signed-'));
    const gateway = await startSigned(
      t,
      'default',
      cwd,
      {},
      {},
      'sign: { key: gateway.key, certificate: gateway.crt }',
    );
    gateway.answer({ body: '{"data":{"agreeToTerms":true}}' });
    for (const kind of ['key', 'crt']) copyFileSync(join(cwd, `alice.${kind}`), join(cwd, `caller.${kind}`));
    const lists = { cas: [], certificates: [], crls: [], files: [] };
    const files = signingFiles(
      {
        username: undefined,
        password: undefined,
        digest: 'refuse',
        timestamp: 'required',
        unverified: [],
        x509: {
          ...lists,
          require: ['body', 'timestamp'],
          credential: undefined,
          sha1: false,
          replay: 'allow',
        },
        sign: { key: '', certificates: [''], files: [], confirmation: false },
      },
      `${gateway.running.url}/v2/soap11?wsdl`,
    );
    const call = 'print(client.service.GetEulaStatus(Request={"SubUserName": "jane"}))\n';
    writeFileSync(join(cwd, 'call.py'), `${files.get('signing/zeep_signing.py')}${call}`);
    const { stdout } = await promisify(execFile)(python, ['call.py'], { cwd });
    t.regex(stdout, /'AgreeToTerms': True/);
  },
);
