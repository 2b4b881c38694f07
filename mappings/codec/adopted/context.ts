import type { AdoptedService } from '../../contract/adopted.ts';
import type { Limits } from '../../contract/limits.ts';
import type { Settings } from '../../contract/overlay-keys.ts';
import type { ElementDeclaration, SchemaType } from '../../contract/type-graph.ts';
import type { Tape } from '../../json/tape.ts';
import type { Output, Piece } from '../../xml/output.ts';
import type { XmlReader } from '../../xml/reader.ts';
import type { Element } from '../element.ts';
import type { Reading } from '../problem.ts';
import type { References } from './references.ts';
import type { SimpleOf } from './simple-types.ts';

/** The tags of an element, with the beginning that attributes follow. */
export interface Tags extends Element {
  /** `<n:Name`, without the declarations that stand on the body's element. */
  readonly start: Piece;
}

/** The values of one type as an element holds them, both ways; compiled once, at start. */
export interface ValueCodec {
  /** XML → JSON: from the element's start tag, whose attributes it looks at, past its end tag; undefined: it is refused, which is noted. */
  readonly read: (xml: XmlReader, reading: Reading) => string | undefined;
  /** The same of an element with `xsi:nil`: `null`, or with its attributes (A25). */
  readonly readNil: (xml: XmlReader, reading: Reading) => string | undefined;
  /** JSON → XML: past the value that starts at the tape's position, null too; pushes one node. Throws MismatchError, JsonError. */
  readonly scan: (tape: Tape) => void;
  /** Writes the element around a node that `scan` pushed; nothing for a null that can't be nil. */
  readonly write: (tags: Tags, tape: Tape, node: number, output: Output) => void;
  /** Whether its nodes are texts that need no declarations. */
  readonly isLeaf: boolean;
  /** A text as a JSON token, where the type is simple: the default of an empty element (A25). */
  readonly defaultOf: ((text: string) => string | undefined) | undefined;
}

/** What every codec of a service shares. */
export interface AdoptedContext {
  readonly service: AdoptedService;
  readonly settings: Settings;
  readonly limits: Limits;
  /** Whether messages are of SOAP's encoding (A30): anything may be nil, and types are written. */
  readonly encoded: boolean;
  /** What elements of the message that is being read may refer to; undefined between messages and where there is none. */
  references: References | undefined;
  readonly simpleOf: SimpleOf;
  /**
   * The codec of a type, compiled on first use, at start.
   *
   * @param once whether its element stands at most once where it is: a lone repeat is then an array itself (A13)
   */
  readonly codecOf: (type: SchemaType, once: boolean) => ValueCodec;
  /** The codec of a value of any type in a `Map` of Apache SOAP (A23), compiled on first use. */
  readonly mapValues: () => ValueCodec;
  /** The codec of an element's value: its default is that of an empty element (A25). */
  readonly elementOf: (element: ElementDeclaration, once: boolean) => ValueCodec;
  /** The prefix of a namespace, with its colon; `''` for none. */
  readonly prefixOf: (namespace: string) => string;
  /** What a type is called in JSON (A19). */
  readonly typeNameOf: (type: SchemaType) => string | undefined;
  /** The types that `@type` may name where any may stand (A23), by that name. */
  readonly typeNamed: (name: string) => SchemaType | undefined;
  /** A named type of the service or of XSD by `{namespace}local`. */
  readonly typeOfKey: (key: string) => SchemaType | undefined;
}
