import type { QName } from '../../contract/schema-components.ts';
import type { ContractProblem } from '../document/error.ts';
import { lineOf, type XmlElement } from './xml-tree.ts';

/** A name that leads nowhere. */
export interface Missed {
  readonly problem: ContractProblem;
  readonly name: QName;
  /** The component, type or element, that it stands in; undefined for one of the service. */
  readonly owner: object | undefined;
}

/** What is wrong in the documents of an adopted service, and what was read in spite of being wrong (A3). */
export class Findings {
  /** What no operation need reach to be wrong. */
  readonly problems: ContractProblem[] = [];
  /** Names that lead nowhere, each with the component that refers to it: wrong where an operation reaches that (A2). */
  readonly missed: Missed[] = [];
  readonly #warnings = new Map<string, ContractProblem>();
  /** The component that is made at the moment. */
  owner: object | undefined = undefined;

  /** Things to know about the documents, each once. */
  get warnings(): readonly ContractProblem[] {
    return [...this.#warnings.values()];
  }

  problem(at: XmlElement, message: string): void {
    this.problems.push(placed(at, message));
  }

  /** A reference to a component that isn't there. */
  missing(at: XmlElement, name: QName, message: string): void {
    this.missed.push({ problem: placed(at, message), name, owner: this.owner });
  }

  /** The same of a file that has no elements yet. */
  fileProblem(file: string, line: number | undefined, message: string): void {
    this.problems.push({ file, pointer: '', line, message });
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

/** A problem at an element: its file and line, and words. */
export function placed({ source, offset }: XmlElement, message: string): ContractProblem {
  return { file: source.file, pointer: '', line: lineOf(source, offset), message };
}
