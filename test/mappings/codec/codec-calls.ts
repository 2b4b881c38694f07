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
import { XmlReader } from '../../../mappings/xml/reader.ts';

/** Compiles the contract with changed settings and limits. */
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

/** The same contract, whose requests the usual reader reads. */
export function withoutByteReader(compiled: CompiledContract): CompiledContract {
  const operations = new Map(
    [...compiled.operations].map(([name, operation]) => [name, { ...operation, readBytes: undefined }]),
  );
  return { ...compiled, operations };
}

/** The result of a request that was read. */
export interface Read {
  readonly input: Input;
  /** The body for the upstream, as text and parsed; all its numbers are exact as doubles. */
  readonly text: string;
  readonly json: unknown;
  /** Each as `code field: message`. */
  readonly problems: readonly string[];
  /** Names of missing fields. */
  readonly missing: readonly string[];
  readonly ignored: readonly string[];
  /** Values of the credentials member, by the contract's names. */
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

/** Reads a request wrapper with the given content; the prefixes `i` and `a` are declared. */
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
    acceptsIllegalReferences: compiled.contract.settings.illegalCharacterReferences === 'accept',
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

/** A written reply and its counters. */
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

/** Returns a reply element's text from any of its representations. */
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

/** A type's codec for requests and its writer for replies. */
export interface BothWays extends RequestReader {
  readonly declarations: string;
  /** Converts one JSON value to XML content. Throws MismatchError, JsonError. */
  readonly write: (text: string) => WrittenValue;
}

/** Returns the codecs of the contract with changed settings. */
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

/** Result of converting one value, or its problem. */
export interface Made {
  readonly value?: string | null | undefined;
  readonly problem?: string | undefined;
}

/** Converts one XML element with the given content to JSON. */
export function readOne(codec: RequestReader, content: string, declarations = ''): Made {
  const xml = new XmlReader(`<e${declarations}>${content}</e>`, defaultLimits, {
    acceptsIllegalReferences: true,
  });
  xml.readRoot();
  const reading = startReading(20);
  const value = codec.read(xml, reading);
  xml.finish();
  const [problem] = reading.problems;
  return problem === undefined ? { value } : { problem: `${problem.code} ${problemText(problem)}` };
}

/** Converts one JSON value to XML. Throws MismatchError. */
export function writeOne(codec: BothWays, text: string): string | null {
  return codec.write(text).content;
}

/** Validates one JSON value of a request. */
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
