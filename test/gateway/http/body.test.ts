import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import test from 'ava';
import { startGateway } from '../gateway.ts';

const head = 'PUT /v2/subusers/update HTTP/1.1\r\nHost: x\r\nX-Api-User: u\r\nX-Api-Key: key\r\n';
const bodyOf = (name: string): string => `{"request":{"subUserName":"${name}"}}`;
const whole = (name: string): string =>
  `${head}Content-Length: ${bodyOf(name).length}\r\n\r\n${bodyOf(name)}`;
const chunked = (name: string): string => {
  const body = bodyOf(name);
  const chunks = [body.slice(0, 9), body.slice(9)].map(
    (part) => `${part.length.toString(16)}\r\n${part}\r\n`,
  );
  return `${head}Transfer-Encoding: chunked\r\n\r\n${chunks.join('')}0\r\n\r\n`;
};
const cutAt = (text: string, ...at: readonly number[]): string[] =>
  [0, ...at].map((from, index) => text.slice(from, at[index]));

/** Messages on one connection, written in pieces, and the names in them. */
const arrivals: readonly {
  readonly how: string;
  readonly pieces: readonly string[];
  readonly names: string;
}[] = [
  { how: 'with their heads', pieces: [whole('a'), whole('b')], names: 'a b' },
  { how: 'after their heads', pieces: cutAt(whole('a'), whole('a').indexOf('{')), names: 'a' },
  { how: 'begun with their heads', pieces: cutAt(whole('a'), whole('a').length - 5), names: 'a' },
  { how: 'several at once', pieces: [whole('a') + whole('b') + whole('c')], names: 'a b c' },
  {
    how: 'one and a half at once',
    pieces: cutAt(whole('a') + whole('b'), whole('a').length * 2 - 3),
    names: 'a b',
  },
  { how: 'in chunks', pieces: [chunked('a') + whole('b'), chunked('c')], names: 'a b c' },
  { how: 'in chunks, several at once', pieces: [chunked('a') + chunked('b') + chunked('c')], names: 'a b c' },
  {
    how: 'in chunks, one and a half at once',
    pieces: cutAt(chunked('a') + chunked('b') + whole('c'), chunked('a').length * 2 - 8),
    names: 'a b c',
  },
  { how: 'byte by byte', pieces: whole('a').split(''), names: 'a' },
];

for (const { how, pieces, names } of arrivals) {
  test(`bodies that arrive ${how} are read completely, each for its own message`, async (t) => {
    const gateway = await startGateway(t);
    gateway.answer(({ body }, response) => {
      const { subUserName } = JSON.parse(body).request;
      response.end(JSON.stringify({ data: { responseStatus: {}, subUser: { name: subUserName } } }));
    });
    const socket = connect(gateway.port, '127.0.0.1');
    t.teardown(() => socket.destroy());
    await once(socket.setNoDelay(true), 'connect');
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    const expected = names.split(' ');
    const told = (): string[] => [...text.matchAll(/"name":"(\w)"/g)].map(([, name = '']) => name);
    for (const piece of pieces) {
      socket.write(piece);
      await pause(pieces.length > 9 ? 1 : 20);
    }
    while (told().length < expected.length) await once(socket, 'data');
    t.deepEqual(told(), expected);
    t.is(text.split('HTTP/1.1 200').length - 1, expected.length);
  });
}
