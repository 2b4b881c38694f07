import type { Report } from '../loader/document/error.ts';
import type { Cover } from './cover.ts';
import type { CodeFunction } from './makers.ts';
import { type Path, pathText, valueAtPath, type WhereStep } from './paths.ts';
import type { Condition } from './rules.ts';
import type { Maker, Scope } from './run.ts';
import type { Shape } from './schemas.ts';
import {
  anyShape,
  isArray,
  isNothing,
  kindsText,
  noBody,
  only,
  scalarKinds,
  someNames,
  textShape,
} from './shape-checks.ts';
import { ByText, Digits } from './value.ts';

/** Context for compiling the rules of one side. */
export interface Side {
  readonly side: 'request' | 'reply';
  readonly problem: Report;
  /** Reports a source value that cannot be reconstructed from the target. */
  readonly oneWay: Report;
  /** Functions of the module. Undefined: the operation names no module. */
  readonly functions: ReadonlyMap<string, CodeFunction> | undefined;
  /** True for the replies of several calls, which are merged by concatenating lists (M4). */
  readonly isGathered: boolean;
}

/** Root of source paths: its shape, and the parts that rules read. */
export interface Source {
  readonly shape: Shape;
  readonly cover: Cover;
  /** True inside an object or item of a response. The document may not describe its members. */
  readonly isInner?: true;
  /**
   * True for an error response. `status` and `header.x` refer to the response even if its body has members with these
   * names.
   */
  readonly isError?: true;
}

/** Resolves the source paths of one side's rules, and reports paths that the source lacks. */
export class SourcePaths {
  readonly #side: Side;

  constructor(side: Side) {
    this.#side = side;
  }

  /**
   * Compiles conditions to a function that tests if all are true (M4). Undefined without conditions. Values that are
   * compared or must be absent count as read.
   */
  conditions(when: readonly Condition[], source: Source): ((scope: Scope) => boolean) | undefined {
    if (when.length === 0) return undefined;
    const tests = when.map(({ pointer, path, is }) => {
      const inAnswer = this.ofAnswer(path, source);
      const get: Maker = inAnswer ?? ((scope) => valueAtPath(scope.value, path));
      const shape = inAnswer === undefined ? this.shapeAt(source.shape, path, pointer) : textShape;
      if (is === 'present') return (scope: Scope) => !isNothing(get(scope));
      if (inAnswer === undefined) source.cover.at(path).whole = true;
      if (is === 'absent') return (scope: Scope) => isNothing(get(scope));
      this.#checkCompared(shape, is, pointer, pathText(path));
      const texts = new ByText(is.map((text) => [text, true]));
      return (scope: Scope) => texts.get(get(scope)) === true;
    });
    return (scope) => tests.every((test) => test(scope));
  }

  /**
   * Returns the maker for `status` or `header.x` of a response (M1). Undefined if the body has a member with this name,
   * or if an inner object may have one.
   */
  ofAnswer(path: Path, { shape, isInner, isError }: Source): Maker | undefined {
    const [first, second] = path;
    if (isInner && (shape.open || shape.others !== undefined)) return undefined;
    if (this.#side.side !== 'reply' || first?.kind !== 'member') return undefined;
    if (shape.members.has(first.name) && !isError) return undefined;
    if (first.name === 'status' && path.length === 1)
      return ({ run }) => (run.status === undefined ? undefined : new Digits(String(run.status)));
    if (first.name === 'header' && second?.kind === 'member' && path.length === 2)
      return ({ run }) => run.headers[second.name.toLowerCase()];
    return undefined;
  }

  /** Reports a rule that reads the body of a response without a body. */
  refuseNoBody(shape: Shape, pointer: string): void {
    if (shape === noBody)
      this.#side.problem(
        pointer,
        'expected a rule without the response body, because the document describes none',
      );
  }

  /** Checks the member and text of `[name=text]` against the items. */
  #checkWhere(item: Shape, { name, text }: WhereStep, pointer: string, here: string): void {
    const member = item.members.get(name)?.shape ?? item.others ?? (item.open ? anyShape : undefined);
    if (member === undefined)
      this.#side.problem(
        pointer,
        `expected a member of the items of ${here}, got ${name}; there are ${someNames(item)}`,
      );
    else this.#checkCompared(member, [text], pointer, `${here}.${name}`);
  }

  /** Reports comparison texts that the source can never equal. */
  #checkCompared(shape: Shape, texts: readonly string[], pointer: string, here: string): void {
    if (!scalarKinds.some((kind) => shape.kinds.has(kind))) {
      this.#side.problem(pointer, `expected a value to compare at ${here}, which is ${kindsText(shape)}`);
      return;
    }
    const values = shape.values ?? (only(shape, 'boolean') ? ['true', 'false'] : undefined);
    if (values === undefined) return;
    const known = new ByText(values.map((value) => [value, true]));
    for (const text of texts)
      if (known.get(text) === undefined && known.get(new Digits(text)) === undefined)
        this.#side.problem(pointer, `expected values of ${here}, which has no ${text}`);
  }

  /** Returns the shape at a source path. An unknown path is reported with the known members. */
  shapeAt(from: Shape, path: Path, pointer: string): Shape {
    const every = path.findIndex(({ kind }) => kind === 'every');
    if (every >= 0 && every < path.length - 1)
      this.#side.problem(
        pointer,
        `expected a path to one value, got ${pathText(path)}, which has a value per item. Use each with rules for the items`,
      );
    let at = from;
    for (let index = 0; index < path.length; index++) {
      const step = path[index];
      if (at.open) return anyShape;
      const here = pathText(path.slice(0, index + 1));
      if (step?.kind === 'member') {
        const inner = at.members.get(step.name)?.shape ?? at.others;
        if (inner === undefined) {
          const there =
            at === noBody
              ? 'the document describes no response body'
              : at.members.size > 0
                ? `there are ${someNames(at)}`
                : `the value is ${kindsText(at)}`;
          this.#side.problem(pointer, `expected a path of the source, got ${here}; ${there}`);
          return anyShape;
        }
        at = inner;
      } else if (isArray(at)) {
        at = at.items ?? anyShape;
        if (step?.kind === 'where') this.#checkWhere(at, step, pointer, here);
      } else {
        this.#side.problem(pointer, `expected a list at ${here}, got ${kindsText(at)}`);
        return anyShape;
      }
    }
    return at;
  }
}
