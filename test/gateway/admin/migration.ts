import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { openAdmin } from '../../../gateway/admin/listener.ts';
import { contractFolder, type Site, type SiteOptions, startSite } from '../../migration/scenario.ts';
import { type AdminReply, type AdminRequestOptions, ask, sha256 } from './admin.ts';

/** Tokens by the names of their users: `vera` may read, `otto` may change. */
export const tokens = { vera: 'token-of-vera', otto: 'token-of-otto' } as const;

/** A gateway between two stubs, with a store and an admin listener. */
export interface AdministeredSite extends Site {
  readonly url: string;
  readonly folder: string;
  readonly as: (
    user: keyof typeof tokens,
    path: string,
    options?: AdminRequestOptions,
  ) => Promise<AdminReply>;
  /** Sends JSON as `otto`. */
  readonly post: (path: string, body: object) => Promise<{ readonly status: number; readonly json: Json }>;
}

/** A parsed reply. */
// biome-ignore lint/suspicious/noExplicitAny: tests read members of any reply
export type Json = any;

export interface AdministeredSiteOptions extends Partial<SiteOptions> {
  /** Folder of the store. Default: a new one. */
  readonly folder?: string;
  readonly store?: string | undefined;
  readonly admin?: object;
}

/** Starts a gateway for the contract `agency` at `/agency`. */
export async function startAdministered(
  t: ExecutionContext,
  options: AdministeredSiteOptions = {},
): Promise<AdministeredSite> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'soapbridge-admin-'));
  if (options.folder === undefined) t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const write = (name: string, content: string): string => {
    writeFileSync(join(folder, name), content);
    chmodSync(join(folder, name), 0o600);
    return join(folder, name);
  };
  const roles = { vera: 'read', otto: 'change' } as const;
  const entries = Object.entries(tokens).map(([name, token]) => ({
    name,
    role: roles[name as keyof typeof tokens],
    sha256: sha256(token),
  }));
  const tokenFile = write('tokens.yaml', JSON.stringify(entries));
  const callerKey = write('caller.key', 'k'.repeat(64));
  const callers = write('callers.yaml', JSON.stringify({ acme: ['acme'] }));
  const store = 'store' in options ? options.store : `sqlite:${join(folder, 'store.db')}`;
  const site = await startSite(t, {
    contract: contractFolder('contracts/agency'),
    path: '/agency',
    config: { legacy: '{legacy}' },
    ...options,
    limits: { storeMs: 600_000, ...options.limits }, // the machine of a test may be slow
    root: {
      admin: { listen: '127.0.0.1:0', tokens: tokenFile, ...options.admin },
      ...(store === undefined ? {} : { store }),
      ...options.root,
    },
    serve: {
      callerFiles: { callers, callerKey },
      openAdmin: (of) => openAdmin(of, { headersMs: 1_800_000 }),
      ...options.serve,
    },
  });
  const url = site.running.adminUrl ?? '';
  const as: AdministeredSite['as'] = (user, path, of = {}) => {
    const json = of.body === undefined ? {} : { 'content-type': 'application/json' };
    return ask(url, path, { token: tokens[user], ...of, headers: { ...json, ...of.headers } });
  };
  return {
    ...site,
    url,
    folder,
    as,
    post: async (path, body) => {
      const reply = await as('otto', path, { method: 'POST', body: JSON.stringify(body) });
      return { status: reply.status, json: JSON.parse(reply.text) };
    },
  };
}
