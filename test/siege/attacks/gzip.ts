import { gzipSync } from 'node:zlib';
import type { Attack } from '../attack.ts';
import { countStatus, keep, post } from '../wire.ts';

/** Below the compression ratio that is rejected, and at the size limit of a contract with base64. */
const inflated = Buffer.alloc(16_000_000, 'c');
for (let at = 0; at < inflated.length; at += 800) inflated.writeUInt32LE((at * 2_654_435_761) % 2 ** 32, at);
const message = post('/files/soap11', gzipSync(inflated), 'Content-Encoding: gzip\r\n');

export const gzip: Attack = {
  name: 'gzip',
  says: `220 connections, each sending ${Math.round(message.length / 1000)} kB that inflate to 16 MB`,
  run: async (target) => {
    await keep(220, target, (socket) => {
      countStatus(socket, target).end(message);
    });
    return [];
  },
};
