import { text } from 'node:stream/consumers';
import type { Attack, Target } from '../attack.ts';
import { countStatus, every, headOf, open } from '../wire.ts';

const path = '/large/soap11?wsdl';

/** Returns the operations of the large contract, from its whole WSDL. */
async function namesAt(target: Target): Promise<readonly string[]> {
  const socket = open(target);
  socket.write(headOf(path, 'Connection: close\r\n', 'GET'));
  const names = (await text(socket)).matchAll(/<wsdl:operation name="(\w+)"/g);
  return [...new Set([...names].map(([, name = '']) => name))];
}

/** Selects half of the operations, in each round others, in another order and case. */
function askFor(names: readonly string[], round: number): string {
  let bits = round;
  const chosen = names.filter(() => {
    bits = (Math.imul(bits, 1_103_515_245) + 12_345) >>> 0;
    return bits >>> 31 === 1;
  });
  if (round % 2 === 1) chosen.reverse();
  return chosen
    .slice(0, 90)
    .map((name) => `&operation=${round % 3 === 0 ? name.toUpperCase() : name}`)
    .join('');
}

export const slices: Attack = {
  name: 'slices',
  says: 'twenty times a second a part of a large WSDL that nobody asked for before',
  isOfLargeContract: true,
  run: async (target) => {
    const names = await namesAt(target);
    await every(50, target, (round) => {
      const message = headOf(`${path}${askFor(names, round + 1)}`, 'Connection: close\r\n', 'GET');
      countStatus(open(target), target).write(message);
    });
    return [];
  },
};
