import { isJsonNumber } from '../codec/scalars/numbers.ts';
import { foldAscii } from '../codec/scalars/text.ts';
import type { ObjectShape, Shape, Shapes } from '../compare/shapes.ts';
import { builtInTypes } from '../contract/built-in-types.ts';
import type { SimpleType } from '../contract/type-graph.ts';
import type { JsonReader } from '../json/reader.ts';
import { type Level, type Step, stepOf } from './levels.ts';
import { hiddenText } from './pseudonyms.ts';
import type { Edit, RedactionTerms } from './xml.ts';

// Redaction of JSON (G57). It changes scalars, and leaves all other characters.

const [quote, openBrace, openBracket] = [34, 123, 91];
const [closeBrace, closeBracket] = [125, 93];

/** A value while it is redacted. */
interface Place {
  /** Undefined for a value without a declaration. */
  readonly shape: Shape | undefined;
  readonly path: readonly Step[];
  readonly level: Level;
  /** Names that `@fault` may have; undefined for none. */
  readonly faults?: ReadonlySet<string>;
}

/** Redacts one JSON text. */
export class JsonRedaction {
  readonly edits: Edit[] = [];
  readonly #json: JsonReader;
  readonly #shapes: Shapes;
  readonly #terms: RedactionTerms;

  constructor(json: JsonReader, shapes: Shapes, terms: RedactionTerms) {
    this.#json = json;
    this.#shapes = shapes;
    this.#terms = terms;
  }

  /**
   * Redacts the text. Throws JsonError.
   *
   * @param faults names that `@fault` of the root may have
   */
  redact(shape: Shape | undefined, faults: ReadonlySet<string>): void {
    this.#value({ shape, path: [], level: shape === undefined ? 'open' : undefined, faults });
    this.#json.end();
  }

  #value(place: Place): void {
    const json = this.#json;
    const code = json.peek();
    if (code === openBrace) this.#object(place);
    else if (code === openBracket) {
      const { shape } = place;
      json.enter();
      const item = shape?.kind === 'list' ? shape.item() : shape;
      for (let first = true; json.next(first, closeBracket); first = false)
        this.#value({ shape: item, path: place.path, level: place.level });
    } else this.#scalar(place, code === quote);
  }

  #scalar(place: Place, isText: boolean): void {
    const json = this.#json;
    const start = json.position;
    if (isText) {
      const text = json.string();
      const shown = this.#shown(text, place);
      if (shown !== text) this.#replace(start, JSON.stringify(shown));
      return;
    }
    json.skip();
    const token = json.text.slice(start, json.position);
    if (token === 'null' || token === 'true' || token === 'false') return;
    const shown = this.#shown(token, place);
    if (shown !== token) this.#replace(start, isJsonNumber(shown) ? shown : JSON.stringify(shown));
  }

  #object(place: Place): void {
    const json = this.#json;
    let { shape } = place;
    json.enter();
    for (let first = true; json.next(first, closeBrace); first = false) {
      const name = json.name();
      if (name === '@type') shape = this.#typed(shape, place);
      else if (name === '@fault' && json.peek() === quote)
        this.#name(place, (text) => place.faults?.has(text));
      else if (name === '@nil' || name === '@fault') this.#unknown(place);
      else this.#member(name, shape, place);
    }
  }

  #member(name: string, shape: Shape | undefined, { path: around, level }: Place): void {
    const { levels } = this.#terms;
    const isBlock = name === '@headers' && around.length === 0;
    const path = isBlock || name === '@items' ? around : [...around, stepOf(name)];
    const member =
      shape?.kind === 'object' ? memberOf(shape, name) : shape?.kind === 'any' ? shape : undefined;
    const inner = member !== undefined || level === 'credential' || level === 'personal' ? level : 'open';
    this.#value({ shape: member, path, level: levels.of(path, inner) });
  }

  /** Redacts an unknown value of a member that the gateway defines. Booleans stay. */
  #unknown({ path, level }: Place): void {
    this.#value({ shape: undefined, path, level: level === 'credential' ? level : 'open' });
  }

  /** Reads a name, and hides an unknown one. */
  #name(place: Place, isKnown: (text: string) => boolean | undefined): string {
    const start = this.#json.position;
    const text = this.#json.string();
    const shown =
      isKnown(text) === true ? text : this.#shown(text, { ...place, shape: undefined, level: 'open' });
    if (shown !== text) this.#replace(start, JSON.stringify(shown));
    return text;
  }

  /** Reads `@type`, and returns the shape of the type that it names. */
  #typed(shape: Shape | undefined, place: Place): Shape | undefined {
    if (this.#json.peek() !== quote) {
      this.#unknown(place);
      return shape;
    }
    const isBuiltIn = (text: string): boolean => text.startsWith('xs:') && builtInTypes.has(text.slice(3));
    const named = this.#name(place, (text) => isBuiltIn(text) || this.#shapes.typeNamed(text) !== undefined);
    const type = this.#shapes.typeNamed(named);
    return type?.kind === 'complex' ? this.#shapes.objectShape(type) : shape;
  }

  #shown(text: string, { shape, level }: Place): string {
    const { levels, pseudonymOf, hide } = this.#terms;
    if (level === 'credential') return hiddenText;
    if (level === 'open') return levels.keepsPersonal ? hide(text) : hiddenText;
    const type: SimpleType | undefined = shape?.kind === 'scalar' ? shape.type : undefined;
    if (level === 'personal') return pseudonymOf(text, type);
    if (levels.keepsPersonal || type !== undefined) return hide(text);
    return levels.hasNames ? pseudonymOf(text, undefined) : hide(text);
  }

  #replace(start: number, text: string): void {
    this.edits.push({ start, end: this.#json.position, text });
  }
}

/** Returns the shape of a member; its name may have another case. */
function memberOf({ slots }: ObjectShape, name: string): Shape | undefined {
  const exact = slots.get(name);
  if (exact !== undefined) return exact.shape();
  const folded = foldAscii(name);
  for (const [known, slot] of slots) if (foldAscii(known) === folded) return slot.shape();
  return undefined;
}
