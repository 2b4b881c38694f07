import type { ExecutionContext } from 'ava';
import {
  type CompiledAdoptedOperation,
  compileAdopted,
  type MessageCodec,
} from '../../../../mappings/codec/adopted/compile.ts';
import { problemText, startReading } from '../../../../mappings/codec/problem.ts';
import { defaultLimits, type Limits } from '../../../../mappings/contract/limits.ts';
import type { Settings } from '../../../../mappings/contract/overlay-keys.ts';
import { XmlReader } from '../../../../mappings/xml/reader.ts';
import { getOf, serviceOf } from '../../loader/wsdl/wsdl-folder.ts';

/** Compiles the operation `Get` with a body type and global declarations. */
export function compiledGet(
  t: ExecutionContext,
  type: string,
  declarations = '',
  settings: Partial<Settings> = {},
  limits: Limits = defaultLimits,
): CompiledAdoptedOperation {
  return operationOf(t, getOf(type, declarations), 'Get', settings, limits);
}

/** Compiles an operation of a WSDL. */
export function operationOf(
  t: ExecutionContext,
  wsdl: string,
  name: string,
  settings: Partial<Settings> = {},
  limits: Limits = defaultLimits,
): CompiledAdoptedOperation {
  const { operations } = compileAdopted(serviceOf(t, wsdl), settings, limits);
  const operation = operations.get(name);
  if (operation === undefined) throw new Error(`no operation ${name}`);
  return operation;
}

/** Reads a message. Returns its JSON, problems and missing members. */
export function readMessage(codec: MessageCodec, text: string, limits: Limits = defaultLimits) {
  const xml = new XmlReader(text, limits);
  xml.readRoot();
  const reading = startReading(20);
  const json = codec.read(xml, reading);
  xml.finish();
  const { problems, missing, ignored, deviations = [] } = reading;
  return { json, problems, missing, ignored, deviations: [...deviations] };
}

/** Writes a message without the prefix declarations of its root element. */
export function writeMessage(codec: MessageCodec, json: string): string {
  return codec.write(Buffer.from(json)).xml.toString();
}

/** Writes a message without the declarations of the body's element. */
export function written(codec: MessageCodec, json: string): string {
  return writeMessage(codec, json).replace(
    /^(<n0:\w+) xmlns:i="[^"]*"(?: xmlns:xsd="[^"]*" xmlns:soapenc="[^"]*")? xmlns:n0="urn:t"/,
    '$1',
  );
}

/** Returns the body `t:Get` around a content, with the prefixes that tests use. */
export function get(content: string, attributes = ''): string {
  return `<t:Get xmlns:t="urn:t" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xs="http://www.w3.org/2001/XMLSchema"${attributes}>${content}</t:Get>`;
}

export const sequence = (content: string, attributes = ''): string =>
  `<xs:complexType><xs:sequence>${content}</xs:sequence>${attributes}</xs:complexType>`;

export const element = (name: string, type = 'xs:string', more = ''): string =>
  `<xs:element name="${name}" type="${type}" ${more}/>`;

export const many = 'minOccurs="0" maxOccurs="unbounded"';
export const maybe = 'minOccurs="0"';

/** A request body of `Get`, its JSON, and notes. */
export interface ReadCase {
  readonly title: string;
  readonly type: string;
  readonly attributes?: string;
  readonly content?: string;
  readonly settings?: Partial<Settings>;
  readonly json: string;
  readonly problems?: readonly string[];
  readonly missing?: readonly string[];
  readonly ignored?: readonly string[];
}

export function checkRead(
  t: ExecutionContext,
  { type, attributes, content = '', settings, json, problems = [], missing = [], ignored = [] }: ReadCase,
  declarations: string,
): void {
  const { request } = compiledGet(t, type, declarations, settings);
  const read = readMessage(request, get(content, attributes));
  t.is(read.json, json);
  t.deepEqual(
    read.problems.map((problem) => `${problem.code} ${problemText(problem)}`),
    [...problems],
  );
  t.deepEqual(
    read.missing.map(({ path }) => path),
    [...missing],
  );
  t.deepEqual(read.ignored, [...ignored]);
}

/** The JSON of a reply of `Get`, its XML, and counters. */
export interface WriteCase {
  readonly title: string;
  readonly type: string;
  readonly json: string;
  /** The XML after `<n0:Get`. */
  readonly xml: string;
  readonly missing?: number;
  readonly dropped?: number;
  readonly passed?: number;
}

export function checkWrite(
  t: ExecutionContext,
  { type, json, xml, missing = 0, dropped = 0, passed = 0 }: WriteCase,
  declarations: string,
): void {
  const { request } = compiledGet(t, type, declarations);
  t.is(written(request, json), `<n0:Get${xml}`);
  const counts = request.write(Buffer.from(json));
  t.deepEqual([counts.missing, counts.dropped, counts.passed], [missing, dropped, passed]);
}
