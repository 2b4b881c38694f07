import type { Limits } from '../../contract/limits.ts';
import type { Settings } from '../../contract/overlay-keys.ts';
import type { AdoptedBody, AdoptedMessage, ElementDeclaration } from '../../contract/type-graph.ts';
import type { SimpleOf } from '../adopted/simple-types.ts';
import { quoteJson } from '../scalars/text.ts';
import { leafOf } from './leaf.ts';
import { compileByteReader, type ReadBytes } from './message.ts';
import { Plans, type Policy } from './plan.ts';
import { Spellings } from './tables.ts';

/** The byte readers of an adopted contract. */

/**
 * Returns a function that compiles the byte reader of a request; undefined for a request that has none.
 *
 * @param elementOf returns the element of a body, the wrapper of style rpc
 */
export function adoptedByteReaders(
  simpleOf: SimpleOf,
  settings: Settings,
  limits: Limits,
  elementOf: (body: Exclude<AdoptedBody, { readonly kind: 'empty' }>) => ElementDeclaration,
): (name: string, input: AdoptedMessage) => ReadBytes | undefined {
  const spellings = new Spellings();
  const plans = new Plans(policyOf(simpleOf, settings, limits));
  return (name, { use, body }) => {
    if (use !== 'literal' || body.kind === 'empty' || settings.types === 'always') return undefined;
    return compileByteReader({
      name,
      spellings,
      limits,
      planOf: () => plans.inputOf(elementOf(body), noSlots),
      finish: (reading) => {
        reading.isRpc = body.kind === 'rpc';
      },
    });
  };
}

const noSlots: ReadonlyMap<string, number> = new Map();
const unbound = (): undefined => undefined;

function policyOf(simpleOf: SimpleOf, settings: Settings, limits: Limits): Policy {
  return {
    limits,
    leafOf: (type, element) => {
      const { text, takesEmpty, usesPrefixes, judge, fromXml } = simpleOf(type);
      if (usesPrefixes || judge !== undefined) return undefined;
      const isText = fromXml === quoteJson;
      const read = isText ? quoteJson : (given: string) => fromXml(given, unbound);
      return leafOf({ text, takesEmpty, fromXml: read }, type, element, limits);
    },
    nilOf: ({ nillable }) => (nillable ? 'null' : 'absent'),
    isStrict: settings.validate === 'strict',
    itemNamespaces: [],
  };
}
