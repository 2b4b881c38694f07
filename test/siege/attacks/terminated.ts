import type { Socket } from 'node:net';
import type { Attack, Target } from '../attack.ts';
import { files, open, post } from '../wire.ts';

const messages = (['read', 'write'] as const).map((operation) =>
  post('/files/soap11', files(operation, '<wish>large 31</wish>'), 'Connection: close\r\n'),
);
/** In bytes per second. They differ, so that replies are at different positions when the gateway is stopped. */
const speeds = [2_000_000, 3_000_000, 4_000_000, 5_000_000];

/** Reads one reply at a speed. Returns the number of missing bytes. */
function take(
  socket: Socket,
  message: Buffer,
  bytesPerSecond: number,
): Promise<{ readonly status: string; readonly missing: number }> {
  let head = '';
  let missing = Number.NaN;
  socket.on('readable', () => {}); // paused mode: only explicit reads take data
  socket.write(message);
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      const chunk: Buffer | null = socket.read(bytesPerSecond / 20) ?? socket.read();
      if (chunk === null) return;
      if (Number.isNaN(missing)) {
        head += chunk.toString('latin1');
        const end = head.indexOf('\r\n\r\n');
        if (end !== -1) missing = Number(/content-length: (\d+)/i.exec(head)?.[1]) - (head.length - end - 4);
      } else missing -= chunk.length;
    }, 50);
    socket.once('close', () => {
      clearInterval(timer);
      resolve({ status: head.slice(9, 12), missing });
    });
  });
}

export const terminated: Attack = {
  name: 'terminated',
  says: 'the gateway is stopped while four connections take replies of 31 MB at 2 to 5 MB a second',
  outlivesGateway: true,
  run: async (target) => {
    const broken: string[] = [];
    const none = Buffer.alloc(0);
    const afterwards: Target = { ...target, signal: new AbortController().signal };
    const read = async (bytesPerSecond: number, reader: number): Promise<void> => {
      for (let round = reader; !target.signal.aborted; round++) {
        // replies in progress at the end of the attack are read completely
        const message = messages[round % messages.length] ?? none;
        const { status, missing } = await take(open(afterwards), message, bytesPerSecond);
        if (missing === 0) target.count('whole');
        else broken.push(`${status || 'no status'}: ${missing} bytes missing`);
      }
    };
    await Promise.all(speeds.map(read));
    return broken;
  },
};
