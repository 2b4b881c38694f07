import { scalarTable } from '../../mappings/codec/scalars/table.ts';
import type { Contract, Field, NamedType, Operation, Type } from '../../mappings/contract/model.ts';
import { partsOf } from '../../mappings/contract/model.ts';
import { routeTemplate } from './operation.ts';
import { signInWays } from './sign-in.ts';
import type { Site } from './view.ts';

/** A type where it is used: a scalar by its type of XSD, or a named one by its name. */
export type TypeRef = { readonly scalar: string; readonly json: string } | { readonly type: string };

/** A member of a record. */
export interface MemberDescription {
  readonly json: string;
  readonly xml: string;
  readonly type: TypeRef;
  readonly required?: true;
  readonly nillable?: true;
  readonly values?: readonly string[];
  readonly description?: string;
  readonly facts?: string;
}

/** A named type. */
export type TypeDescription = { readonly name: string; readonly documentation?: string } & (
  | {
      readonly kind: 'record';
      readonly members: readonly MemberDescription[];
      /** The element of members of other names, and their type. */
      readonly others?: { readonly xml: string; readonly type: TypeRef };
    }
  | { readonly kind: 'union'; readonly variants: readonly { readonly xml: string; readonly type: TypeRef }[] }
  | {
      readonly kind: 'tuple';
      readonly positions: readonly { readonly xml: string; readonly type: TypeRef }[];
    }
  | { readonly kind: 'array'; readonly namespace: string; readonly itemName: string; readonly item: TypeRef }
  | { readonly kind: 'map'; readonly namespace: string; readonly entryName: string; readonly value: TypeRef }
  | { readonly kind: 'enum'; readonly values: readonly string[] }
);

/** An operation for tools: what the pages show of it, as data. */
export interface OperationDescription {
  readonly name: string;
  readonly documentation: string;
  readonly tags: readonly string[];
  readonly readOnly: boolean;
  readonly input: readonly MemberDescription[];
  readonly output: readonly MemberDescription[];
  readonly routes: readonly string[];
}

/** An operation with all types that its input reaches, for the form. */
export interface FormDescription {
  readonly operation: OperationDescription;
  readonly types: Readonly<Record<string, TypeDescription>>;
  readonly namespaces: Contract['namespaces'];
  readonly credentials: readonly {
    readonly name: string;
    readonly header: string;
    readonly secret: boolean;
  }[];
  /** The JSON member that holds credentials in a body, which the form leaves out. */
  readonly credentialsMember: string | undefined;
  readonly soapPaths: Site['soapPaths'];
  readonly isAdopted: boolean;
}

/** What the form of an operation is made of. */
export function describeForm(site: Site, operation: Operation): FormDescription {
  const { contract, soapPaths } = site;
  const types = new Map<string, TypeDescription>();
  const waiting: Type[] = [...partsOf(operation.input)];
  for (let type = waiting.pop(); type !== undefined; type = waiting.pop()) {
    if (type.kind === 'scalar' || types.has(type.name)) continue;
    types.set(type.name, describeType(type));
    waiting.push(...partsOf(type));
  }
  const { credentials } = contract;
  return {
    operation: describeOperation(contract, operation),
    types: Object.fromEntries(types),
    namespaces: contract.namespaces,
    credentials: (credentials?.parts ?? []).map(({ name, header, secret }) => ({ name, header, secret })),
    credentialsMember: credentials?.member,
    soapPaths,
    isAdopted: contract.adopted !== undefined,
  };
}

/** The whole contract as pages show it, for other tools: `docs.json`. */
export function describeContract({ contract, soapPaths }: Site, address: string): object {
  return {
    service: contract.service,
    documentation: contract.documentation,
    address,
    wsdl: `${address}${soapPaths[0]?.path}?wsdl`,
    soap: soapPaths.map(({ path, version }) => ({ version, address: `${address}${path}` })),
    xml: `${address}/xml/reply/{operation}`,
    json: `${address}/json/reply/{operation}`,
    namespaces: contract.namespaces,
    signIn: signInWays(contract),
    operations: contract.operations.map((operation) => describeOperation(contract, operation)),
    types: contract.types.map(describeType),
  };
}

function describeOperation(contract: Contract, operation: Operation): OperationDescription {
  const { name, documentation, tags, readOnly, input, output } = operation;
  return {
    name,
    documentation,
    tags,
    readOnly,
    input: input.fields.map(describeMember),
    output: output.fields.map(describeMember),
    routes: contract.routes
      .filter((route) => route.operation.name === name)
      .map((route) => `${route.method} ${routeTemplate(route)}`),
  };
}

function describeMember({ json, xml, type, required, nillable, allowed, words }: Field): MemberDescription {
  const { description = '', facts = '' } = words ?? {};
  return {
    json,
    xml,
    type: refOf(type),
    ...(required && { required }),
    ...(nillable && { nillable }),
    ...(allowed !== undefined && { values: allowed }),
    ...(description !== '' && { description }),
    ...(facts !== '' && { facts }),
  };
}

function refOf(type: Type): TypeRef {
  if (type.kind !== 'scalar') return { type: type.name };
  const { xsd, json } = scalarTable[type.scalar];
  return { scalar: xsd, json };
}

function describeType(type: NamedType): TypeDescription {
  const words =
    'documentation' in type && type.documentation !== '' ? { documentation: type.documentation } : {};
  const { name } = type;
  switch (type.kind) {
    case 'record': {
      const others = type.additional?.typed;
      return {
        kind: 'record',
        name,
        ...words,
        members: type.fields.map(describeMember),
        ...(others !== undefined && { others: { xml: others.xml, type: refOf(others.type) } }),
      };
    }
    case 'union':
      return {
        kind: 'union',
        name,
        ...words,
        variants: type.variants.map(({ xml, type: own }) => ({ xml, type: refOf(own) })),
      };
    case 'tuple': {
      const parts = [...type.positions, ...(type.rest === undefined ? [] : [type.rest])];
      return {
        kind: 'tuple',
        name,
        ...words,
        positions: parts.map(({ xml, type: own }) => ({ xml, type: refOf(own) })),
      };
    }
    case 'array':
      return {
        kind: 'array',
        name,
        namespace: type.namespace,
        itemName: type.itemName,
        item: refOf(type.item),
      };
    case 'map':
      return {
        kind: 'map',
        name,
        namespace: type.namespace,
        entryName: type.entryName,
        value: refOf(type.value),
      };
    case 'enum':
      return { kind: 'enum', name, ...words, values: type.values };
  }
}
