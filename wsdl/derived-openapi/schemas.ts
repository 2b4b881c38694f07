import { compileSimpleTypes } from '../../mappings/codec/adopted/simple-types.ts';
import type { AdoptedService } from '../../mappings/contract/adopted.ts';
import { anyType } from '../../mappings/contract/built-in-types.ts';
import { defaultLimits } from '../../mappings/contract/limits.ts';
import {
  attributeMembers,
  contentMembers,
  isInnerXml,
  isMixed,
  isObjectType,
  loneMember,
  substituteMembers,
  valueNameOf,
} from '../../mappings/contract/members.ts';
import { namespaces } from '../../mappings/contract/model.ts';
import type { Settings } from '../../mappings/contract/overlay-keys.ts';
import type {
  ComplexType,
  ElementDeclaration,
  Member,
  Members,
  SchemaType,
  SimpleType,
} from '../../mappings/contract/type-graph.ts';
import { type Components, joinedTexts } from './components.ts';
import { type JsonSchema, type SimpleSchemas, simpleSchemas } from './simple-types.ts';

/** Schemas of an adopted service's types, with the members that the codec reads and writes (A10 to A26, A32). */

/** A place whose value is XML text or a value of any type (A22 to A24). */
export interface OpenPlace {
  /** The type or element, and the member in it. */
  readonly place: string;
  readonly rule: 'A22' | 'A23' | 'A24';
}

/** Additional members of a body's object, apart from the members of its type: `@headers`, `@fault`, `@message`. */
export interface ExtraMembers {
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required: readonly string[];
}

/** State shared by the schemas of literal and encoded messages. */
export interface SharedSchemas {
  readonly service: AdoptedService;
  readonly settings: Settings;
  readonly components: Components;
  readonly open: Map<string, OpenPlace>;
}

const none: ExtraMembers = { properties: {}, required: [] };

/** Schemas of literal messages, or of messages with SOAP encoding, in which every value may be nil (A30). */
export class TypeSchemas {
  readonly #shared: SharedSchemas;
  readonly #encoded: boolean;
  readonly #simple: SimpleSchemas;
  readonly #concrete = new Map<ComplexType, readonly ComplexType[]>();
  readonly #lone = new Map<ComplexType, Member | undefined>();

  constructor(shared: SharedSchemas, encoded: boolean) {
    this.#shared = shared;
    this.#encoded = encoded;
    const simpleOf = compileSimpleTypes(shared.settings, defaultLimits);
    this.#simple = simpleSchemas(simpleOf, shared.settings, (type) => this.#ofSimple(type));
  }

  /**
   * Returns the schema of an element's value, which may be null if the element is nillable.
   *
   * @param once true if the element occurs at most once in its parent (A13)
   */
  ofElement({ name, type, nillable, value, documentation }: ElementDeclaration, once: boolean): JsonSchema {
    const plain = this.ofType(type, once, name.local);
    const schema = nillable || this.#encoded ? this.#orNull(plain, type, once, name.local) : plain;
    if (type.kind === 'simple' && value !== undefined) {
      const fallback = this.#simple.valueOf(type, value.text);
      if (fallback !== undefined) schema.default = fallback;
    }
    return documented(schema, documentation);
  }

  /**
   * Returns the schema of a body's element. With additional members it is inlined; otherwise a named type is
   * referenced.
   */
  ofBody(element: ElementDeclaration, extra: ExtraMembers): JsonSchema {
    const { type, name } = element;
    if (Object.keys(extra.properties).length === 0 || !isObjectType(type))
      return this.ofElement(element, false);
    const schema = this.#inLine(type, name.local, extra);
    const made = element.nillable || this.#encoded ? this.#orNull(schema, type, false, name.local) : schema;
    return documented(made, element.documentation);
  }

  /**
   * Returns the schema of an error response that is a declared fault, by its JSON name (A29). It has the members of the
   * fault's detail, `@fault` and `@message`.
   */
  ofFault(element: ElementDeclaration, called: string): JsonSchema {
    const { type, name } = element;
    return this.#refer(element, `fault ${called}`, 'fault', withoutEnd(called), () => {
      const extra: ExtraMembers = {
        properties: {
          '@fault': { type: 'string', enum: [called] },
          '@message': { type: 'string', description: 'The words of the fault; without them its name.' },
          '@code': { type: 'string', description: 'The fault code, such as Server or Client.NoStock.' },
          '@actor': { type: 'string', description: 'The URI of the actor that caused the fault.' },
          '@detail': { type: 'string', description: 'More XML for the detail.' },
        },
        required: ['@fault'],
      };
      if (isObjectType(type)) return documented(this.#inLine(type, name.local, extra), element.documentation);
      const value = this.ofElement({ ...element, documentation: '' }, false);
      const schema = object({ ...extra.properties, value }, [...extra.required, 'value']);
      return documented(schema, element.documentation);
    });
  }

  /** Returns the schema of a type's value. `called` is the element's name, used for a type without a name. */
  ofType(type: SchemaType, once: boolean, called: string): JsonSchema {
    if (type.kind === 'simple') return this.#ofSimple(type, called);
    if (type === anyType) return this.#any(called);
    if (this.#loneOf(type) !== undefined) {
      const make = (): JsonSchema => (once ? this.#loneArray(type, called) : this.#record(type, called));
      const role = type.name === undefined ? 'unnamed' : once ? 'value' : 'item';
      return this.#refer(type, once ? 'value' : 'item', role, this.#nameOf(type, called), make);
    }
    const role = type.name === undefined ? 'unnamed' : 'value';
    return this.#refer(type, 'value', role, this.#nameOf(type, called), () => this.#value(type, called));
  }

  #refer(
    of: object,
    key: string,
    role: Parameters<Components['refer']>[2],
    called: string,
    make: () => JsonSchema,
  ): JsonSchema {
    return this.#shared.components.refer(of, this.#encoded ? `${key} encoded` : key, role, called, make);
  }

  #nameOf(type: SchemaType, called: string): string {
    return this.#shared.service.typeNames.get(type) ?? type.name?.local ?? called;
  }

  #ofSimple(type: SimpleType, called = ''): JsonSchema {
    const make = (): JsonSchema => documented(this.#simple.schemaOf(type), type.documentation);
    if (type.name === undefined)
      return type.facets.enumeration === undefined
        ? make()
        : this.#refer(type, 'value', 'unnamed', called, make);
    if (type.name.namespace === namespaces.xsd) return make();
    return this.#refer(type, 'value', 'value', this.#nameOf(type, called), make);
  }

  #loneOf(type: ComplexType): Member | undefined {
    if (!this.#lone.has(type)) this.#lone.set(type, loneMember(type));
    return this.#lone.get(type);
  }

  /** Returns the non-abstract types derived from a type (A18). */
  #concreteOf(type: ComplexType): readonly ComplexType[] {
    const known = this.#concrete.get(type);
    if (known !== undefined) return known;
    const made = type.derived.flatMap((one) => [...(one.abstract ? [] : [one]), ...this.#concreteOf(one)]);
    this.#concrete.set(type, made);
    return made;
  }

  #value(type: ComplexType, called: string): JsonSchema {
    const { content } = type;
    if (content.kind === 'encodedArray') {
      if (content.dimensions > 1)
        return { type: 'null', description: 'An array of several dimensions, which none is served of.' };
      const items = this.#orNull(this.ofType(content.item, false, called), content.item, false, called);
      return documented({ type: 'array', items }, type.documentation);
    }
    if (content.kind === 'map') {
      const valuesOfMap = (): JsonSchema =>
        content.value.type === anyType
          ? { description: 'A value of any type, null, or an object that is a map.' }
          : this.ofElement(content.value, true);
      const pair = object({ key: this.ofElement(content.key, true), value: valuesOfMap() }, ['key']);
      return {
        anyOf: [
          { type: 'object', additionalProperties: valuesOfMap() },
          { type: 'array', items: pair },
        ],
        description: 'The entries of a map; a list if a key is no string, begins with @ or occurs twice.',
      };
    }
    if (isInnerXml(type)) {
      this.#note(called, type, '', 'A24');
      return documented({ type: 'string', description: 'The content as XML.' }, type.documentation);
    }
    const concrete = this.#concreteOf(type);
    if (concrete.length === 0) {
      if (!type.abstract) return this.#record(type, called);
      return documented(
        { not: {}, description: 'Abstract, and nothing is derived from it.' },
        type.documentation,
      );
    }
    const refs = new Map<string, JsonSchema>();
    if (!type.abstract)
      refs.set(
        this.#nameOf(type, called),
        this.#refer(type, 'own', 'own', this.#nameOf(type, called), () =>
          this.#record(type, called, none, 'may'),
        ),
      );
    for (const one of concrete) refs.set(this.#nameOf(one, called), this.#typed(one, called));
    const discriminator = this.#shared.components.discriminator('@type', refs);
    return documented({ oneOf: [...refs.values()], discriminator }, type.documentation);
  }

  /** Returns the schema of a derived type used in place of its base type. */
  #typed(type: ComplexType, called: string): JsonSchema {
    return this.#refer(type, 'typed', 'typed', this.#nameOf(type, called), () =>
      this.#record(type, called, none, 'must'),
    );
  }

  /** Returns the object schema of a type and of its derived types, with additional members. */
  #inLine(type: ComplexType, called: string, extra: ExtraMembers): JsonSchema {
    const concrete = this.#concreteOf(type);
    if (concrete.length === 0) return this.#record(type, called, extra);
    const own = type.abstract ? [] : [this.#record(type, called, extra, 'may')];
    return { oneOf: [...own, ...concrete.map((one) => this.#record(one, called, extra, 'must'))] };
  }

  #loneArray(type: ComplexType, called: string): JsonSchema {
    const member = this.#loneOf(type);
    if (member === undefined) throw new RangeError('expected a type of one repeated member');
    const schema = this.#ofMember(member, this.#nameOf(type, called));
    return documented(schema, type.documentation);
  }

  /**
   * Returns an object schema of a type (A12, A14, A24).
   *
   * @param typeAttribute whether `@type` may or must occur in it
   */
  #record(
    type: ComplexType,
    called: string,
    extra = none,
    typeAttribute: 'no' | 'may' | 'must' = 'no',
  ): JsonSchema {
    const { content } = type;
    const name = this.#nameOf(type, called);
    const members = contentMembers(content);
    const attributes = attributeMembers(type.attributes, members.members);
    const properties: Record<string, JsonSchema> = { ...extra.properties };
    const required = [...extra.required];
    const isAlways = this.#shared.settings.types === 'always' && type.name !== undefined;
    if (typeAttribute !== 'no' || isAlways) properties['@type'] = { type: 'string', enum: [name] };
    if (typeAttribute === 'must') required.push('@type');
    this.#addAttributes(attributes, properties, required);
    this.#addMembers(members, name, properties, required);
    if (isMixed(content)) {
      const value = valueNameOf(attributes);
      this.#note(called, type, `.${value}`, 'A24');
      properties[value] = { type: 'string', description: 'The content as XML.' };
      required.push(value);
    } else if (content.kind === 'text') {
      properties[valueNameOf(attributes)] = this.#ofSimple(content.type, called);
      required.push(valueNameOf(attributes));
    }
    if (type.anyAttribute) properties['@attributes'] = otherAttributes();
    return documented(object(properties, required), [type.documentation, choicesText(members)]);
  }

  #addAttributes(
    attributes: ReturnType<typeof attributeMembers>,
    properties: Record<string, JsonSchema>,
    required: string[],
  ): void {
    for (const { json, use } of attributes) {
      const schema = documented(this.#ofSimple(use.type, json), use.documentation);
      const fallback = use.value === undefined ? undefined : this.#simple.valueOf(use.type, use.value.text);
      if (fallback !== undefined) schema.default = fallback;
      schema.xml = { attribute: true };
      properties[json] = schema;
      if (use.required) required.push(json);
    }
  }

  #addMembers(
    { members }: Members,
    owner: string,
    properties: Record<string, JsonSchema>,
    required: string[],
  ): void {
    for (const member of members) {
      properties[member.json] = this.#ofMember(member, owner);
      if (member.required) required.push(member.json);
    }
  }

  #ofMember(member: Member, owner: string): JsonSchema {
    if (member.kind === 'any' && member.fieldsOf !== undefined)
      return this.#ofFields(`${owner}.${member.json}`);
    const one = this.#oneOf(member, owner);
    if (!member.repeats) return one;
    const { description } = one;
    delete one.description;
    delete one.default;
    return described({ type: 'array', items: one, ...boundsOf(member) }, description);
  }

  /** Returns the schema of one value of a member. */
  #oneOf(member: Member, owner: string): JsonSchema {
    switch (member.kind) {
      case 'element':
        if (member.element.substitutes.length > 0) return this.#ofHead(member.element, !member.repeats);
        this.#noteAny(member.element.type, `${owner}.${member.json}`);
        return this.ofElement(member.element, !member.repeats);
      case 'any':
        this.#shared.open.set(`${owner}.${member.json}`, { place: `${owner}.${member.json}`, rule: 'A22' });
        return { type: 'string', description: 'One element as XML.' };
      case 'rounds':
        return this.#ofRounds(member.content, owner);
    }
  }

  /** Returns the schema of a wildcard's elements by name. Repeated names become arrays (A22). */
  #ofFields(place: string): JsonSchema {
    const one = { anyOf: [this.#any(place), { type: 'null' }] };
    return {
      type: 'object',
      description: 'Elements by their names, as text where they hold nothing else.',
      additionalProperties: { anyOf: [...one.anyOf, { type: 'array', items: one }] },
    };
  }

  /**
   * Returns the schema of one round: a single member for a repeated choice, all members for a repeated sequence (A16).
   */
  #ofRounds(content: Members, owner: string): JsonSchema {
    const properties: Record<string, JsonSchema> = {};
    const required: string[] = [];
    this.#addMembers(content, owner, properties, required);
    const schema = object(properties, required);
    const [choice, ...more] = content.choices;
    const isOne =
      choice !== undefined &&
      more.length === 0 &&
      choice.branches.length === content.members.length &&
      choice.branches.every(({ size }) => size === 1);
    if (isOne) Object.assign(schema, { minProperties: 1, maxProperties: 1 });
    return documented(schema, isOne ? '' : choicesText(content));
  }

  /** Returns the schema of a substitution group: an object whose only member is the element that occurs (A20). */
  #ofHead(head: ElementDeclaration, once: boolean): JsonSchema {
    return this.#refer(head, `head ${once}`, 'head', head.name.local, () => {
      const properties: Record<string, JsonSchema> = {};
      for (const { json, element } of substituteMembers(head))
        properties[json] = this.ofElement(element, once);
      return documented(
        { ...object(properties, []), minProperties: 1, maxProperties: 1 },
        head.documentation,
      );
    });
  }

  /** Returns the schema of a value of any type (A23). */
  #any(called: string): JsonSchema {
    this.#noteAny(anyType, called);
    return this.#refer(anyType, 'any', 'open', 'AnyValue', () => {
      const stated = {
        type: 'object',
        properties: {
          '@type': {
            type: 'string',
            description:
              'A type of XSD, such as xs:int, of Apache SOAP, such as apache:Map, or of the service.',
          },
        },
        required: ['@type'],
        description: 'The members of the type, or value, where it is a simple one.',
      };
      const xml = object(
        {
          '@xml': { type: 'string', description: 'The content as XML.' },
          '@attributes': otherAttributes(),
        },
        ['@xml'],
      );
      return {
        anyOf: [{ type: ['string', 'number', 'boolean'] }, { type: 'array', items: {} }, stated, xml],
        description: 'A value of any type.',
      };
    });
  }

  /** Adds null to a schema. If the type has attributes, a nil object with attributes is allowed too (A25). */
  #orNull(schema: JsonSchema, type: SchemaType, once: boolean, called: string): JsonSchema {
    const isArray = type.kind === 'complex' && once && this.#loneOf(type) !== undefined;
    const nil =
      type.kind === 'complex' && !isArray && hasAttributes(type) ? this.#nil(type, called) : undefined;
    const { type: kind } = schema;
    if (Array.isArray(kind) && kind.includes('null')) return schema;
    if (nil === undefined && typeof kind === 'string' && !('enum' in schema) && !('default' in schema)) {
      schema.type = [kind, 'null'];
      return schema;
    }
    return { oneOf: [schema, ...(nil === undefined ? [] : [nil]), { type: 'null' }] };
  }

  #nil(type: ComplexType, called: string): JsonSchema {
    const role = type.name === undefined && type !== anyType ? 'unnamed' : 'nil';
    const name = type === anyType ? 'AnyValue' : this.#nameOf(type, called);
    return this.#refer(type, 'nil', role, name, () => {
      const properties: Record<string, JsonSchema> = { '@nil': { type: 'boolean', enum: [true] } };
      const required = ['@nil'];
      const { members } = contentMembers(type.content);
      this.#addAttributes(attributeMembers(type.attributes, members), properties, required);
      if (type.anyAttribute) properties['@attributes'] = otherAttributes();
      return documented(object(properties, required), 'Nothing, with attributes (xsi:nil).');
    });
  }

  #noteAny(type: SchemaType, place: string): void {
    if (type === anyType && place.includes('.')) this.#shared.open.set(place, { place, rule: 'A23' });
  }

  #note(called: string, type: ComplexType, member: string, rule: OpenPlace['rule']): void {
    const place = `${this.#nameOf(type, called)}${member}`;
    this.#shared.open.set(place, { place, rule });
  }
}

/** Returns the minimum and maximum number of items of a repeated member, as far as the XSD limits them (A13). */
function boundsOf({ least, most }: Member): JsonSchema {
  return { ...(least > 0 && { minItems: least }), ...(Number.isFinite(most) && { maxItems: most }) };
}

function hasAttributes({ attributes, anyAttribute }: ComplexType): boolean {
  return attributes.length > 0 || anyAttribute;
}

/** Returns an object schema with these members and no others. */
export function object(properties: Record<string, JsonSchema>, required: readonly string[]): JsonSchema {
  return {
    type: 'object',
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required: [...required] }),
    additionalProperties: false,
  };
}

function otherAttributes(): JsonSchema {
  return {
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'Attributes that the type leaves open, as {namespace}name.',
  };
}

/** Prepends texts to the schema's description. */
function documented(schema: JsonSchema, words: string | readonly string[]): JsonSchema {
  const all = typeof words === 'string' ? [words] : words;
  return described(schema, joinedTexts(...all, schema.description));
}

function described(schema: JsonSchema, description: unknown): JsonSchema {
  if (typeof description === 'string' && description !== '') schema.description = description;
  return schema;
}

/** Describes the choices of a type (A15). JSON Schema has no keyword for them that generators support. */
function choicesText({ members, choices }: Members): string {
  const nameOf = (index: number): string => members[index]?.json ?? '';
  return choices
    .map(({ branches }) =>
      branches.map((branch) => [...branch].map(nameOf).join(' with ')).filter((one) => one !== ''),
    )
    .filter((branches) => branches.length > 1)
    .map((branches) => `At most one of: ${branches.join('; ')}.`)
    .join('\n');
}

/** Removes a final `Fault`, which the component's name gets again as a suffix. */
function withoutEnd(local: string): string {
  return local.length > 5 && local.endsWith('Fault') ? local.slice(0, -5) : local;
}
