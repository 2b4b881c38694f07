import { stringify } from 'yaml';
import { wrapperOf } from '../../mappings/codec/adopted/compile.ts';
import { faultNames } from '../../mappings/codec/adopted/fault-codecs.ts';
import { type AdoptedOperation, type AdoptedService, serviceOf } from '../../mappings/contract/adopted.ts';
import { type MovedHeader, movedHeadersOf } from '../../mappings/contract/credentials.ts';
import type { Contract } from '../../mappings/contract/model.ts';
import { type Settings, withDefaults } from '../../mappings/contract/overlay-keys.ts';
import type { AdoptedMessage, ElementDeclaration } from '../../mappings/contract/type-graph.ts';
import { Components } from './components.ts';
import { dropUnused, schemesOf, securityOf, takeMoved } from './moved-headers.ts';
import { type ExtraMembers, type OpenPlace, object, TypeSchemas } from './schemas.ts';
import type { JsonSchema } from './simple-types.ts';

/** The OpenAPI document derived from the WSDL of an adopted service (A32). */
export interface DerivedOpenapi {
  /** OpenAPI 3.1 as plain data: a `POST /{name}` for each operation, types as components. */
  readonly document: JsonSchema;
  /** Places that hold XML text or a value of any type (A22 to A24), in document order. */
  readonly open: readonly OpenPlace[];
}

/**
 * Derives the upstream's OpenAPI document from a contract that was loaded from a WSDL (A32). The same contract gives
 * the same document. Throws a RangeError for a contract loaded from an OpenAPI document.
 */
export function deriveFromContract(contract: Contract): DerivedOpenapi {
  return deriveOpenapi(serviceOf(contract), contract.settings, movedHeadersOf(contract.credentials));
}

/**
 * Derives the document from which a team builds the upstream of an adopted WSDL (A32). Each operation has the bodies
 * that the codecs read and write. The same service and settings give the same document.
 *
 * @param moved values of header blocks that are sent in HTTP headers, and become security schemes (A8)
 */
export function deriveOpenapi(
  service: AdoptedService,
  settings: Partial<Settings> = {},
  moved: readonly MovedHeader[] = [],
): DerivedOpenapi {
  const shared = {
    service,
    settings: withDefaults('adopted', settings),
    components: new Components(),
    open: new Map<string, OpenPlace>(),
  };
  const types = { literal: new TypeSchemas(shared, false), encoded: new TypeSchemas(shared, true) };
  const portOf = new Map<AdoptedOperation, string>();
  for (const port of service.ports)
    for (const operation of port.operations) if (!portOf.has(operation)) portOf.set(operation, port.name);
  const portTypes = [...new Set(service.operations.map(({ portType }) => portType))];
  const paths: JsonSchema = {};
  const blocksOf: Record<string, JsonSchema>[] = [];
  for (const operation of service.operations)
    paths[`/${operation.name}`] = {
      post: {
        operationId: operation.name,
        ...(portTypes.length > 1 && { tags: [operation.portType] }),
        ...(operation.documentation !== '' && { description: operation.documentation }),
        'x-soap': {
          port: portOf.get(operation) ?? '',
          operation: operation.wsdlName,
          action: operation.action,
        },
        ...securityOf(moved, new Set(operation.input.headers.map(({ name }) => name.local))),
        requestBody: {
          required: true,
          content: json(ofMessage(operation.input, types, (blocks) => blocksOf.push(blocks))),
        },
        responses: responsesOf(operation, types, shared.components),
      },
    };
  const schemas = shared.components.finish();
  for (const blocks of blocksOf) takeMoved(blocks, moved, schemas);
  const document: JsonSchema = {
    openapi: '3.1.0',
    info: {
      title: service.name === '' ? 'Service' : service.name,
      version: '1',
      ...(service.documentation !== '' && { description: service.documentation }),
    },
    ...(portTypes.length > 1 && { tags: portTypes.map((name) => ({ name })) }),
    paths,
    ...((moved.length > 0 || Object.keys(schemas).length > 0) && {
      components: { ...(moved.length > 0 && { securitySchemes: schemesOf(moved) }), schemas },
    }),
  };
  if (moved.length > 0) dropUnused(document, schemas);
  return { document, open: [...shared.open.values()] };
}

/** Returns a derived document as YAML text. */
export function writeDerivedOpenapi(document: JsonSchema): string {
  const text = stringify(document, { aliasDuplicateObjects: false, compat: 'yaml-1.1', lineWidth: 0 });
  return `# The OpenAPI document of the upstream. Derived: soapbridge check compares it with the WSDL.\n${text}`;
}

type Types = Readonly<Record<AdoptedMessage['use'], TypeSchemas>>;

const json = (schema: JsonSchema): JsonSchema => ({ 'application/json': { schema } });

function responsesOf(operation: AdoptedOperation, types: Types, components: Components): JsonSchema {
  const { output, faults } = operation;
  const responses: JsonSchema =
    output === undefined
      ? { '202': { description: 'Taken; the body is not read (one-way).' } }
      : { '200': { description: 'The reply.', content: json(ofMessage(output, types)) } };
  const refs = new Map<string, JsonSchema>();
  const names = faultNames(faults);
  for (const { element, use } of faults) {
    const name = names.get(element) ?? element.name.local;
    if (!refs.has(name)) refs.set(name, types[use].ofFault(element, name));
  }
  const [only, ...more] = refs.values();
  if (only === undefined) return responses;
  const schema =
    more.length === 0
      ? only
      : { oneOf: [only, ...more], discriminator: components.discriminator('@fault', refs) };
  responses['4XX'] = { description: 'A declared fault.', content: json(schema) };
  return responses;
}

/** Returns the JSON content of a message's body with the declared header blocks (A7, A8). */
function ofMessage(
  { body, headers, use }: AdoptedMessage,
  types: Types,
  noteBlocks: (blocks: Record<string, JsonSchema>) => void = () => {},
): JsonSchema {
  const schemas = types[use];
  const headerMembers = headersOf(headers, schemas, noteBlocks);
  if (body.kind === 'empty') return object({ ...headerMembers.properties }, headerMembers.required);
  const element = body.kind === 'element' ? body.element : wrapperOf(body.wrapper, body.parts);
  return schemas.ofBody(element, headerMembers);
}

function headersOf(
  headers: readonly ElementDeclaration[],
  schemas: TypeSchemas,
  noteBlocks: (blocks: Record<string, JsonSchema>) => void,
): ExtraMembers {
  if (headers.length === 0) return { properties: {}, required: [] };
  const blocks: Record<string, JsonSchema> = {};
  for (const element of headers) blocks[element.name.local] = schemas.ofElement(element, true);
  noteBlocks(blocks);
  return {
    properties: { '@headers': { ...object(blocks, []), description: 'The header blocks that came.' } },
    required: [],
  };
}
