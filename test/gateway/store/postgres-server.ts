import { execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { until } from '../../until.ts';

/** Password of the user `gateway` of a test server. */
export const password = 'a secret/of %40 PostgreSQL';

/** A PostgreSQL server on a port of its own. */
export interface PostgresServer {
  /** Creates a database, and returns its URL without and with the password. */
  readonly create: () => { readonly url: string; readonly urlWithPassword: string };
  /** Starts the server and waits until it accepts connections. */
  readonly start: () => Promise<void>;
  /** Stops the server at once. */
  readonly stop: () => Promise<void>;
  /** Stops the server, and removes its files. */
  readonly remove: () => Promise<void>;
}

const packaged = '/usr/lib/postgresql';

/** Returns the folder of the programs of PostgreSQL; undefined if it is not installed. */
export function postgresPrograms(): string | undefined {
  const [newest] = existsSync(packaged)
    ? readdirSync(packaged).toSorted((a, b) => Number(b) - Number(a))
    : [];
  const folder = newest === undefined ? undefined : join(packaged, newest, 'bin');
  return folder !== undefined && existsSync(join(folder, 'initdb')) ? folder : undefined;
}

/** Starts a server with a database. It ends with the test. */
export async function startPostgres(
  t: ExecutionContext,
  programs: string,
): Promise<ReturnType<PostgresServer['create']>> {
  const server = await launchPostgres(programs);
  t.teardown(server.remove);
  return server.create();
}

/** Starts a server. */
export async function launchPostgres(programs: string): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'soapbridge-postgres-'));
  // PostgreSQL refuses to run as root
  const owner = userInfo().uid === 0 ? ownerOf('postgres') : undefined;
  if (owner !== undefined) chownSync(folder, owner.uid, owner.gid);
  const run = { cwd: folder, ...owner };
  const port = await freePort();
  const data = join(folder, 'data');
  const settings = ['-F', '-p', String(port), '-k', folder, '-h', '127.0.0.1'];
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, password);
  if (owner !== undefined) chownSync(passwordFile, owner.uid, owner.gid);
  const initial = ['-D', data, '-U', 'postgres', '-A', 'scram-sha-256', '--pwfile', passwordFile];
  execFileSync(join(programs, 'initdb'), initial, { ...run, stdio: ['ignore', 'ignore', 'inherit'] });
  let server: ReturnType<typeof spawn> | undefined;
  const stop = async (): Promise<void> => {
    const stopped = server;
    server = undefined;
    if (stopped === undefined) return;
    const ended = new Promise((resolve) => stopped.once('exit', resolve));
    stopped.kill('SIGINT');
    await ended;
  };
  const start = async (): Promise<void> => {
    server = spawn(join(programs, 'postgres'), ['-D', data, ...settings], { ...run, stdio: 'ignore' });
    await until(() => isReady(programs, port));
  };
  await start();
  let databases = 0;
  return {
    create: () => {
      const name = `test${++databases}`;
      const where = ['-h', '127.0.0.1', '-p', String(port), '-U', 'postgres', name];
      execFileSync(join(programs, 'createdb'), where, { env: { ...process.env, PGPASSWORD: password } });
      const urlOf = (userinfo: string) => `postgres://${userinfo}@127.0.0.1:${port}/${name}`;
      return {
        url: urlOf('postgres'),
        urlWithPassword: urlOf(`postgres:${encodeURIComponent(password)}`),
      };
    },
    start,
    stop,
    remove: async () => {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function isReady(programs: string, port: number): boolean {
  try {
    execFileSync(join(programs, 'pg_isready'), ['-q', '-h', '127.0.0.1', '-p', String(port)]);
    return true;
  } catch {
    return false;
  }
}

function ownerOf(user: string): { readonly uid: number; readonly gid: number } {
  const idOf = (flag: string): number => Number(execFileSync('id', [flag, user], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
