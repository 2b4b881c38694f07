import type { Attack } from '../attack.ts';
import { files, keep, post } from '../wire.ts';

const messages = (['read', 'write'] as const).map((operation) =>
  post('/files/soap11', files(operation, '<wish>large 31</wish>')),
);
const bytesPerSecond = 80_000;

export const slowReaders: Attack = {
  name: 'slow-readers',
  says: 'ten connections, each taking 80 kB a second of a reply of 31 MB',
  run: async (target) => {
    await keep(10, target, (socket, number) => {
      socket.on('readable', () => {}); // paused mode: only explicit reads take data
      socket.write(messages[number % messages.length] ?? '');
      let isTold = false;
      const take = setInterval(() => {
        const chunk: Buffer | null = socket.read(bytesPerSecond / 10) ?? socket.read();
        if (chunk === null || isTold) return;
        target.count(chunk.toString('latin1', 9, 12));
        isTold = true;
      }, 100);
      socket.once('close', () => clearInterval(take));
    });
    return [];
  },
};
