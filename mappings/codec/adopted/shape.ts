import { type Quote, quoteValue } from '../../contract/reason.ts';
import { expanded } from '../../contract/type-graph.ts';
import type { Piece } from '../../xml/output.ts';
import type { XmlReader } from '../../xml/reader.ts';
import type { ObjectMembers } from '../json-scan.ts';
import { excerpt, namespaceText } from '../scalars/text.ts';
import { finalTypeName } from '../schema-instance.ts';
import type { CompiledContent } from './content-model.ts';
import type { AdoptedContext } from './context.ts';
import type { MapEntries } from './map-entries.ts';
import type { SimpleCodec } from './simple-types.ts';

/**
 * The JSON object of a complex type: attributes first, then the content between the tags (A12, A14, A24, A25). Its tape
 * node has the kind, the shape's number, flags, and a slot for each member. A slot holds the member's node, or -1 if
 * the member is absent.
 */

/** Words of a node before its slots. */
export const head = 3;

/** Bits of a node's flags. */
export const isNil = 1;
export const isTyped = 2;

/** The codec of an attribute. */
export interface AttributeCodec {
  readonly json: string;
  readonly jsonKey: string;
  readonly namespace: string;
  readonly local: string;
  readonly required: boolean;
  readonly simple: SimpleCodec;
  /** ` name="` */
  readonly before: Piece;
  /** ` name="value"` for a required attribute with a fixed value, written if the attribute is absent (A27). */
  readonly fixed: Piece | undefined;
}

/**
 * The compiled form of a type, or of one repetition of a repeated group. Its members are the attributes, then the
 * elements or the value, then `@attributes`.
 */
export interface Shape extends ObjectMembers {
  readonly number: number;
  /** The type's name in `@type`; undefined for an anonymous type. */
  readonly name: string | undefined;
  readonly abstract: boolean;
  /** `{"@type":"Name"` in JSON, and ` i:type="n:Name"` in XML. */
  readonly typeToken: string;
  readonly typeTag: Piece;
  /** True if each element states its type (A30). */
  readonly alwaysTyped: boolean;
  readonly attributes: readonly AttributeCodec[];
  /** Indexes of the required attributes without a fixed value. */
  readonly needed: readonly number[];
  readonly anyAttribute: boolean;
  readonly kind: 'members' | 'text' | 'mixed';
  /** True for an object without a type, allowed for any type: its first member is `@xml`, its content. */
  readonly untyped: boolean;
  readonly content: CompiledContent;
  /** The entries of a map. One word that links to them replaces the slots on the tape. */
  readonly entries: MapEntries | undefined;
  /** The codec and the JSON name of the value, if the kind is `text`. */
  readonly simple: SimpleCodec | undefined;
  readonly valueName: string;
  readonly context: AdoptedContext;
}

/** The shapes of a service by number. */
export const shapesOf = new WeakMap<AdoptedContext, Shape[]>();

/** Resolves the prefix of an `xsi:type` and returns the key of the type; undefined if the prefix is not bound. */
export function statedType(stated: string, xml: XmlReader): string | undefined {
  const word = stated.trim();
  const colon = word.indexOf(':');
  const namespace = xml.resolve(colon === -1 ? '' : word.slice(0, colon));
  return namespace === undefined ? undefined : expanded(finalTypeName(namespace, word.slice(colon + 1)));
}

/** Formats an `xsi:type` for a message: `"t:Dog" in namespace "urn:t"`. */
export function statedText(stated: string, xml: XmlReader): Quote {
  const word = stated.trim();
  const namespace = xml.resolve(word.includes(':') ? word.slice(0, word.indexOf(':')) : '');
  const place = namespace === undefined ? 'with an unbound prefix' : `in ${namespaceText(namespace)}`;
  return quoteValue(`${excerpt(stated)} ${place}`, 'a text');
}
