import type { LiveTarget } from './live.ts';
import type { Target } from './target.ts';
import { accept } from './targets/accept.ts';
import { contract } from './targets/contract.ts';
import { dates } from './targets/dates.ts';
import { envelope } from './targets/envelope.ts';
import { json } from './targets/json.ts';
import { mime } from './targets/mime.ts';
import { multipart } from './targets/multipart.ts';
import { numbers } from './targets/numbers.ts';
import { reply } from './targets/reply.ts';
import { security } from './targets/security.ts';
import { siege } from './targets/siege.ts';
import { signed } from './targets/signed.ts';
import { xml } from './targets/xml.ts';

/** All targets that run in process. */
export const targets: readonly Target[] = [
  xml,
  json,
  envelope,
  reply,
  dates,
  numbers,
  accept,
  multipart,
  mime,
  security,
  signed,
  contract,
];

/** Targets that run as a separate process. */
export const liveTargets: readonly LiveTarget[] = [siege];

/** Names of all targets. */
export const targetNames: readonly string[] = [...targets, ...liveTargets].map(({ name }) => name);

/** Returns the target with a name. Throws a RangeError for an unknown name. */
export function targetNamed(name: string): Target | LiveTarget {
  const found = [...targets, ...liveTargets].find((candidate) => candidate.name === name);
  if (found === undefined)
    throw new RangeError(`target: expected one of ${targetNames.join(', ')}, got ${name}`);
  return found;
}
