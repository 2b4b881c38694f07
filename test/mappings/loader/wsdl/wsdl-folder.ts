import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ExecutionContext } from 'ava';
import type { AdoptedService } from '../../../../mappings/contract/adopted.ts';
import type { ComplexType, ElementDeclaration, Particle } from '../../../../mappings/contract/type-graph.ts';
import { ContractError } from '../../../../mappings/loader/document/error.ts';
import {
  type AdoptedOptions,
  type LoadedService,
  loadAdoptedService,
} from '../../../../mappings/loader/wsdl/load-adopted.ts';

export type Files = Readonly<Record<string, string | Uint8Array>>;

/** Creates a folder with these files. */
export function folderOf(t: ExecutionContext, files: Files): string {
  const folder = mkdtempSync(join(tmpdir(), 'adopted-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(folder, dirname(name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

/** Returns a schema of `urn:t`, whose prefix is `t`. */
export function schemaOf(
  content: string,
  attributes = 'targetNamespace="urn:t" elementFormDefault="qualified"',
): string {
  return `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:t" ${attributes}>${content}</xs:schema>`;
}

const prefixes =
  'xmlns:w="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:t"';

/** Returns a WSDL 1.1 document with schemas, followed by `rest`. */
export function definitionsOf(schemas: string, rest: string, attributes = 'targetNamespace="urn:t"'): string {
  return `<w:definitions ${prefixes} ${attributes}><w:types>${schemas}</w:types>${rest}</w:definitions>`;
}

/** The messages, port type, binding and port of a document/literal operation `Get`, whose body is `t:Get`. */
export const get =
  '<w:message name="in"><w:part name="p" element="t:Get"/></w:message><w:message name="out"><w:part name="p" element="t:Get"/></w:message>' +
  '<w:portType name="P"><w:operation name="Get"><w:input message="t:in"/><w:output message="t:out"/></w:operation></w:portType>' +
  '<w:binding name="B" type="t:P"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/><w:operation name="Get"><soap:operation soapAction="urn:t/Get"/><w:input><soap:body use="literal"/></w:input><w:output><soap:body use="literal"/></w:output></w:operation></w:binding>' +
  '<w:service name="Things"><w:port name="ThingsSoap" binding="t:B"><soap:address location="http://old.example/Things.asmx"/></w:port></w:service>';

const [binding11 = ''] = /<w:binding .*<\/w:binding>/.exec(get) ?? [];
const binding12 = binding11
  .replace('"B"', '"B12"')
  .replaceAll('<soap:', '<s12:')
  .replaceAll('</soap:', '</s12:');
const [port11 = ''] = /<w:port .*<\/w:port>/.exec(get) ?? [];
const port12 = port11
  .replace('"ThingsSoap"', '"ThingsSoap12"')
  .replace('"t:B"', '"t:B12"')
  .replace('<soap:', '<s12:');

/**
 * Returns a WSDL of the operation `Get` without content, with a port at `/Things.asmx` for each SOAP version in this
 * order.
 */
export function getAtPorts(...versions: readonly ('1.1' | '1.2')[]): string {
  const ports = versions.map((version) => (version === '1.1' ? port11 : port12)).join('');
  const bindings = [...new Set(versions)]
    .map((version) => (version === '1.1' ? binding11 : binding12))
    .join('');
  return definitionsOf(
    schemaOf('<xs:element name="Get"><xs:complexType/></xs:element>'),
    get.replace(binding11, bindings).replace(port11, ports),
    'targetNamespace="urn:t" xmlns:s12="http://schemas.xmlsoap.org/wsdl/soap12/"',
  );
}

/** Returns a WSDL of the operation `Get` with this body type and additional schema declarations. */
export function getOf(type: string, declarations = ''): string {
  return definitionsOf(schemaOf(`<xs:element name="Get">${type}</xs:element>${declarations}`), get);
}

export function load(t: ExecutionContext, files: Files, options: AdoptedOptions = {}): LoadedService {
  return loadAdoptedService(folderOf(t, files), options);
}

/** Loads the service of one WSDL. */
export function serviceOf(t: ExecutionContext, wsdl: string): AdoptedService {
  return load(t, { 'service.wsdl': wsdl }).service;
}

/** Returns the problems of the documents, one per line, without the folder's path. */
export function problemsOf(
  t: ExecutionContext,
  files: Files,
  options: AdoptedOptions = {},
): readonly string[] {
  const folder = folderOf(t, files);
  return problemsIn(folder, options);
}

export function problemsIn(folder: string, options: AdoptedOptions = {}): readonly string[] {
  try {
    loadAdoptedService(folder, options);
    return [];
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    return error.message.split('\n').map((line) => line.replaceAll(`${folder}/`, ''));
  }
}

/** Returns the type of the body of `Get`. */
export function typeOfGet({ elements }: AdoptedService): ComplexType {
  const type = elements.get('{urn:t}Get')?.type;
  if (type?.kind !== 'complex') throw new Error('Get: expected a complex type');
  return type;
}

/**
 * Describes a type's content: `(a b? c*)` for a sequence, `|` between branches of a choice, `&` between members of
 * `all`.
 */
export function contentOf({ content }: ComplexType): string {
  switch (content.kind) {
    case 'elements':
      return `${content.mixed ? 'mixed ' : ''}${particleOf(content.particle)}`;
    case 'text':
      return `text ${content.type.name?.local ?? content.type.builtIn}`;
    case 'encodedArray':
      return `array ${content.item.name?.local ?? content.item.kind} ${content.dimensions}`;
    default:
      return content.kind;
  }
}

function particleOf(particle: Particle): string {
  const { least, most } = particle;
  const times = least === 1 && most === 1 ? '' : most === 1 ? '?' : least === 0 ? '*' : '+';
  switch (particle.kind) {
    case 'element':
      return `${nameOf(particle.element)}${times}`;
    case 'any':
      return `any${times}`;
    default: {
      const mark = { sequence: ' ', choice: '|', all: '&' }[particle.kind];
      return `(${particle.particles.map(particleOf).join(mark)})${times}`;
    }
  }
}

/** Returns a name, with `{…}` if its namespace is not `urn:t`. */
export function nameOf({ name }: ElementDeclaration): string {
  return name.namespace === 'urn:t' ? name.local : `{${name.namespace}}${name.local}`;
}
