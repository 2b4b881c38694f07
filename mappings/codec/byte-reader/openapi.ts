import { noFacets } from '../../contract/built-in-types.ts';
import type { Limits } from '../../contract/limits.ts';
import type { Contract, Field, Operation } from '../../contract/model.ts';
import { typeGraphOf } from '../../type-graph.ts';
import type { RequestReaders } from '../codecs.ts';
import { credentialsSlot, type Problem, startReading } from '../problem.ts';
import { enumeration } from '../scalars/enumeration.ts';
import type { Scalars } from '../scalars/table.ts';
import { isNilAbsent } from '../types/record.ts';
import { missDeep } from '../types/record-fields.ts';
import { leafOf } from './leaf.ts';
import { compileByteReader, type ReadBytes } from './message.ts';
import { Plans, type Policy } from './plan.ts';
import { Spellings } from './tables.ts';

/** The byte readers of an OpenAPI contract. */

/** Returns a function that compiles the byte reader of an operation. */
export function openapiByteReaders(
  contract: Contract,
  scalars: Scalars,
  { readerOf }: RequestReaders,
  limits: Limits,
): (operation: Operation, slots: ReadonlyMap<string, number>, refusesAttributes: boolean) => ReadBytes {
  let plans: Plans | undefined;
  const spellings = new Spellings();
  return (operation, slots, refusesAttributes) => {
    const { credentials, settings } = contract;
    const field = operation.input.fields.find(({ json }) => json === credentials?.member);
    /** All readings of a contract have one limit. */
    let missing: readonly Problem[] | undefined;
    return compileByteReader({
      name: operation.name,
      spellings,
      limits,
      planOf: () => {
        const { body } = typeGraphOf(contract).messagesOf(operation).input;
        plans ??= new Plans(policyOf(contract, scalars, readerOf, limits));
        return body.kind === 'element' ? plans.inputOf(body.element, slots) : undefined;
      },
      finish: (reading, isReordered) => {
        reading.isReordered = isReordered;
        reading.refusesAttributes = refusesAttributes;
        const isMissing = field?.required === true && reading.slots[credentialsSlot] === undefined;
        if (!isMissing) return;
        missing ??= missingOf(field, settings.soapErrors === 'fault', reading.limit);
        reading.missing.push(...missing);
      },
    });
  };
}

/** Returns the problems of messages without a required member, which share them. */
function missingOf(field: Field, isAbsent: boolean, limit: number): readonly Problem[] {
  const reading = startReading(limit);
  missDeep(field, 'xml', [], reading, isAbsent);
  return reading.missing;
}

function policyOf(
  contract: Contract,
  scalars: Scalars,
  readerOf: RequestReaders['readerOf'],
  limits: Limits,
): Policy {
  const { namespaces, settings } = contract;
  const graph = typeGraphOf(contract);
  return {
    limits,
    leafOf: (type, element) => {
      const { scalar, facets } = type;
      if (scalar === 'json' && settings.json === 'tree') return undefined;
      if (scalar !== undefined)
        return leafOf(scalars[scalar], { ...type, facets: noFacets }, element, limits);
      const codec = enumeration(facets.enumeration ?? [], '', settings.unknownEnumValues);
      return leafOf(codec, type, element, limits);
    },
    nilOf: ({ nillable, demands, type }, isInput) => {
      const source = graph.sourceOf(type);
      if (source === undefined) return undefined;
      const field = { nillable, type: source, ...(demands?.nilIsAbsent && { nilIsAbsent: true as const }) };
      return isNilAbsent(field, isInput, contract) ? 'absent' : (readerOf(source).nil ?? 'absent');
    },
    isStrict: settings.validate === 'strict',
    itemNamespaces: [namespaces.types, namespaces.arrays],
  };
}
