import { scalarTable } from '../../mappings/codec/scalars/table.ts';
import { adoptedOperation } from '../../mappings/contract/adopted.ts';
import { requiresSignature } from '../../mappings/contract/credentials.ts';
import type { Contract, Field, NamedType, Operation, Type } from '../../mappings/contract/model.ts';
import { partsOf } from '../../mappings/contract/model.ts';
import { routeTemplate } from '../../wsdl/page.ts';
import { credentialHeaders } from '../../wsdl/samples/placeholders.ts';
import type {
  FormDescription,
  MemberDescription,
  OperationDescription,
  TypeDescription,
  TypeRef,
} from '../description.ts';
import { elementsOf } from './adopted-elements.ts';
import { signInWays } from './sign-in.ts';
import { credentialBlocks, type Site } from './view.ts';

/** Returns the description from which the form of an operation is built. */
export function describeForm(site: Site, operation: Operation): FormDescription {
  const { contract, soapPaths } = site;
  const types = new Map<string, TypeDescription>();
  const waiting: Type[] = [...partsOf(operation.input)];
  for (let type = waiting.pop(); type !== undefined; type = waiting.pop()) {
    if (type.kind === 'scalar' || types.has(type.name)) continue;
    types.set(type.name, describeType(type));
    for (const part of partsOf(type)) waiting.push(part);
  }
  const { credentials } = contract;
  const secrets = new Set((credentials?.parts ?? []).flatMap(({ name, secret }) => (secret ? [name] : [])));
  const adopted = adoptedOperation(contract, operation.name);
  return {
    operation: describeOperation(contract, operation),
    types: Object.fromEntries(types),
    namespaces: contract.namespaces,
    credentials: credentialHeaders(contract).map(({ credential, header, placeholder, format, required }) => ({
      name: credential,
      header,
      secret: secrets.has(credential),
      required,
      placeholder,
      format,
    })),
    credentialsMember: credentials?.member,
    soapPaths,
    isAdopted: adopted !== undefined,
    elements: adopted ? elementsOf(adopted.input) : [],
    requests: site.sampler().samplesOf(operation.name)?.requests ?? [],
    requiredRequests: site.sparseSampler().samplesOf(operation.name)?.requests ?? [],
  };
}

/** Returns the contract's pages as data for other tools: `docs.json`. */
export function describeContract(site: Site, address: string): object {
  const { contract, soapPaths } = site;
  return {
    service: contract.service,
    documentation: contract.documentation,
    ...(contract.about !== undefined && { about: { ...contract.about, notServed: contract.notServed } }),
    address,
    wsdl: `${address}${soapPaths[0]?.path}?wsdl`,
    soap: soapPaths.map(({ path, version }) => ({ version, address: `${address}${path}` })),
    ...(!requiresSignature(contract.wsse) && {
      xml: `${address}/xml/reply/{operation}`,
      json: `${address}/json/reply/{operation}`,
    }),
    namespaces: contract.namespaces,
    signIn: signInWays(contract, credentialBlocks(site)),
    operations: contract.operations.map((operation) => describeOperation(contract, operation)),
    types: contract.types.map(describeType),
  };
}

function describeOperation(contract: Contract, operation: Operation): OperationDescription {
  const { name, documentation, tags, readOnly, deprecated, errors, input, output } = operation;
  return {
    name,
    documentation,
    tags,
    readOnly,
    ...(deprecated && { deprecated }),
    ...(errors !== undefined && { errors }),
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
