import type { Attack } from './attack.ts';
import { aborted } from './attacks/aborted.ts';
import { ampersands } from './attacks/ampersands.ts';
import { chunks } from './attacks/chunks.ts';
import { fullLog } from './attacks/full-log.ts';
import { gzip } from './attacks/gzip.ts';
import { idleConnections } from './attacks/idle-connections.ts';
import { largeBodies } from './attacks/large-bodies.ts';
import { largeWrites } from './attacks/large-writes.ts';
import { overload } from './attacks/overload.ts';
import { pages } from './attacks/pages.ts';
import { pattern } from './attacks/pattern.ts';
import { pipelined, pipelinedBodies } from './attacks/pipelined.ts';
import { provokedErrors } from './attacks/provoked-errors.ts';
import { slices } from './attacks/slices.ts';
import { slowBodies } from './attacks/slow-bodies.ts';
import { slowReaders } from './attacks/slow-readers.ts';
import { slowWrites } from './attacks/slow-writes.ts';
import { starvation } from './attacks/starvation.ts';
import { terminated } from './attacks/terminated.ts';
import { together } from './attacks/together.ts';
import { unread } from './attacks/unread.ts';
import { waves } from './attacks/waves.ts';

/** All attacks. */
export const attacks: readonly Attack[] = [
  pattern,
  chunks,
  waves,
  gzip,
  largeBodies,
  largeWrites,
  ampersands,
  unread,
  slowBodies,
  slowReaders,
  pipelined,
  pipelinedBodies,
  fullLog,
  idleConnections,
  slices,
  pages,
  provokedErrors,
  slowWrites,
  overload,
  starvation,
  aborted,
  terminated,
  together,
];

/** Returns the attack with a name. Throws a RangeError for an unknown name. */
export function attackNamed(name: string): Attack {
  const found = attacks.find((attack) => attack.name === name);
  if (found === undefined) {
    throw new RangeError(`attack: expected one of ${attacks.map((one) => one.name).join(', ')}, got ${name}`);
  }
  return found;
}
