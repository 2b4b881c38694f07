import { scalarTable } from '../mappings/codec/scalars/table.ts';
import type {
  ArrayType,
  Contract,
  MapType,
  Operation,
  RecordType,
  Type,
} from '../mappings/contract/model.ts';
import { namespaces } from '../mappings/contract/model.ts';
import { type DocumentNode, element, writeXml } from './document.ts';
import { schemaOf } from './schema.ts';

/** Maximum depth of records, arrays and maps. Types may be recursive, and a sample must stay readable. */
const deepest = 4;

/** Maximum number of elements. Records that contain each other would otherwise produce millions. */
const largest = 2_000;

/** State of writing one sample. */
interface Sampling {
  readonly contract: Contract;
  /** Number of elements that may still be written. */
  left: number;
}

/**
 * Writes a SOAP 1.1 request with a value for every field, up to the maximum depth and number of elements. It is valid
 * against the WSDL's schemas.
 */
export function writeSample(contract: Contract, operation: Operation): string {
  const children = fields({ contract, left: largest }, operation.input, 1);
  const wrapper = element(operation.name, { xmlns: contract.namespaces.types }, ...children);
  return writeXml(
    element('soap:Envelope', { 'xmlns:soap': namespaces.soap11 }, element('soap:Body', {}, wrapper)),
  );
}

function fields(sampling: Sampling, record: RecordType, depth: number): DocumentNode[] {
  return record.fields
    .filter(({ type }) => depth < deepest || type.kind === 'scalar' || type.kind === 'enum')
    .flatMap(({ xml, type, allowed }) => elementOf(sampling, xml, type, depth, allowed));
}

/** Returns an element with a sample value, or nothing if the maximum number of elements is reached. */
function elementOf(
  sampling: Sampling,
  xml: string,
  type: Type,
  depth: number,
  allowed?: readonly string[],
): DocumentNode[] {
  if (sampling.left === 0) return [];
  sampling.left--;
  return [element(xml, {}, ...content(sampling, type, depth, allowed))];
}

/** Returns the content of an element of the type. */
function content(
  sampling: Sampling,
  type: Type,
  depth: number,
  allowed?: readonly string[],
): (DocumentNode | string)[] {
  const { contract } = sampling;
  switch (type.kind) {
    case 'scalar':
      if (type.scalar === 'json' && contract.settings.json === 'tree')
        return [element('map', { xmlns: namespaces.jsonTree })];
      return [scalarTable[type.scalar].sample];
    case 'enum':
      return [allowed?.[0] ?? type.values[0] ?? ''];
    case 'record':
      return fields(sampling, type, depth + 1);
    case 'union': {
      const [first] = type.variants;
      return first === undefined ? [] : elementOf(sampling, first.xml, first.type, depth + 1);
    }
    case 'tuple': {
      if (depth >= deepest) return [];
      const all = [...type.positions, ...(type.rest === undefined ? [] : [type.rest])];
      return all.flatMap((item) => elementOf(sampling, item.xml, item.type, depth + 1));
    }
    case 'array':
      if (depth >= deepest) return [];
      return [part(contract, type, type.itemName, content(sampling, type.item, depth + 1))];
    case 'map': {
      if (depth >= deepest) return [];
      const prefix = prefixOf(contract, type);
      const key = element(`${prefix}Key`, {}, 'key');
      const value = element(`${prefix}Value`, {}, ...content(sampling, type.value, depth + 1));
      return [part(contract, type, type.entryName, [key, value])];
    }
  }
}

/** Creates an item or entry in the namespace of its array or map. The types namespace is the default namespace. */
function part(
  contract: Contract,
  owner: ArrayType | MapType,
  name: string,
  children: readonly (DocumentNode | string)[],
): DocumentNode {
  const prefix = prefixOf(contract, owner);
  const declaration = prefix === '' ? {} : { 'xmlns:arr': contract.namespaces.arrays };
  return element(`${prefix}${name}`, declaration, ...children);
}

function prefixOf(contract: Contract, type: ArrayType | MapType): '' | 'arr:' {
  return schemaOf(contract, type) === 'types' ? '' : 'arr:';
}
