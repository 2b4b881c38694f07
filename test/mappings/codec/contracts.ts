import { compileReplyWriters, compileRequestReaders } from '../../../mappings/codec/codecs.ts';
import type { RequestReader } from '../../../mappings/codec/context.ts';
import type { WrittenValue } from '../../../mappings/codec/element.ts';
import {
  applyEdits,
  type Edit,
  maxReportedProblems,
  problemText,
  startReading,
} from '../../../mappings/codec/problem.ts';
import { compileScalars } from '../../../mappings/codec/scalars/table.ts';
import { type CompiledContract, compileContract } from '../../../mappings/compile.ts';
import { defaultLimits, type Limits } from '../../../mappings/contract/limits.ts';
import { type Contract, namespaces, type ScalarName, type Type } from '../../../mappings/contract/model.ts';
import type { Settings } from '../../../mappings/contract/overlay-keys.ts';
import type { Input } from '../../../mappings/http-mapping/call.ts';
import { JsonReader } from '../../../mappings/json/reader.ts';
import { buildContract } from '../../../mappings/loader/build-contract.ts';
import { loadContract, screeningContract } from '../../../mappings/loader/load.ts';
import { XmlReader } from '../../../mappings/xml/reader.ts';

export const screening: Contract = loadContract(screeningContract).contract;

const parcel = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string', minLength: 1 },
    note: { type: ['string', 'null'] },
    anything: {},
    fragile: { type: 'boolean' },
    int8: { type: 'integer', format: 'int8' },
    uint8: { type: 'integer', format: 'uint8' },
    int16: { type: 'integer', format: 'int16' },
    uint16: { type: 'integer', format: 'uint16' },
    int32: { type: 'integer', format: 'int32' },
    uint32: { type: 'integer', format: 'uint32' },
    int64: { type: 'integer', format: 'int64' },
    uint64: { type: 'integer', format: 'uint64' },
    weight: { type: 'number' },
    float: { type: 'number', format: 'float' },
    double: { type: ['number', 'null'], format: 'double' },
    sentAt: { type: 'string', format: 'date-time' },
    day: { type: 'string', format: 'date' },
    takes: { type: 'string', format: 'duration' },
    photo: { type: ['string', 'null'], format: 'byte' },
    state: { $ref: '#/components/schemas/State' },
    marks: { type: 'array', items: { type: 'string' } },
    counts: { type: 'array', items: { type: 'integer', format: 'int32' } },
    states: { type: 'array', items: { $ref: '#/components/schemas/State' } },
    grid: { type: 'array', items: { type: 'array', items: { type: 'boolean' } } },
    parts: { type: 'array', items: { $ref: '#/components/schemas/Parcel' } },
    wrapping: { anyOf: [{ $ref: '#/components/schemas/Parcel' }, { type: 'null' }] },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    scores: { type: 'object', additionalProperties: { type: 'number' } },
    byName: { type: 'object', additionalProperties: { $ref: '#/components/schemas/Parcel' } },
    'odd name': { type: 'string' },
  },
} as const;

const answer = (schema: object) => ({ description: 'done', content: { 'application/json': { schema } } });

/** A contract of the dialect `plain` with every kind of type that a document can give, a recursive one too. */
export const depot: Contract = buildContract({
  openapiName: 'openapi',
  overlayName: 'soap',
  openapi: {
    openapi: '3.1.0',
    info: { title: 'Depot', version: '1' },
    paths: {
      '/parcels/{id}': {
        get: {
          operationId: 'GetParcel',
          parameters: [
            { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
            { name: 'since', in: 'query', schema: { type: 'string', format: 'date-time' } },
            { name: 'state', in: 'query', schema: { $ref: '#/components/schemas/State' } },
            { name: 'most', in: 'query', schema: { type: 'integer', format: 'int32' } },
            { name: 'X-Trace', in: 'header', schema: { type: 'string' } },
          ],
          responses: { 200: answer({ $ref: '#/components/schemas/Parcel' }) },
        },
        delete: {
          operationId: 'DropParcel',
          parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
          responses: { 204: { description: 'gone' } },
        },
      },
      '/parcels': {
        post: {
          operationId: 'SendParcel',
          requestBody: {
            required: true,
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Parcel' } } },
          },
          responses: { 201: answer({ type: 'array', items: { $ref: '#/components/schemas/Parcel' } }) },
        },
      },
      '/count': {
        get: {
          operationId: 'CountParcels',
          responses: { 200: answer({ type: 'integer', format: 'int32' }) },
        },
      },
    },
    components: {
      schemas: { Parcel: parcel, State: { type: 'string', enum: ['sent', 'under way', '<lost & "gone">'] } },
    },
  },
  overlay: {
    dialect: 'plain',
    service: 'Depot',
    credentials: { headers: { token: 'X-Token' }, secret: ['token'], send: 'headers' },
  },
}).contract;

/** The contract with some settings and limits of its own. */
export function compile(
  contract: Contract,
  settings: Partial<Settings> = {},
  limits: Partial<Limits> = {},
): CompiledContract {
  return compileContract(
    { ...contract, settings: { ...contract.settings, ...settings } },
    { ...defaultLimits, ...limits },
  );
}

/** What a test wants to know of a request that was read. */
export interface Read {
  readonly input: Input;
  /** The body object for upstream, as text and parsed; numbers in it are fit for doubles. */
  readonly text: string;
  readonly json: unknown;
  /** `code field: message` each. */
  readonly problems: readonly string[];
  /** Fields. */
  readonly missing: readonly string[];
  readonly ignored: readonly string[];
  /** What the credentials member holds, by the contract's names. */
  readonly credentials: Readonly<Record<string, string>>;
}

function readOf(compiled: CompiledContract, operation: string, input: Input): Read {
  const { reading } = input;
  const told = input.text.toString();
  const text = input.closes === undefined ? told : applyEdits(told, reading.edits);
  return {
    input,
    text,
    json: JSON.parse(text),
    problems: reading.problems.map((problem) => `${problem.code} ${problemText(problem)}`),
    missing: reading.missing.map(({ path }) => path),
    ignored: reading.ignored,
    credentials: Object.fromEntries(operationOf(compiled, operation).credentialsOf(input)),
  };
}

export function operationOf(compiled: CompiledContract, name: string) {
  const operation = compiled.operations.get(name);
  if (operation === undefined) throw new Error(`no operation ${name}`);
  return operation;
}

/** Reads a request wrapper: `content` between its tags, with prefixes `i` and `a` declared. */
export function readXml(
  compiled: CompiledContract,
  operation: string,
  content: string,
  attributes = '',
): Read {
  const { types, arrays } = compiled.contract.namespaces;
  const declarations = `xmlns="${types}" xmlns:i="${namespaces.xsi}" xmlns:a="${arrays}"${attributes}`;
  return readXmlText(compiled, operation, `<${operation} ${declarations}>${content}</${operation}>`);
}

export function readXmlText(compiled: CompiledContract, operation: string, text: string): Read {
  const xml = new XmlReader(text, compiled.limits, {
    illegalReferences: compiled.contract.settings.illegalCharacterReferences === 'accept',
  });
  xml.readRoot();
  const input = operationOf(compiled, operation).readXml(
    xml,
    startReading(compiled.limits.errors ?? maxReportedProblems),
  );
  xml.finish();
  return readOf(compiled, operation, input);
}

export function readJson(compiled: CompiledContract, operation: string, text: string): Read {
  const input = operationOf(compiled, operation).readJson(
    text,
    startReading(compiled.limits.errors ?? maxReportedProblems),
  );
  return readOf(compiled, operation, input);
}

/** What a reply's JSON gives: the element, and what was counted on the way. */
export interface Written {
  readonly xml: string;
  readonly dropped: number;
  readonly replaced: number;
  readonly failed: boolean;
}

export function writeReply(compiled: CompiledContract, operation: string, text: string): Written {
  const reply = operationOf(compiled, operation).writeReply(Buffer.from(text), { before: '', after: '' });
  const { xml = '', dropped, replaced, failed } = reply;
  return {
    xml: textOf(xml),
    dropped,
    replaced,
    failed,
  };
}

/** A reply element's text, whatever form it was written in. */
export function textOf(xml: string | Buffer | readonly Buffer[]): string {
  if (typeof xml === 'string') return Buffer.from(xml, 'latin1').toString();
  return Buffer.isBuffer(xml) ? xml.toString() : Buffer.concat(xml).toString();
}

export const typeNamed = (contract: Contract, name: string): Type => {
  const type = contract.types.find((candidate) => candidate.name === name);
  if (type === undefined) throw new Error(`no type ${name}`);
  return type;
};

export const scalar = (name: ScalarName): Type => ({ kind: 'scalar', scalar: name });

/** A type's codec for requests and its writer for replies, as one. */
export interface BothWays extends RequestReader {
  readonly declarations: string;
  /** JSON → XML content of one value. Throws MismatchError, JsonError. */
  readonly write: (text: string) => WrittenValue;
}

/** The codecs of the contract, some of its settings changed. */
export function codecsOf(
  contract: Contract,
  settings: Partial<Settings> = {},
): { codecOf(type: Type): BothWays } {
  const chosen = { ...contract, settings: { ...contract.settings, ...settings } };
  const scalars = compileScalars({ settings: chosen.settings, limits: defaultLimits });
  const readers = compileRequestReaders(chosen, scalars, defaultLimits);
  const writers = compileReplyWriters(chosen, scalars, defaultLimits);
  return {
    codecOf: (type) => {
      const writer = writers.writerOf(type);
      return {
        ...readers.readerOf(type),
        declarations: writer.declarations,
        write: (text) => writers.writeValue(writer, text),
      };
    },
  };
}

/** What a codec makes of one value: its result, or the problem or mismatch that it names. */
export interface Made {
  readonly value?: string | null | undefined;
  readonly problem?: string | undefined;
}

/** XML → JSON of one element, content as given. */
export function readOne(codec: RequestReader, content: string, declarations = ''): Made {
  const xml = new XmlReader(`<e${declarations}>${content}</e>`, defaultLimits, { illegalReferences: true });
  xml.readRoot();
  const reading = startReading(20);
  const value = codec.read(xml, reading);
  xml.finish();
  const [problem] = reading.problems;
  return problem === undefined ? { value } : { problem: `${problem.code} ${problemText(problem)}` };
}

/** JSON → XML of one value. Throws MismatchError. */
export function writeOne(codec: BothWays, text: string): string | null {
  return codec.write(text).content;
}

/** JSON → JSON of one value of a request. */
export function passOne(codec: RequestReader, text: string): Made {
  const json = new JsonReader(text, defaultLimits);
  const reading = startReading(20);
  codec.pass(json, reading);
  json.end();
  const [problem] = reading.problems;
  const edits: readonly Edit[] = reading.edits;
  return problem === undefined
    ? { value: applyEdits(text, edits) }
    : { problem: `${problem.code} ${problemText(problem)}` };
}
