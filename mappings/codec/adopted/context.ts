import type { AdoptedService } from '../../contract/adopted.ts';
import type { ElementDeclaration, SchemaType } from '../../contract/type-graph.ts';
import type { Tape } from '../../json/tape.ts';
import type { Output } from '../../xml/output.ts';
import type { XmlReader } from '../../xml/reader.ts';
import type { TextTerms } from '../context.ts';
import type { Element } from '../element.ts';
import type { Reading } from '../problem.ts';
import type { References } from './references.ts';
import type { SimpleOf } from './simple-types.ts';

/** Reads and writes element values of one type. Compiled once, at start. */
export interface ValueCodec {
  /**
   * XML → JSON: reads from the element's start tag and its attributes past its end tag. Undefined if the value is
   * refused; the reading records the reason.
   */
  readonly read: (xml: XmlReader, reading: Reading) => string | undefined;
  /** Reads an element with `xsi:nil`: `null`, or an object with its attributes (A25). */
  readonly readNil: (xml: XmlReader, reading: Reading) => string | undefined;
  /**
   * JSON → XML: moves past the value at the tape's position, which may be null, and pushes one node. Throws
   * MismatchError, JsonError.
   */
  readonly scan: (tape: Tape) => void;
  /** Writes the element around a node that `scan` pushed. Writes nothing for a null if the element is not nillable. */
  readonly write: (tags: Element, tape: Tape, node: number, output: Output) => void;
  /** True if its nodes are texts that need no namespace declarations. */
  readonly isLeaf: boolean;
}

/** State that all codecs of a service share. */
export interface AdoptedContext extends TextTerms {
  readonly service: AdoptedService;
  /** True for messages in SOAP's encoding (A30): any value may be nil, and types are written. */
  readonly encoded: boolean;
  /**
   * Reference targets of the message that is being read. Undefined between messages, and for messages without
   * references.
   */
  references: References | undefined;
  readonly simpleOf: SimpleOf;
  /**
   * Returns the codec of a type, compiled on first use, at start.
   *
   * @param once true if the element occurs at most once in its parent: a type with one repeated member is then an array
   * (A13)
   */
  readonly codecOf: (type: SchemaType, once: boolean) => ValueCodec;
  /** Returns the codec of an untyped value in a `Map` of Apache SOAP (A23), compiled on first use. */
  readonly mapValues: () => ValueCodec;
  /** Returns the codec of an element's value. The declared default is the value of an empty element (A25). */
  readonly elementOf: (element: ElementDeclaration, once: boolean) => ValueCodec;
  /** Returns the prefix of a namespace, with its colon; `''` for none. */
  readonly prefixOf: (namespace: string) => string;
  /** Returns the JSON name of a type (A19). */
  readonly typeNameOf: (type: SchemaType) => string | undefined;
  /** Returns the type with a JSON name that `@type` states for a value of any type (A23). */
  readonly typeNamed: (name: string) => SchemaType | undefined;
  /** Returns the named type of the service or of XSD by `{namespace}local`. */
  readonly typeOfKey: (key: string) => SchemaType | undefined;
}
