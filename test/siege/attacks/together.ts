import type { Attack } from '../attack.ts';
import { ampersands } from './ampersands.ts';
import { chunks } from './chunks.ts';
import { gzip } from './gzip.ts';
import { largeBodies } from './large-bodies.ts';
import { largeWrites } from './large-writes.ts';
import { slowReaders } from './slow-readers.ts';
import { unread } from './unread.ts';

const parts = [ampersands, chunks, gzip, largeBodies, largeWrites, slowReaders, unread];

export const together: Attack = {
  name: 'together',
  says: `all that takes memory at once: ${parts.map(({ name }) => name).join(', ')}`,
  isOfMany: true,
  run: async (target) => (await Promise.all(parts.map(({ run }) => run(target)))).flat(),
};
