import type { Choice, Member, Order, Wildcard } from '../../contract/type-graph.ts';
import type { Tape } from '../../json/tape.ts';
import type { Output, Piece } from '../../xml/output.ts';
import type { XmlReader } from '../../xml/reader.ts';
import type { Reading } from '../problem.ts';
import type { AdoptedContext } from './context.ts';
import type { OpenFields } from './open-fields.ts';

/** The member that a child element belongs to. */
export interface Entry {
  /** Index of the member. */
  readonly index: number;
  /** The entry in the repetition of a repeated group. */
  readonly inner: Entry | undefined;
  /**
   * Reads the child from its start tag past its end tag. Returns undefined if it is refused or counts as absent.
   * Undefined for members of `fields`.
   */
  readonly read: ((xml: XmlReader, reading: Reading) => string | undefined) | undefined;
}

/** The member that elements of a name belong to. */
export interface NamedEntry extends Entry {
  readonly namespace: string;
  readonly local: string;
  /** True if the member is an array. */
  readonly repeats: boolean;
}

/** The member that elements of a wildcard belong to. */
export interface OpenEntry extends Entry {
  readonly wildcards: readonly Wildcard[];
}

/** A choice, with the members of all its branches. */
export interface CompiledChoice extends Choice {
  readonly members: ReadonlySet<number>;
}

/** A member with its codec. */
export interface ContentMember {
  readonly json: string;
  /** Its name and a colon, in JSON. */
  readonly jsonKey: string;
  readonly repeats: boolean;
  readonly required: boolean;
  /** True if a null is written as nil. */
  readonly takesNull: boolean;
  /** The content of a repetition of a repeated group. */
  readonly rounds: CompiledContent | undefined;
  /** Undefined unless the elements of its wildcard are members of one object. */
  readonly fields: OpenFields | undefined;
  /** Pushes the node of the member's JSON value. */
  readonly scan: (tape: Tape) => void;
  /** Writes the elements of a node. */
  readonly write: (tape: Tape, node: number, output: Output) => void;
  /** Writes one item of a list, if the schema has the list in several positions. */
  readonly writeItem: (tape: Tape, node: number, output: Output) => void;
  /** Written for a required member that is absent (A27). */
  readonly fixed: Piece | undefined;
}

/** The rules about members that exclude each other. */
export interface Choosing {
  /** Undefined for none. */
  readonly choices: readonly CompiledChoice[] | undefined;
  readonly order: Order | undefined;
}

/** The compiled content of one type. */
export interface CompiledContent {
  readonly members: readonly ContentMember[];
  readonly byLocal: ReadonlyMap<string, readonly NamedEntry[]>;
  /** By member: its entry if no other member has its local name. */
  readonly direct: readonly (NamedEntry | undefined)[];
  readonly open: readonly OpenEntry[];
  readonly required: readonly number[];
  /** The arrays with a checked number of items in requests (`validate: strict`); undefined for none. */
  readonly bounds: readonly ItemBounds[] | undefined;
  /** Undefined for none. */
  readonly choices: readonly CompiledChoice[] | undefined;
  /** By member: the choices and the part of the order that another occurrence of the member may affect. */
  readonly around: readonly Choosing[];
  readonly order: Order | undefined;
  readonly context: AdoptedContext;
}

/** Minimum and maximum number of items of an array: `minOccurs` and `maxOccurs` of all its positions. */
export interface ItemBounds extends Pick<Member, 'least' | 'most'> {
  /** Index of the member. */
  readonly index: number;
}

/** The repetitions of a repeated group, each an object. */
export interface Rounds extends Pick<ContentMember, 'scan' | 'write'> {
  readonly content: CompiledContent;
}
