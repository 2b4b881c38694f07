import { request, type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import { startProcess } from '../process.ts';
import { at, startUpstream, stop, urlOf } from './load.ts';
import { type Mix, mixes } from './memory-mixes.ts';
import { peakBytes, residentBytes } from './of-process.ts';

const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;
/** Body sizes from a small call to the largest accepted body. */
const sizes = [1, 4, 16, 64, 256, 1_024, 4_096, 16_380].map((size) => size * kibibyte);

/** A document in base64, and notes in three alphabets, for which V8 uses two bytes per character. */
const contentOf = (bytes: number): string => 'ZG9j'.repeat(bytes >> 2);
const note = 'Überweisung für Müller, Заметка, 備考 '.repeat(25);
const noteBytes = Buffer.byteLength(note);

function notesOf(bytes: number, tags: number): readonly string[] {
  return Array.from({ length: Math.max(1, Math.floor(bytes / (noteBytes + tags))) }, () => note);
}

const envelope = (element: string): string =>
  `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><convert xmlns="urn:Documents"><Body>${element}</Body></convert></s:Body></s:Envelope>`;

interface Call {
  readonly path: string;
  readonly body: Buffer;
}

/** Each size as a document and as notes, over SOAP and as JSON. The surrounding markup is included in the size. */
const calls: readonly Call[] = sizes.flatMap((size) => {
  const bytes = size - 512;
  const content = contentOf(bytes);
  return [
    { path: '/soap11', body: envelope(`<content>${content}</content>`) },
    { path: '/json/reply/convert', body: JSON.stringify({ body: { content } }) },
    {
      path: '/soap11',
      body: envelope(
        `<notes>${notesOf(bytes, 17)
          .map((each) => `<string>${each}</string>`)
          .join('')}</notes>`,
      ),
    },
    { path: '/json/reply/convert', body: JSON.stringify({ body: { notes: notesOf(bytes, 3) } }) },
  ].map(({ path, body }) => ({ path, body: Buffer.from(body) }));
});

const replies: readonly Buffer[] = sizes.flatMap((size) => [
  Buffer.from(JSON.stringify({ content: contentOf(size) })),
  Buffer.from(JSON.stringify({ notes: notesOf(size, 3) })),
]);

/** Sends 512 calls of all sizes. The upstream holds them until all admitted calls have arrived. */
async function sizesAtOnce(): Promise<void> {
  const held: ServerResponse[] = [];
  let answers = false;
  let next = 0;
  const answer = (response: ServerResponse): void => {
    response.end(replies[next++ % replies.length]);
  };
  const upstream = await startUpstream((response) => {
    if (answers) answer(response);
    else held.push(response);
  });
  const served = await startProcess({
    SOAPBRIDGE_UPSTREAM_URL: urlOf(upstream),
    SOAPBRIDGE_LIMITS: 'loopDelayMs=60000', // so that a slow machine rejects calls only for their bytes, not for loop delay
    SOAPBRIDGE_CONTRACT: fileURLToPath(new URL('documents', import.meta.url)),
  });
  const idle = residentBytes(served.child.pid);
  const statuses = new Map<number, number>();
  let offered = 0;
  let settled = 0;
  const replied = Array.from({ length: defaultLimits.inFlight }, async (_, index) => {
    const call = calls[index % calls.length];
    if (call === undefined) return;
    offered += call.body.length;
    const status = await send(served.port, call);
    settled++;
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  });
  const count = (status: number): number => statuses.get(status) ?? 0;
  let inFlight = 0;
  let heldBytes = 0;
  for (let same = 0; same < 20; ) {
    const now = await gauge(served.port, 'in_flight');
    same = now === inFlight && now + settled === replied.length ? same + 1 : 0;
    inFlight = now;
    heldBytes = await gauge(served.port, 'held_bytes');
    await pause(100);
  }
  const shed = count(503);
  const waiting = residentBytes(served.child.pid);
  answers = true;
  for (const response of held) answer(response);
  await Promise.all(replied);
  const peak = peakBytes(served.child.pid);
  console.log(
    `memory: ${replied.length} calls of ${sizes[0]} to ${sizes.at(-1)} bytes offered at once, ${mib(offered)} in all: ${inFlight} held in flight with ${mib(heldBytes)} of bodies, ${shed} shed; ${count(200)} answered, ${count(503) - shed} refused for the size of their answers; resident ${mib(idle)} before, ${mib(waiting)} while they waited, ${mib(peak)} at most`,
  );
  await stop(served, upstream);
}

/** Maximum memory of a process with the default limits under any load. */
const mostBytes = 1024 * mebibyte;

/** Runs all scenarios, each on a new gateway with the default limits, while another caller makes small calls. */
export async function memory(): Promise<void> {
  await sizesAtOnce();
  for (const measureMix of memoryMixes.values()) await measureMix();
}

/** The scenarios by name, for example `memory/chunks`. Each throws a RangeError if the process exceeded the maximum. */
export const memoryMixes: ReadonlyMap<string, () => Promise<void>> = new Map(
  [...mixes].map(([name, mix]) => [`memory/${name}`, () => measure(name, mix)]),
);

async function measure(name: string, { what, run, answer }: Mix): Promise<void> {
  const upstream = await startUpstream((response) => {
    if (answer === undefined || response.req.method === 'GET') response.end('{}');
    else answer(response);
  });
  const served = await startProcess({
    SOAPBRIDGE_UPSTREAM_URL: urlOf(upstream),
    SOAPBRIDGE_CONTRACT: fileURLToPath(new URL('documents', import.meta.url)),
  });
  const others = startOthers(served.port);
  const statuses = await run(served.port);
  const answered = await others.stop();
  const peak = peakBytes(served.child.pid);
  const told = [...statuses]
    .map(([status, count]) => `${count} × ${status === 0 ? 'cut' : status}`)
    .join(', ');
  console.log(`memory, ${name}: ${what}: ${told}; ${answered}; resident ${mib(peak)} at most`);
  await stop(served, upstream);
  if (peak > mostBytes)
    throw new RangeError(`memory, ${name}: expected at most ${mib(mostBytes)}, got ${mib(peak)}`);
}

/** Makes small calls continuously, one per new connection. */
function startOthers(port: number): { readonly stop: () => Promise<string> } {
  let goesOn = true;
  let good = 0;
  const times: number[] = [];
  const done = (async () => {
    while (goesOn) {
      const began = performance.now();
      if ((await send(port, { path: '/json/reply/look', body: Buffer.from('{}') })) === 200) good++;
      times.push(performance.now() - began);
      await pause(20);
    }
  })();
  return {
    stop: async () => {
      goesOn = false;
      await done;
      const slowest = Math.max(...times).toFixed(0);
      return `${good} of ${times.length} small calls of others answered, in ${at(times, 0.5).toFixed(1)} ms (median) to ${slowest}`;
    },
  };
}

const mib = (bytes: number): string => `${(bytes / mebibyte).toFixed(0)} MiB`;

function send(port: number, { path, body }: Call): Promise<number> {
  return new Promise((resolve) => {
    const headers = { 'content-length': body.length };
    const call = request({ host: '127.0.0.1', port, method: 'POST', path, headers, agent: false });
    call.on('error', () => resolve(0));
    call.on('response', (response) =>
      response.resume().on('end', () => resolve(Number(response.headers['x-status'] ?? response.statusCode))),
    );
    call.end(body);
  });
}

async function gauge(port: number, name: string): Promise<number> {
  const page = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return Number(new RegExp(`^soapbridge_${name} (\\S+)$`, 'm').exec(page)?.[1]);
}
