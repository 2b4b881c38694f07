import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';

/** A certificate with its key, as text and as files. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
  readonly certFile: string;
  readonly keyFile: string;
}

/** Content of a certificate. */
export interface CertificateOptions {
  /** For example `/O=Acme/CN=name`. */
  readonly subject?: string;
  /** For example `IP:127.0.0.1,DNS:localhost`. */
  readonly names?: string;
  /** Days of validity from now; -1: expired. */
  readonly days?: number;
}

/** A CA created for one test. */
export interface Authority extends Certificate {
  readonly folder: string;
  readonly issue: (options?: CertificateOptions) => Certificate;
}

const elliptic = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** Creates a CA with the machine's `openssl`. Its certificates are for 127.0.0.1 by default. */
export function createAuthority(t: Pick<ExecutionContext, 'teardown'>): Authority {
  const folder = mkdtempSync(join(tmpdir(), 'ca-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const openssl = (...args: string[]): void => {
    execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  };
  const certificate = (name: string): Certificate => {
    const certFile = join(folder, `${name}.pem`);
    const keyFile = join(folder, `${name}.key`);
    return { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8'), certFile, keyFile };
  };
  openssl(
    'req',
    '-x509',
    ...elliptic,
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
    '-subj',
    '/CN=test CA',
    '-days',
    '2',
  );
  let issued = 0;
  return {
    ...certificate('ca'),
    folder,
    issue: ({ subject = '/CN=server', names = 'IP:127.0.0.1', days = 1 } = {}) => {
      const name = `c${++issued}`;
      openssl(
        ...['req', '-new', ...elliptic, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', subject],
        ...['-addext', `subjectAltName=${names}`],
      );
      openssl(
        ...['x509', '-req', '-in', `${name}.csr`, '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial'],
        ...['-copy_extensions', 'copy', '-days', String(days), '-out', `${name}.pem`],
      );
      return certificate(name);
    },
  };
}
