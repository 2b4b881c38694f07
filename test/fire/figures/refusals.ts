import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { BigHealth } from '../../../bench/big.ts';
import { attacks, bodyOf, headersOf, textOf } from '../attacks.ts';
import { emptyReply, startUpstream, urlOf } from './load.ts';

/** An input whose rejection is measured. */
interface Input {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly headers: readonly string[];
  readonly body: Buffer | undefined;
}

interface Cost {
  readonly name: string;
  readonly bytes: number;
  readonly cpuMs: number;
  readonly heldCpuMs: number;
}

const mebibyte = 1024 * 1024;
/** The size of the largest body, minus its envelope. */
const room = 16 * mebibyte - 1_024;

const envelope = (inside: string): string =>
  `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><convert xmlns="urn:Documents"><Body>${inside}</Body></convert></s:Body></s:Envelope>`;

/** Repeats a piece up to a number of bytes. */
const fill = (piece: string, bytes = room): string =>
  piece.repeat(Math.floor(bytes / Buffer.byteLength(piece)));
/** Joins numbered pieces. */
const number = (piece: (index: number) => string, count: number): string =>
  Array.from({ length: count }, (_, index) => piece(index)).join('');

const text = 'x'.repeat(mebibyte - 100);
const wide = '備'.repeat((mebibyte - 100) / 3);
const notes = (note: string): string => fill(`<string>${note}</string>`);

/** Messages of maximum size that are wrong only at the end, so that all of the message must be read. */
const xmlInputs: Readonly<Record<string, string>> = {
  'base64 that ends wrong': envelope(`<content>${fill('ZG9j')}!</content>`),
  'base64 with a return after each letter': envelope(`<content>${fill('Z\rG\r9\rj\r')}!</content>`),
  'base64 of CDATA sections of a return': envelope(`<content>${fill('<![CDATA[\r]]>')}!</content>`),
  'returns in a CDATA section': envelope(`<content><![CDATA[${fill('\r')}]]>!</content>`),
  'attributes of tabs': envelope(`<notes>${fill(`<string a="${'\t'.repeat(65_000)}"/>`)}`),
  'namespaces that differ at their ends': envelope(
    `<notes ${number((index) => `xmlns:p${index}="${'u'.repeat(1_000)}${index}" `, 60)}>${fill(`<string ${number((index) => `p${index}:a="" `, 60)}/>`)}`,
  ),
  'base64 with a blank after each letter': envelope(`<content>${fill('Z G 9 j ')}!</content>`),
  'base64 with a carriage return after each letter': envelope(`<content>${fill('Z\rG\r9\rj\r')}!</content>`),
  'texts, the last one unclosed': envelope(`<notes>${notes(text)}`),
  'texts of two bytes a character, the last one unclosed': envelope(`<notes>${notes(wide)}`),
  'character references': envelope(`<notes>${notes(fill('&#65;', mebibyte - 100))}`),
  'as many elements as may be': envelope(`<notes>${fill('<string/>', 49_000 * 9)}<unknown>`),
  'elements with attributes': envelope(
    `<notes>${fill(`<string ${number((index) => `a${index}="" `, 60)}/>`)}`,
  ),
  'namespaces declared over and over': envelope(
    `<notes>${fill(`<string ${number((index) => `xmlns:p${index}="urn:u" `, 60)}/>`)}`,
  ),
  'attributes of the greatest length': envelope(`<notes>${fill(`<string a="${'x'.repeat(65_000)}"/>`)}`),
  'a comment': envelope(`<!--${fill('x ')}--><unknown/>`),
  blanks: envelope(`${fill(' \n')}<unknown/>`),
  'CDATA sections': envelope(`<notes>${notes(fill('<![CDATA[x]]>', mebibyte - 100))}`),
  'unknown members': envelope(`${fill('<unknown>x</unknown>', 49_000 * 20)}`),
};

/** Valid messages of the same size. */
const rightInputs: Readonly<Record<string, string>> = {
  'XML: base64 in lines': envelope(`<content>${fill(`${'ZG9j'.repeat(19)}\r\n`)}</content>`),
  'XML: texts': envelope(`<notes>${notes(text)}</notes>`),
  'XML: texts to be escaped': envelope(`<notes>${notes(fill('&quot;', mebibyte - 100))}</notes>`),
  'XML: as many elements as may be': envelope(`<notes>${fill('<string/>', 49_000 * 9)}</notes>`),
  'JSON: base64': `{"body":{"content":"${fill('ZG9j')}"}}`,
  'JSON: names in another case': `{"Body":{"NOTES":[${fill('"x",', 4 * 190_000)}"x"],"Content":"${fill('ZG9j')}"}}`,
};

/** The maximum number of items, all different. */
const differing = Array.from({ length: 110_000 }, (_, index) => `"x${index}"`);

/** Returns a list nested 30 levels deep. `opening` is the start of each outer list. */
const nested = (opening: string, items: readonly string[]): string =>
  `{"body":{"nested":${opening.repeat(29)}[${items.join()}]${']'.repeat(29)}}}`;

/** Messages of a megabyte for a strict contract. */
const strictInputs: Readonly<Record<string, string>> = {
  'numbers of 398 digits': `{"body":{"numbers":[${fill(`0.${'0'.repeat(395)}1,`, mebibyte - 1_000)}1]}}`,
  'lists in lists, all to differ': nested('[', differing),
  'lists of two in lists, all to differ': nested('["a",', differing),
  'lists of two in lists of numbers, all to differ': nested(
    '["a",',
    differing.map((_, index) => `${index}.50`),
  ),
  'lists of two in lists of escapes, all to differ': nested(
    '["a",',
    differing.map((_, index) => `"\\u0041${index}"`).slice(0, 80_000),
  ),
  'a text for a pattern with many instructions': `{"body":{"code":"${fill('1', 9_000)}!"}}`,
  'a text for a pattern with few': `{"body":{"word":"${fill('x', mebibyte - 1_000)}!"}}`,
};

const jsonInputs: Readonly<Record<string, string>> = {
  'base64 that ends wrong': `{"body":{"content":"${fill('ZG9j')}!"}}`,
  'a string without end': `{"body":{"notes":["${fill('x')}`,
  escapes: `{"body":{"notes":["${fill('\\u0041')}"]}`,
  'text of two bytes a character': `{"body":{"notes":["${fill('備')}"]}`,
  'as many items as may be': `{"body":{"notes":[${fill('"",', 3 * 199_000)}`,
  'unknown members': `{${fill('"unknown":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",', 45 * 199_000)}`,
  numbers: `{"body":{"notes":[${fill('1234567890123456789012345678901234567890,', 41 * 199_000)}`,
  blanks: `{"body":${fill(' \n')}`,
  'an unknown member of a long name in capitals': `{"body":{"${fill('A')}":1}}`,
  'an unknown member of a long name of escapes': `{"body":{"${fill('\\u0041')}":1}}`,
};

const post = (name: string, path: string, body: Buffer, headers: readonly string[] = []): Input => ({
  name,
  method: 'POST',
  path,
  headers,
  body,
});

function* largeInputs(): Generator<Input> {
  for (const [name, message] of Object.entries(xmlInputs)) {
    const body = Buffer.from(message);
    yield post(`XML: ${name}`, '/soap11', body);
    yield post(`XML, compressed: ${name}`, '/soap11', gzipSync(body, { level: 1 }), [
      'Content-Encoding',
      'gzip',
    ]);
    const half = Buffer.from(`\ufeff${message.slice(0, room / 2)}`, 'utf16le');
    yield post(`XML in UTF-16: ${name}`, '/soap11', half);
  }
  yield post('XML in windows-1252: bytes that it looks up', '/soap11', Buffer.alloc(room, 0x80), [
    'Content-Type',
    'text/xml; charset=windows-1252',
  ]);
  for (const [name, message] of Object.entries(jsonInputs))
    yield post(`JSON: ${name}`, '/json/reply/convert', Buffer.from(message));
  yield post('XML in windows-1252: bytes from 0x80 on', '/soap11', Buffer.alloc(room, 0x80), [
    'Content-Type',
    'text/xml; charset=windows-1252',
  ]);
  yield post('XML in UTF-8: bytes that are none', '/soap11', Buffer.alloc(room, 0xff));
  for (const [name, message] of Object.entries(rightInputs)) {
    const path = name.startsWith('XML') ? '/soap11' : '/json/reply/convert';
    yield post(`${name}, all of it right`, path, Buffer.from(message));
  }
}

function* strictLargeInputs(): Generator<Input> {
  for (const [name, message] of Object.entries(strictInputs))
    yield post(`JSON, validate: strict: ${name}`, '/json/reply/convert', Buffer.from(message));
}

function* attackInputs(): Generator<Input> {
  const names = { file: '/etc/hostname', trap: '9' };
  for (const attack of [...attacks.values()].flat()) {
    const path = `/v2${textOf(attack.address, names)}${attack.path === undefined ? '' : textOf(attack.path, names)}`;
    const query = attack.query === undefined ? '' : `?${textOf(attack.query, names)}`;
    const body = bodyOf(attack, names);
    yield {
      name: attack.title,
      method: attack.method ?? 'POST',
      path: path + query,
      headers: headersOf(attack),
      body: body === undefined ? undefined : Buffer.from(body),
    };
  }
}

/**
 * Measures the cost of rejecting the tested attacks and generated messages of maximum size, most of them wrong at the
 * end.
 */
export async function refusals(): Promise<void> {
  const upstream = await startUpstream((response) => response.end(emptyReply));
  const documents = fileURLToPath(new URL('documents', import.meta.url));
  const attacking = await costsOf(attackInputs(), { SOAPBRIDGE_UPSTREAM_URL: urlOf(upstream) });
  const large = await costsOf(largeInputs(), {
    SOAPBRIDGE_UPSTREAM_URL: urlOf(upstream),
    SOAPBRIDGE_CONTRACT: documents,
  });
  const strict = await costsOf(strictLargeInputs(), {
    SOAPBRIDGE_UPSTREAM_URL: urlOf(upstream),
    SOAPBRIDGE_CONTRACT: fileURLToPath(new URL('strict', import.meta.url)),
  });
  const costs = [...attacking, ...large, ...strict];
  const over = costs.filter(({ cpuMs, heldCpuMs }) => cpuMs > 300 || heldCpuMs > 50);
  for (const { name, bytes, cpuMs, heldCpuMs } of over.toSorted((a, b) => b.heldCpuMs - a.heldCpuMs))
    console.log(
      `  ${name} (${bytes} bytes): ${cpuMs.toFixed(0)} ms of CPU, ${heldCpuMs.toFixed(0)} ms in one turn`,
    );
  console.log(
    `refusals: ${costs.length} inputs, ${over.length} beyond 300 ms of CPU or 50 ms in one turn of the event loop; ${worstOf(costs)}; of the attacks, which are up to 1 MiB large, ${worstOf(attacking)}`,
  );
  upstream.closeAllConnections();
  upstream.close();
}

function worstOf(costs: readonly Cost[]): string {
  const most = (of: 'cpuMs' | 'heldCpuMs'): string => {
    const [worst] = costs.toSorted((a, b) => b[of] - a[of]);
    return `${worst?.[of].toFixed(0)} ms (${worst?.name})`;
  };
  return `at most ${most('cpuMs')} of CPU, ${most('heldCpuMs')} in one turn`;
}

/**
 * Measures each input three times and returns the minimum, which excludes compilation by V8 and load of the machine.
 */
async function costsOf(
  inputs: Iterable<Input>,
  environment: Record<string, string>,
): Promise<readonly Cost[]> {
  const gateway = fork(new URL('../../../bench/servers/watched-gateway.ts', import.meta.url), {
    execArgv: ['--expose-gc'],
    env: { ...process.env, ...environment },
  });
  const [url] = await once(gateway, 'message');
  const costs: Cost[] = [];
  for (const input of inputs) {
    const healths: BigHealth[] = [];
    for (let time = 0; time < 3; time++) healths.push(await costOf(gateway, new URL(url), input));
    costs.push({
      name: input.name,
      bytes: input.body?.length ?? 0,
      cpuMs: Math.min(...healths.map(({ cpuMs }) => cpuMs)),
      heldCpuMs: Math.min(...healths.map(({ heldCpuMs }) => heldCpuMs)),
    });
  }
  gateway.kill();
  return costs;
}

async function costOf(
  gateway: ChildProcess,
  url: URL,
  { method, path, headers, body }: Input,
): Promise<BigHealth> {
  gateway.send('watch');
  await once(gateway, 'message');
  await new Promise<void>((resolve) => {
    const all = ['Host', url.host, ...headers, 'Content-Length', String(body?.length ?? 0)];
    const call = request({ host: url.hostname, port: url.port, method, path, headers: all, agent: false });
    call.on('error', () => resolve());
    call.on('response', (response) => response.resume().on('close', resolve));
    call.end(body);
  });
  gateway.send('tell');
  const [health] = await once(gateway, 'message');
  return health;
}
