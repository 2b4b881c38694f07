import type { Module } from './code.ts';
import type { Cover } from './cover.ts';
import type { Path } from './paths.ts';
import type { Maker, Scope } from './run.ts';
import type { TargetOperation } from './target.ts';

/** An upstream call made by a mapping. */
export interface MappedCall {
  readonly method: string;
  /** Encoded path and query, relative to the upstream's address. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text; undefined if there is no body. */
  readonly body: string | undefined;
}

/** The upstream's response to a call. */
export interface MappedAnswer {
  readonly status: number;
  /** Headers with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Text, or bytes that are decoded during the mapping; empty if there is no body. */
  readonly body: string | Uint8Array;
}

/** A compiled entry. */
export interface CompiledEntry {
  readonly target: TargetOperation;
  readonly cover: Cover;
  readonly fits: (root: Scope) => boolean;
  /** Path of the `forEach` list. */
  readonly forEach: Path;
  readonly scopesOf: (root: Scope) => readonly Scope[];
  readonly call: (scope: Scope) => MappedCall;
  readonly reply: Maker;
  readonly error: Maker | undefined;
  readonly faults: readonly {
    /** Value of `@fault`. */
    readonly name: string;
    readonly fits: (answer: Scope) => boolean;
    readonly make: Maker;
  }[];
  /** Undefined for a side without function calls. */
  readonly within: {
    readonly request: Module['within'] | undefined;
    readonly reply: Module['within'] | undefined;
  };
}
