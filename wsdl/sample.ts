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

/** Records, arrays and maps below this many levels are left out: types may be recursive, a sample is to be read. */
const deepest = 4;

/** Elements beyond so many are left out: records that hold many of one another would have millions. */
const largest = 2_000;

/** What a sample is written for. */
interface Sampling {
  readonly contract: Contract;
  /** How many elements there may still be. */
  left: number;
}

/**
 * A SOAP 1.1 request of the operation with a value for every field down to the deepest level and up to the largest number
 * of them, valid against the WSDL's schemas.
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

/** An element with a value of a type; none where there are enough. */
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

/** What stands in an element of the type. */
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

/** An item or entry, in the namespace of its array or map; the types namespace is the default one. */
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
