import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Hit } from '../gateway/gateway.ts';

/** A message of HTTP as its file has it: the start line, headers, an empty line, the body. */
export interface HttpMessage {
  readonly start: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** One call: what is asked of whom, and what is answered. */
export interface Exchange {
  readonly name: string;
  /** Content of the request's SOAP Body. */
  readonly request: string;
  /** What the upstream gets; undefined where the call isn't made. */
  readonly call: HttpMessage | undefined;
  /** What the upstream answers; a 200 with `{}` where nothing says so. */
  readonly answer: HttpMessage;
  /** Content of the reply's SOAP Body. */
  readonly reply: string;
}

const emptyAnswer = 'HTTP/1.1 200 OK\ncontent-type: application/json\n\n{}';

/** The exchanges in a folder of fixtures. */
export function exchangesIn(fixtures: string): readonly Exchange[] {
  const folder = join(fixtures, 'exchanges');
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .toSorted()
    .map((name) => {
      const call = readText(join(folder, name, 'call.http'));
      return {
        name,
        request: readXml(join(folder, name, 'request.xml')),
        call: call === undefined ? undefined : parseHttp(call),
        answer: parseHttp(readText(join(folder, name, 'answer.http')) ?? emptyAnswer),
        reply: readXml(join(folder, name, 'reply.xml')),
      };
    });
}

/** A file without the newline at its end; undefined where it isn't there. */
export function readText(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8').replace(/\n$/, '') : undefined;
}

/** XML laid out for reading, as one line. */
function readXml(path: string): string {
  return readFileSync(path, 'utf8')
    .replaceAll(/>\n\s*</g, '><')
    .trim();
}

/** In files, lines of the head end with a line feed alone. */
function parseHttp(message: string): HttpMessage {
  const end = message.indexOf('\n\n');
  const [start = '', ...lines] = (end === -1 ? message : message.slice(0, end)).trimEnd().split('\n');
  const headers = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  return { start, headers: Object.fromEntries(headers), body: end === -1 ? '' : message.slice(end + 2) };
}

/** Headers that are the connection's or another one each time, not the call's. */
const connectionHeaders = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'x-request-id',
]);

/** A request as the upstream met it, as `call.http` has it. */
export function callOf({ method, path, headers, body }: Hit): HttpMessage {
  const own = Object.entries(headers).filter(([name]) => !connectionHeaders.has(name));
  const headersOfCall = Object.fromEntries(own.map(([name, value]) => [name, String(value)]));
  return { start: `${method} ${path} HTTP/1.1`, headers: headersOfCall, body };
}

/** Answers as `answer.http` has it. */
export function answerWith({ start, headers, body }: HttpMessage, response: ServerResponse): void {
  response.writeHead(Number(start.split(' ')[1]), headers);
  response.end(body);
}
