import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Target } from './attack.ts';

/** Attackers have a separate address, so that the gateway can limit callers by address. */
const attackersAddress = '127.0.0.2';

/** Opens a connection that ignores errors and closes at the end of the attack. */
export function open({ port, signal, count }: Target): Socket {
  const socket = connect({ port, host: '127.0.0.1', localAddress: attackersAddress });
  const end = (): void => {
    socket.destroy();
  };
  socket.setNoDelay(true).on('error', () => {});
  socket.once('connect', () => count('connected'));
  socket.once('close', () => signal.removeEventListener('abort', end));
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  return socket;
}

/** Counts the status of the first reply on a connection, and discards all data. */
export function countStatus(socket: Socket, { count, signal }: Target): Socket {
  let isTold = false;
  socket.on('data', (chunk: Buffer) => {
    if (!isTold) count(chunk.toString('latin1', 9, 12));
    isTold = true;
  });
  return socket.once('close', () => {
    if (!isTold && !signal.aborted) count('no reply');
  });
}

/** Returns a complete HTTP message. */
export function post(path: string, body: Uint8Array | string, headers = ''): Buffer {
  const bytes = Buffer.from(body);
  return Buffer.concat([Buffer.from(headOf(path, `Content-Length: ${bytes.length}\r\n${headers}`)), bytes]);
}

/** Returns the head of an HTTP message. `headers` ends with a line break. */
export function headOf(path: string, headers: string, method = 'POST'): string {
  return `${method} ${path} HTTP/1.1\r\nHost: gateway\r\n${headers}\r\n`;
}

/** Repeats an action until the end of the attack. */
export async function every(ms: number, { signal }: Target, act: (round: number) => void): Promise<void> {
  for (let round = 0; !signal.aborted; round++) {
    act(round);
    await pause(ms, undefined, { signal }).catch(() => {}); // aborted: the loop checks the signal
  }
}

/** Keeps up to `most` connections open. Closed connections are reopened after a pause, until the end of the attack. */
export async function keep(
  most: number,
  target: Target,
  start: (socket: Socket, number: number) => void,
  perRound: number = most,
): Promise<void> {
  let connections = 0;
  let opened = 0;
  await every(100, target, () => {
    for (let count = 0; count < perRound && connections < most; count++) {
      connections++;
      const socket = open(target).once('close', () => connections--);
      start(socket, opened++);
    }
  });
}

const types = 'http://schemas.servicestack.net/types';

/** Returns a read or write of the screening contract with a command for the upstream. */
export function screening(
  operation: 'GetSearch' | 'UpdateSubUser',
  wish: string,
  caller = 'attacker',
): string {
  return `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><${operation} xmlns="${types}"><Authentication><ApiUserId>${caller}</ApiUserId><ApiUserKey>any-key</ApiUserKey></Authentication><Request><SubUserName>${wish}</SubUserName></Request></${operation}></s:Body></s:Envelope>`;
}

/** Returns a call of the files contract. */
export function files(operation: 'read' | 'write' | 'upload', content: string): string {
  return `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><${operation} xmlns="urn:Files">${content}</${operation}></s:Body></s:Envelope>`;
}
