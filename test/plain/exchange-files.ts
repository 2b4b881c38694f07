import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Hit } from '../gateway/gateway.ts';

/** An HTTP message as in its file: start line, headers, an empty line, body. */
export interface HttpMessage {
  readonly start: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** One call: request, upstream call, upstream response and reply. */
export interface Exchange {
  readonly name: string;
  /** Content of the request's SOAP Body. */
  readonly request: string;
  /** The expected upstream call, or undefined if there is none. */
  readonly call: HttpMessage | undefined;
  /** The upstream's response; a 200 with `{}` by default. */
  readonly answer: HttpMessage;
  /** Content of the reply's SOAP Body. */
  readonly reply: string;
}

const emptyAnswer = 'HTTP/1.1 200 OK\ncontent-type: application/json\n\n{}';

/** Reads the exchanges in a folder of fixtures. */
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

/** Reads a file without its final newline. Returns undefined if it does not exist. */
export function readText(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8').replace(/\n$/, '') : undefined;
}

/** Reads indented XML as one line. */
function readXml(path: string): string {
  return readFileSync(path, 'utf8')
    .replaceAll(/>\n\s*</g, '><')
    .trim();
}

/** Parses a file whose head lines end with a line feed only. */
function parseHttp(message: string): HttpMessage {
  const end = message.indexOf('\n\n');
  const [start = '', ...lines] = (end === -1 ? message : message.slice(0, end)).trimEnd().split('\n');
  const headers = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  return { start, headers: Object.fromEntries(headers), body: end === -1 ? '' : message.slice(end + 2) };
}

/** Headers of the connection, or with values that change with each call. */
const connectionHeaders = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'x-request-id',
]);

/** Converts a received request to the form of `call.http`. */
export function callOf({ method, path, headers, body }: Hit): HttpMessage {
  const own = Object.entries(headers).filter(([name]) => !connectionHeaders.has(name));
  const headersOfCall = Object.fromEntries(own.map(([name, value]) => [name, String(value)]));
  return { start: `${method} ${path} HTTP/1.1`, headers: headersOfCall, body };
}

/** Responds with the content of `answer.http`. */
export function answerWith({ start, headers, body }: HttpMessage, response: ServerResponse): void {
  response.writeHead(Number(start.split(' ')[1]), headers);
  response.end(body);
}
