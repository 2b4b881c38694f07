import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { scriptArguments } from '../script-arguments.ts';

const help = `npm run signatures [-- --help]

Compares each installed package with its signature in the registry. Exits with 1 if a signature is wrong or missing. An
unreachable registry is no failure, because the lockfile has the SHA-512 of each package.

  --help  print this help`;

/** Result of `npm audit signatures`. */
export interface Verdict {
  readonly failed: boolean;
  readonly says: string;
}

/** Interprets npm's exit code and output: a wrong or missing signature, all valid, or no response. */
export function verdictOf(code: number | null, said: string): Verdict {
  const lines = said.split('\n').map((line) => line.trim());
  const wrong = lines.filter((line) =>
    /\b(?:invalid|missing) (?:registry )?(?:signature|attestation)s?\b/.test(line),
  );
  if (wrong.length > 0) return { failed: true, says: `signatures that do not hold: ${wrong.join('; ')}` };
  const verified = lines.filter((line) =>
    /\bverified (?:registry )?(?:signature|attestation)s?\b/.test(line),
  );
  if (code === 0 && verified.length > 0) return { failed: false, says: verified.join('; ') };
  const why = /^npm error code (\S+)$/m.exec(said)?.[1] ?? `exit code ${code}`;
  return {
    failed: false,
    says: `signatures were not checked: the registry or its keys gave no answer (${why})`,
  };
}

/** In ms. */
const longest = 120_000;

async function main(): Promise<void> {
  scriptArguments(help, {});
  const child = spawn('npm', ['audit', 'signatures', '--fetch-retries=0', '--fetch-timeout=15000'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: longest,
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  const { failed, says } = verdictOf(code, out + err);
  console.log(says);
  process.exitCode = failed ? 1 : 0;
}

if (import.meta.main) await main();
