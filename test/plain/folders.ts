import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadContract } from '../../mappings/load.ts';
import { writeSchema } from '../../wsdl/schema.ts';

/**
 * The fixtures of the plain dialect, a folder per capability:
 *
 * - `openapi.yaml`, with `soap.yaml` where the defaults do not fit
 * - `types.xsd`: the schema that comes of it; `notes.txt`: what the start says of it. `npm run golden` writes both
 * - `exchanges/{name}/`: one call each, see `exchangesIn`
 */

const root = import.meta.dirname;

/** The capabilities that have fixtures. */
export const capabilities: readonly string[] = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .toSorted();

export function folderOf(capability: string): string {
  return join(root, capability);
}

/** What the golden files of a capability have to hold, by name; one without text is not there. */
export function goldensOf(capability: string): Readonly<Record<string, string>> {
  const { contract, notes, notServed } = loadContract(folderOf(capability));
  return {
    'types.xsd': writeSchema(contract, 0, { address: 'http://soapbridge.example' }) ?? '',
    'notes.txt': [...notes, ...notServed.flatMap(({ reasons }) => reasons)]
      .map(({ pointer, why }) => `${pointer}: ${why}\n`)
      .join(''),
  };
}

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

/** The exchanges of a capability. */
export function exchangesIn(capability: string): readonly Exchange[] {
  const folder = join(folderOf(capability), 'exchanges');
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
