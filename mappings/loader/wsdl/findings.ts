import type { NotServedPart } from '../../contract/adopted.ts';
import type { QName } from '../../contract/type-graph.ts';
import type { ContractProblem } from '../document/error.ts';
import { lineOf, type XmlElement } from './xml-tree.ts';

/** A missing or invalid part of the documents. Only operations that need the part are not served (A2). */
export interface Flaw {
  readonly problem: ContractProblem;
  /** Name of a missing component; undefined for an invalid component. */
  readonly name: QName | undefined;
  /** The component or definition with the flaw; undefined if no operation can depend on it. */
  owner: object | undefined;
}

/** Problems and warnings of the documents of an adopted service. */
export class Findings {
  /** Problems that prevent serving the service, for example a WSDL that is not well-formed. */
  readonly problems: ContractProblem[] = [];
  /** Problems that affect only the operations that need the owner (A2). */
  readonly flaws: Flaw[] = [];
  readonly #warnings = new Map<string, ContractProblem>();
  /** Dependencies on groups and on names with two definitions, which are not in the component model. */
  readonly #needs = new Map<object, Set<object>>();
  /** Owners of flaws that `collect` made. */
  readonly #collected = new Set<object>();
  /** The component or definition that is being read. */
  owner: object | undefined = undefined;

  /** Warnings, each once. */
  get warnings(): readonly ContractProblem[] {
    return [...this.#warnings.values()];
  }

  /**
   * Adds a flaw of the current owner.
   *
   * @param name name of a component that does not exist
   */
  problem(at: XmlElement, message: string, name?: QName): void {
    this.flaws.push({ problem: placed(at, message), name, owner: this.owner });
  }

  /** Adds a flaw of a file that no operation needs directly. */
  fileFlaw(file: string, line: number | undefined, message: string): void {
    this.flaws.push({ problem: { file, pointer: '', line, message }, name: undefined, owner: undefined });
  }

  /** Calls a function. The flaws that it adds belong to `owner`. */
  within<T>(owner: object, read: () => T): T {
    const { owner: before } = this;
    this.owner = owner;
    try {
      return read();
    } finally {
      this.owner = before;
    }
  }

  /** Calls a function that returns a component. The flaws that it adds belong to that component. */
  owned<T extends object>(read: () => T): T {
    const owner = {};
    const from = this.flaws.length;
    const made = this.within(owner, read);
    for (const flaw of this.flaws.slice(from)) if (flaw.owner === owner) flaw.owner = made;
    for (const needed of this.#needs.get(owner) ?? []) this.link(made, needed);
    return made;
  }

  /** Calls a function that reads a definition. Returns its result and the distinct problems that it adds. */
  collect<T>(read: () => T): { readonly value: T; readonly problems: readonly ContractProblem[] } {
    const owner = {};
    this.#collected.add(owner);
    const from = this.flaws.length;
    const value = this.within(owner, read);
    const own = this.flaws.slice(from).filter((flaw) => flaw.owner === owner);
    const unique = new Map(
      own.map(({ problem }) => [`${problem.file}:${problem.line} ${problem.message}`, problem]),
    );
    return { value, problems: [...unique.values()] };
  }

  /** Returns true for a flaw that `collect` returned. */
  isCollected({ owner }: Flaw): boolean {
    return owner !== undefined && this.#collected.has(owner);
  }

  /** Records that an owner needs another owner of flaws. */
  link(owner: object, needed: object): void {
    const known = this.#needs.get(owner) ?? new Set();
    this.#needs.set(owner, known.add(needed));
  }

  /** Records that the current owner needs another owner of flaws. */
  need(needed: object): void {
    if (this.owner !== undefined) this.link(this.owner, needed);
  }

  /** The owners that `link` and `need` recorded for an owner. */
  needsOf(owner: object): Iterable<object> {
    return this.#needs.get(owner) ?? [];
  }

  warn(at: XmlElement, message: string): void {
    const warning = placed(at, message);
    const key = `${warning.file} ${message}`;
    if (!this.#warnings.has(key)) this.#warnings.set(key, warning);
  }

  warnProblem(problem: ContractProblem): void {
    this.#warnings.set(`${problem.file} ${problem.line} ${problem.message}`, problem);
  }
}

/** A problem at an element, with its file and line. */
export function placed({ source, offset }: XmlElement, message: string): ContractProblem {
  return { file: source.file, pointer: '', line: lineOf(source, offset), message };
}

/** A part that is not served, with the file and line of an element. */
export function unserved(at: XmlElement, name: string, reason: string): NotServedPart {
  return notServedFor(name, placed(at, reason));
}

/** A part that is not served because of a problem. */
export function notServedFor(name: string, { file, line, message }: ContractProblem): NotServedPart {
  return { name, reason: message, file, line };
}
