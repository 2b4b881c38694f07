import type { Ruled, ScalarName, Type, Variant } from '../../contract/model.ts';
import { pointerSegment } from '../document/error.ts';
import { escapeName, identifier, upperFirst } from '../names/names.ts';
import type { NamelessElement } from '../names/type-names.ts';
import type { Alternative } from './alternative.ts';
import { isJson } from './collections.ts';
import type { Draft } from './drafts.ts';
import { commonInteger, integerScalar } from './keywords.ts';

/** What the variants of a union are made with. */
/** The variants of a union and the elements that want names, one for each. */
export interface VariantsSource {
  /** The types that its values may be of. */
  readonly alternatives: readonly Alternative[];
  readonly scalar: (name: ScalarName) => Type;
  /** The type of an object or array among them; `name` is what an inline object is called. */
  readonly typeOf: (alternative: Alternative, name: string) => Type;
  readonly rulesAt: (schema: unknown, pointer: string) => Ruled;
}

/** A variant that waits for the name of its element. */
export type VariantDraft = Draft<Variant>;

/** The variants of a union, and their elements that wait for names. */
export interface Variants {
  /** In the order of the wire: scalars, objects, arrays, and JSON text for all else. */
  readonly list: readonly VariantDraft[];
  readonly elements: readonly NamelessElement[];
}

/** The variants of a union, each a type of its own but for the objects that a tag tells apart. */
export function listVariants({ alternatives, scalar, typeOf, rulesAt }: VariantsSource): Variants {
  const list: VariantDraft[] = [];
  const elements: NamelessElement[] = [];
  const untagged = new Set<Type>();
  const paths = new Set<string>();
  const of = (kind: Alternative['kind']): readonly Alternative[] =>
    alternatives.filter((alternative) => alternative.kind === kind);

  function add(label: string | undefined, variant: Omit<Variant, 'xml'>, place = ''): void {
    if (variant.tag === undefined && untagged.has(variant.type)) return;
    if (variant.tag === undefined) untagged.add(variant.type);
    const draft = { xml: '', ...variant };
    const path = `/variants${pointerSegment(label ?? place)}`;
    const own = paths.has(path) ? path + pointerSegment(place) : path;
    paths.add(own);
    list.push(draft);
    elements.push({
      path: own,
      tail: place,
      wanted: () => escapeName(label ?? (draft.type.kind === 'scalar' ? draft.type.scalar : draft.type.name)),
      set: (xml) => {
        draft.xml = xml;
      },
    });
  }

  function addScalar(label: string, takes: Variant['takes'], name: ScalarName): void {
    const [only, ...others] = of(takes);
    const ruled = only === undefined || others.length > 0 ? {} : rulesAt(only.node, only.pointer);
    add(label, { type: scalar(name), takes, tag: undefined, ...ruled });
  }

  if (of('string').length > 0) addScalar('String', 'string', 'string');
  if (of('integer').length > 0) addScalar('Integer', 'integer', commonIntegerOf(of('integer')));
  if (of('number').length > 0) addScalar('Decimal', 'number', 'decimal');
  if (of('boolean').length > 0) addScalar('Boolean', 'boolean', 'boolean');
  for (const object of of('object')) {
    const { owner, label, itself, tag, pointer } = object;
    const type = typeOf(object, itself ? `${owner}Base` : owner + upperFirst(identifier(label ?? '')));
    if (!isJson(type)) add(label, { type, takes: 'object', tag, ...rulesAt(object.node, pointer) }, pointer);
  }
  const lists = of('array')
    .map((array) => ({ array, type: typeOf(array, array.owner), place: array.pointer }))
    .filter(({ type }) => !isJson(type));
  const label = new Set(lists.map(({ type }) => type)).size === 1 ? 'Items' : undefined;
  for (const { array, type, place } of lists)
    add(label, { type, takes: 'array', tag: undefined, ...rulesAt(array.node, place) }, place);
  addScalar('Json', 'any', 'json');
  return { list, elements };
}

/** The integer type of several. */
export function commonIntegerOf(alternatives: readonly Alternative[]): ScalarName {
  return commonInteger(alternatives.map(({ node }) => integerScalar(node)));
}
