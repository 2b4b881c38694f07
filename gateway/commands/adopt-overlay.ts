import { type AdoptedService, type SecurityNeeds, serviceOf } from '../../mappings/contract/adopted.ts';
import { membersOf } from '../../mappings/contract/members.ts';
import type { Contract } from '../../mappings/contract/model.ts';
import { overlaySettings } from '../../mappings/contract/overlay-keys.ts';
import type { ElementDeclaration } from '../../mappings/contract/type-graph.ts';
import { schemaFiles } from '../../mappings/loader/load.ts';
import { commentedKeys, type KeyLines, schemaLine } from './overlay-text.ts';

const { keys } = overlaySettings.adopted;

/** Paths that the overlay of an adopted folder must name: one of several WSDLs, and folders of imports. */
export interface AdoptedPlaces {
  /** Undefined if the folder has one WSDL. */
  readonly wsdl: string | undefined;
  readonly refs: ReadonlyMap<string, string>;
}

/** Returns the overlay lines that are required to read the folder. */
export function placesText({ wsdl, refs }: AdoptedPlaces): string {
  const lines = [...(wsdl === undefined ? [] : [`wsdl: ${JSON.stringify(wsdl)}`])];
  if (refs.size > 0) lines.push('refs:');
  for (const [beginning, folder] of refs)
    lines.push(`  ${JSON.stringify(beginning)}: ${JSON.stringify(folder)}`);
  return lines.map((line) => `${line}\n`).join('');
}

/**
 * Returns the text of an overlay that describes each key in a comment, with its default or an example (A33).
 *
 * @param folder folder of the contract
 */
export function adoptedOverlayText(folder: string, contract: Contract, places: AdoptedPlaces): string {
  const service = serviceOf(contract);
  const stated = placesText(places);
  const withoutStated: KeyLines = {
    ...(places.wsdl !== undefined && { wsdl: [] }),
    ...(places.refs.size > 0 && { refs: [] }),
    ...(tokenLines(service).length > 0 && { headers: [] }),
    ...(signatureLines(service).length > 0 && { wsse: [] }),
  };
  return [
    schemaLine(folder, schemaFiles.adoptedOverlay),
    `# Overlay of the service ${service.name}. Its WSDL is in this folder.`,
    '# Commented-out keys show their defaults or examples. docs/adopt.md of soapbridge describes each key.',
    '',
    ...(stated === '' ? [] : [stated]),
    ...tokenLines(service),
    ...signatureLines(service),
    ...commentedKeys('adopted', contract.settings, { ...linesOf(contract, service), ...withoutStated }),
  ].join('\n');
}

/** Returns HTTP headers for the values of a UsernameToken that a policy requires (A31). */
function tokenLines({ policies }: AdoptedService): readonly string[] {
  if (!policies.some(({ kind }) => kind === 'usernameToken')) return [];
  return [
    `# ${keys.headers.description} The policy requires a UsernameToken, and its values are sent in these headers.`,
    'headers:',
    '  Security.Username: { header: X-Username }',
    '  Security.Password: { header: X-Password }',
    '',
  ];
}

/** Returns the key `wsse` that the policies of a service need, with empty names of files (X37). */
function signatureLines({ policies }: AdoptedService): readonly string[] {
  const needs = policies.flatMap((one) => one.needs ?? []);
  const has = (key: keyof SecurityNeeds): boolean => needs.some((each) => each[key] !== undefined);
  const { keys: known } = keys.wsse;
  const canRead = { decrypt: 'decrypt' in known, saml: 'saml' in known };
  if (!has('x509') && !(canRead.saml && has('saml'))) return [];
  const wanted = new Set<string>(needs.flatMap(({ require = [] }) => require));
  if (canRead.decrypt && has('encryption')) wanted.add('encryption');
  const required = ['body', 'timestamp', 'to', 'encryption'].filter((item) => wanted.has(item));
  const x509 = ['ca: ""', `require: [${required.join(', ')}]`];
  if (has('sha1')) x509.push(`sha1: ${needs.some(({ sha1 }) => sha1 === true) ? 'true' : 'signature'}`);
  if (!wanted.has('timestamp')) x509.push('replay: allow');
  const confirmation = has('confirmation') ? ', confirmation: true' : '';
  const issuers = needs.flatMap(({ saml }) =>
    saml === undefined ? [] : [`${JSON.stringify(saml === '' ? 'issuer' : saml)}: ""`],
  );
  return [
    `# ${keys.wsse.description} The policy requires signatures: set the names of the files.`,
    'wsse:',
    `  x509: { ${x509.join(', ')} }`,
    ...(has('sign') ? [`  sign: { key: "", certificate: ""${confirmation} }`] : []),
    ...(wanted.has('encryption') ? [decryptLine(has('sign'), has('cbc'))] : []),
    ...(canRead.saml && has('saml') ? [`  saml: { issuers: { ${[...new Set(issuers)].join(', ')} } }`] : []),
    '',
  ];
}

/** Returns the setting for decryption. Its key is by default that of signed replies. */
function decryptLine(hasKey: boolean, isCbc: boolean): string {
  const items = [
    ...(hasKey ? [] : ['keys: [{ key: "", certificate: "" }]']),
    ...(isCbc ? ['cbc: true'] : []),
  ];
  return items.length === 0 ? '  decrypt: {}' : `  decrypt: { ${items.join(', ')} }`;
}

/** Returns the lines of keys with examples from the contract. */
function linesOf({ operations, ports }: Contract, service: AdoptedService): KeyLines {
  const [scalar] = service.operations.flatMap(({ input }) => input.headers.flatMap(scalarsOf));
  return {
    wsdl: [`wsdl: ${JSON.stringify(service.documents[0]?.file ?? 'service.wsdl')}`],
    endpoints: ['endpoints:', ...ports.map(({ name, path }) => `  ${name}: ${path}`)],
    operations: ['operations:', ...operations.map(({ name }) => `  ${name}: { readOnly: false }`)],
    ...(scalar !== undefined && {
      headers: ['headers:', `  ${scalar}: { header: X-Session, format: "{}" }`],
    }),
  };
}

/** Returns the scalars of a header block by their names in the key `headers`. */
function scalarsOf({ name, type }: ElementDeclaration): readonly string[] {
  if (type.kind === 'simple' || type.content.kind !== 'elements') return [];
  return membersOf(type.content.particle).members.flatMap((member) =>
    member.kind === 'element' && member.element.type.kind === 'simple' && !member.repeats
      ? [`${name.local}.${member.json}`]
      : [],
  );
}
