import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A gateway in a separate process. */
export interface Served {
  readonly child: ChildProcess;
  readonly port: number;
  /** Its exit code and standard error. */
  readonly ended: Promise<{ readonly code: number | null; readonly err: string }>;
}

/** Starts `soapbridge serve` on a free port. Resolves when it listens. */
export async function startProcess(environment: Readonly<Record<string, string>>): Promise<Served> {
  const child = spawn(process.execPath, ['bin/soapbridge.js', 'serve'], {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', PORT: '0', SOAPBRIDGE_LOG_LEVEL: 'warn', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = Promise.all([text(child.stderr), once(child, 'close')]).then(([err, [code]]) => ({
    code,
    err,
  }));
  let out = '';
  const port = await new Promise<number>((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      out += chunk;
      const said = /listens on http:\/\/127\.0\.0\.1:(\d+)/.exec(out);
      if (said !== null) resolve(Number(said[1]));
    });
    child.once('exit', () => reject(new Error(`soapbridge serve: expected it to listen, got ${out}`)));
  });
  return { child, port, ended };
}
