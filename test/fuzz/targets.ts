import type { Target } from './target.ts';
import { accept } from './targets/accept.ts';
import { dates } from './targets/dates.ts';
import { envelope } from './targets/envelope.ts';
import { json } from './targets/json.ts';
import { multipart } from './targets/multipart.ts';
import { numbers } from './targets/numbers.ts';
import { reply } from './targets/reply.ts';
import { xml } from './targets/xml.ts';

/** All that is fuzzed. */
export const targets: readonly Target[] = [xml, json, envelope, reply, dates, numbers, accept, multipart];

/** The target of a name. Throws RangeError for another name. */
export function targetNamed(name: string): Target {
  const found = targets.find((candidate) => candidate.name === name);
  if (found === undefined) {
    throw new RangeError(`target: expected one of ${targets.map((one) => one.name).join(', ')}, got ${name}`);
  }
  return found;
}
