import type { AdoptedService } from '../../contract/adopted.ts';
import { apacheTypes } from '../../contract/apache-types.ts';
import { builtInTypes } from '../../contract/built-in-types.ts';
import type { Limits } from '../../contract/limits.ts';
import { namespaces } from '../../contract/model.ts';
import type { Settings } from '../../contract/overlay-keys.ts';
import { type AdoptedMessage, expanded, type SchemaType } from '../../contract/type-graph.ts';
import { xmlNamespace } from '../../xml/namespaces.ts';
import type { AdoptedContext } from './context.ts';
import { type KeptForms, keepingForms } from './kept-forms.ts';
import { compileSimpleTypes } from './simple-types.ts';
import { simpleCodec, type TypeCompiler, typeCompiler } from './types.ts';

/** The compile contexts of a service: one for literal messages, one for SOAP's encoding. */

export type Context = AdoptedContext & { readonly finish: TypeCompiler['finish'] };

/** The shared contexts of literal and of encoded messages, each created on first use. */
export interface Contexts {
  readonly of: (use: AdoptedMessage['use']) => Context;
  readonly made: ReadonlyMap<AdoptedMessage['use'], Context>;
}

export function contextsOf(
  service: AdoptedService,
  settings: Settings,
  limits: Limits,
  kept: KeptForms | undefined,
): Contexts {
  const made = new Map<AdoptedMessage['use'], Context>();
  const of = (use: AdoptedMessage['use']): Context => {
    const context = made.get(use) ?? contextOf(service, settings, limits, kept, use === 'encoded');
    made.set(use, context);
    return context;
  };
  return { of, made };
}

function contextOf(
  service: AdoptedService,
  settings: Settings,
  limits: Limits,
  kept: KeptForms | undefined,
  isEncoded: boolean,
): Context {
  const prefixes = new Map<string, string>([
    ['', ''],
    [namespaces.xsd, 'xsd:'],
    [namespaces.xsi, 'i:'],
    [xmlNamespace, 'xml:'],
    [namespaces.soap11Encoding, 'soapenc:'],
  ]);
  const given = prefixes.size;
  const byName = new Map<string, SchemaType>();
  for (const [local, type] of builtInTypes) byName.set(`xs:${local}`, type);
  for (const [local, type] of apacheTypes) byName.set(`apache:${local}`, type).set(local, type);
  for (const [type, name] of service.typeNames) byName.set(name, type);
  const types = typeCompiler(() => context);
  const context: Context = {
    service,
    settings,
    limits,
    encoded: isEncoded,
    decodesText: isEncoded,
    adviceFor: () => 'leave it out where no value is meant',
    references: undefined,
    simpleOf: compileSimpleTypes(settings, limits, kept && keepingForms(limits, kept)),
    codecOf: types.codecOf,
    mapValues: types.mapValues,
    elementOf: (element, once) => {
      const { type, value } = element;
      if (value === undefined || type.kind !== 'simple') return types.codecOf(type, once);
      return simpleCodec(context, type, value.text);
    },
    prefixOf: (namespace) => {
      const prefix = prefixes.get(namespace) ?? `n${prefixes.size - given}:`;
      prefixes.set(namespace, prefix);
      return prefix;
    },
    typeNameOf: (type) => {
      if (type.name?.namespace === namespaces.xsd) return `xs:${type.name.local}`;
      const name = service.typeNames.get(type);
      if (name === undefined && type.name?.namespace === namespaces.apacheSoap)
        return `apache:${type.name.local}`;
      return name;
    },
    typeNamed: (name) => byName.get(name),
    typeOfKey: (key) => service.types.get(key) ?? byKey.get(key),
    finish: types.finish,
  };
  return context;
}

/** Types that a message may name although no document of the service declares them. */
const byKey = new Map<string, SchemaType>([
  ...[namespaces.xsd, namespaces.soap11Encoding, namespaces.soap12Encoding].flatMap((namespace) =>
    [...builtInTypes].map(([local, type]) => [expanded({ namespace, local }), type] as const),
  ),
  [
    expanded({ namespace: namespaces.soap11Encoding, local: 'base64' }),
    builtInTypes.get('base64Binary') as SchemaType,
  ],
  ...[...apacheTypes].map(
    ([local, type]) => [expanded({ namespace: namespaces.apacheSoap, local }), type] as const,
  ),
]);
