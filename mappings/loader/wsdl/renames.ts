import type { AdoptedService } from '../../contract/adopted.ts';
import { didYouMean } from '../../contract/nearest.ts';
import type { AttributeUse, ComplexType, Particle, Wildcard } from '../../contract/type-graph.ts';
import { pointerSegment, type Report } from '../document/error.ts';
import { addTo, shown } from '../document/node.ts';

/** A declaration that becomes a JSON member. */
type Named = { json?: string | undefined };

/** Renamable members of one type, by the local names of their elements and attributes. */
type Places = ReadonlyMap<string, readonly Named[]>;

/**
 * Sets the JSON names of members (A33, `rename`). Keys have the form `Type.member`; an anonymous type has the name of
 * its element. Inherited members are renamed in the declaring type. Modifies the service, which must not be in use yet.
 */
export function renameMembers(
  service: AdoptedService,
  renames: ReadonlyMap<string, string>,
  report: Report,
): void {
  if (renames.size === 0) return;
  const types = typesByName(service);
  const places = new Map<ComplexType, Places>();
  for (const [key, name] of renames) {
    const pointer = `/rename${pointerSegment(key)}`;
    const dot = key.lastIndexOf('.');
    const type = types.get(key.slice(0, Math.max(0, dot)));
    if (type === undefined) {
      report(
        pointer,
        `expected a type of the WSDL and a member of it, such as Order.Customer, got ${shown(key)}${didYouMean(key.slice(0, Math.max(0, dot)), types.keys())}`,
      );
      continue;
    }
    const known = places.get(type) ?? placesOf(type);
    places.set(type, known);
    const member = key.slice(dot + 1);
    const found = known.get(member);
    const isTaken = [...known].some(
      ([other, [first]]) => other !== member && (first?.json ?? other) === name,
    );
    if (found === undefined)
      report(
        pointer,
        `expected a member of the type, got ${shown(member)}${didYouMean(member, known.keys())}`,
      );
    else if (isTaken) report(pointer, `expected a name that no other member has, got ${shown(name)}`);
    else for (const one of found) one.json = name;
  }
}

/**
 * Makes the wildcard elements of types members of the object in `@any` (A22, `open`). Types are named as for
 * `renameMembers`. Modifies the service, which must not be in use yet.
 */
export function openFieldsOf(service: AdoptedService, names: readonly string[], report: Report): void {
  if (names.length === 0) return;
  const types = typesByName(service);
  for (const name of names) {
    const type = types.get(name);
    const content = type?.content;
    const wildcards = content?.kind === 'elements' ? wildcardsOf(content.particle) : [];
    const at = `/open${pointerSegment(name)}`;
    if (type === undefined)
      report(at, `expected a type of the WSDL, got ${shown(name)}${didYouMean(name, types.keys())}`);
    else if (wildcards.length === 0) report(at, 'expected a type with an xs:any, got a type without it');
    for (const wildcard of wildcards) {
      const { namespaces } = wildcard;
      const [first] = namespaces.kind === 'list' ? namespaces.list : [];
      wildcard.fieldsOf = first ?? type?.name?.namespace ?? '';
    }
  }
}

function wildcardsOf(particle: Particle): readonly { -readonly [Key in keyof Wildcard]: Wildcard[Key] }[] {
  if (particle.kind === 'any') return [particle.wildcard];
  return particle.kind === 'element' ? [] : particle.particles.flatMap(wildcardsOf);
}

function typesByName({ typeNames, elements }: AdoptedService): ReadonlyMap<string, ComplexType> {
  const types = new Map<string, ComplexType>();
  for (const { name, type } of elements.values())
    if (type.kind === 'complex' && type.name === undefined) types.set(name.local, type);
  for (const [type, name] of typeNames) if (type.kind === 'complex') types.set(name, type);
  return types;
}

function placesOf({ attributes, content }: ComplexType): Places {
  const byName = new Map<string, Named[]>();
  const note = (name: string, place: Particle | AttributeUse): void => addTo(byName, name, place as Named);
  for (const use of attributes) note(use.name.local, use);
  const walk = (particle: Particle): void => {
    if (particle.kind === 'element') note(particle.element.name.local, particle);
    else if (particle.kind !== 'any') for (const inner of particle.particles) walk(inner);
  };
  if (content.kind === 'elements') walk(content.particle);
  return byName;
}
