import { membersOf } from '../../mappings/codec/adopted/members.ts';
import type { Adopted } from '../../mappings/contract/adopted.ts';
import type { Contract } from '../../mappings/contract/model.ts';
import type { ElementDeclaration } from '../../mappings/contract/schema-components.ts';
import type { Setting } from '../../mappings/loader/document/settings-file.ts';
import { adoptedOverlaySettings } from '../../mappings/loader/wsdl/adopted-overlay.ts';

/** What an overlay has to say of an adopted folder: which of several WSDLs, and where files of other places lie. */
export interface AdoptedPlaces {
  /** Undefined where the folder has one WSDL. */
  readonly wsdl: string | undefined;
  readonly refs: ReadonlyMap<string, string>;
}

/** The lines of an overlay without which the folder isn't read. */
export function placesText({ wsdl, refs }: AdoptedPlaces): string {
  const lines = [...(wsdl === undefined ? [] : [`wsdl: ${JSON.stringify(wsdl)}`])];
  if (refs.size > 0) lines.push('refs:');
  for (const [beginning, folder] of refs)
    lines.push(`  ${JSON.stringify(beginning)}: ${JSON.stringify(folder)}`);
  return lines.map((line) => `${line}\n`).join('');
}

/** An overlay that says in comments what each key does, and what it is without the line (A33). */
export function adoptedOverlayText(contract: Contract, adopted: Adopted, places: AdoptedPlaces): string {
  const stated = placesText(places);
  const isStated = (key: string): boolean =>
    (key === 'wsdl' && places.wsdl !== undefined) ||
    (key === 'refs' && places.refs.size > 0) ||
    (key === 'headers' && tokenLines(adopted).length > 0);
  return [
    `# What there is to decide of ${adopted.service.name}, whose WSDL is beside this file.`,
    '# What is commented out is as it is without the line.',
    '',
    ...(stated === '' ? [] : [stated]),
    ...tokenLines(adopted),
    ...Object.entries(adoptedOverlaySettings.keys)
      .filter(([key]) => !isStated(key))
      .flatMap(([key, setting]) => [
        `# ${setting.description}${choicesOf(setting)}`,
        ...linesOf(key, contract, adopted).map((line) => `# ${line}`),
        '',
      ]),
  ].join('\n');
}

/** Where the values of a UsernameToken go that a policy asks for (A31). */
function tokenLines({ service }: Adopted): readonly string[] {
  if (!service.policies.some(({ kind }) => kind === 'usernameToken')) return [];
  return [
    `# ${adoptedOverlaySettings.keys.headers.description} Policies ask for a UsernameToken: its values go in these.`,
    'headers:',
    '  Security.Username: { header: X-Username }',
    '  Security.Password: { header: X-Password }',
    '',
  ];
}

/** What a comment says of the words that a key may have. */
export function choicesOf(setting: Setting): string {
  return setting.kind === 'keyword' ? ` One of ${setting.keywords.join(', ')}.` : '';
}

/** A key as it is without the line; one that is nothing by default, as an example. */
function linesOf(
  key: string,
  contract: Contract,
  { service, settings, endpoints }: Adopted,
): readonly string[] {
  switch (key) {
    case 'wsdl':
      return [`wsdl: ${JSON.stringify(service.documents[0]?.file ?? 'service.wsdl')}`];
    case 'refs':
      return ['refs:', '  https://schemas.example/: schemas'];
    case 'basePath':
      return ['basePath: /'];
    case 'upstreamTimeZone':
      return ['upstreamTimeZone: Europe/London'];
    case 'endpoints':
      return [
        'endpoints:',
        ...endpoints.flatMap(({ path, ports }) => ports.map(({ name }) => `  ${name}: ${path}`)),
      ];
    case 'operations':
      return ['operations:', ...contract.operations.map(({ name }) => `  ${name}: { readOnly: false }`)];
    case 'headers': {
      const place = service.operations.flatMap(({ input }) => input.headers.flatMap(scalarsOf))[0];
      return ['headers:', `  ${place ?? 'SessionHeader.session'}: { header: X-Session, format: "{}" }`];
    }
    default: {
      const all = new Map<string, unknown>(Object.entries({ ...contract.settings, ...settings }));
      return [`${key}: ${JSON.stringify(all.get(key) ?? (key === 'personal' ? [] : {}))}`];
    }
  }
}

/** The scalars of a header block, as the key `headers` names them. */
function scalarsOf({ name, type }: ElementDeclaration): readonly string[] {
  if (type.kind === 'simple' || type.content.kind !== 'elements') return [];
  return membersOf(type.content.particle).members.flatMap((member) =>
    member.kind === 'element' && member.element.type.kind === 'simple' && !member.repeats
      ? [`${name.local}.${member.json}`]
      : [],
  );
}
