import type { Attack } from '../attack.ts';
import { headOf, keep } from '../wire.ts';

const message = headOf('/healthz', '', 'GET');

export const idleConnections: Attack = {
  name: 'idle-connections',
  says: '2,200 connections that say nothing, or one thing, and stay; closed ones are opened again',
  run: async (target) => {
    await keep(
      2_200,
      target,
      (socket, number) => {
        socket.resume();
        if (number % 2 === 0) socket.write(message);
      },
      300,
    );
    return [];
  },
};
