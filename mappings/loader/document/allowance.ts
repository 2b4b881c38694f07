import { createHash } from 'node:crypto';
import type { Limits } from '../../contract/limits.ts';
import { ContractError, type ContractProblem } from './error.ts';

/** Limits on the documents of a contract that a caller of the loader can set. See `contractConstants`. */
export type ContractLimits = { readonly [name in keyof Limits as name & `contract${string}`]: Limits[name] };

/** Limits on the documents of a contract that cannot be configured. Tests may override them. */
export const contractConstants = {
  /** Bytes of all files of a contract together. */
  contractBytes: 64 * 1024 * 1024,
  /** Files that a document refers to. */
  contractFiles: 5_000,
  /** Indents, marks and texts of all YAML files together. */
  contractTokens: 10_000_000,
  /** Uses of one YAML anchor. Uses of the anchors inside it are multiplied. */
  contractAliases: 100,
  /** Nesting of lists and objects, or of the elements of a WSDL or schema. */
  contractDepth: 500,
  /** Elements of all WSDLs and schemas together. */
  contractElements: 500_000,
  /** Characters in a key of a YAML or JSON file. */
  contractKey: 4_096,
  /** Characters of a JSONPath in an OpenAPI Overlay (`patches`). */
  contractPath: 4_096,
  /** References from one to the next (`$ref`, `base`, `substitutionGroup`). */
  contractReferences: 100,
  /** Characters of a pattern that `validate: strict` checks. A longer pattern is not checked. */
  contractPattern: 4_096,
  /** Characters of an example as JSON. A longer example is not shown in samples. */
  contractExample: 10_000,
  /** Schemas, types, members, references and pieces of text that are read. `Allowance` counts some several times. */
  contractSteps: 5_000_000,
  /** Problems that are reported. */
  contractProblems: 1_000,
};

/** A document of a contract exceeds a limit, so loading stops. */
export class OverLimit extends Error {
  override readonly name = 'OverLimit';
  /** JSON pointer with its file, as in `Located`; undefined if the reader of a file adds it. */
  readonly pointer: string | undefined;
  /** Line in a WSDL or schema. The pointer is its file. */
  readonly line: number | undefined;

  constructor(message: string, pointer?: string, line?: number) {
    super(message);
    this.pointer = pointer;
    this.line = line;
  }
}

/** Characters of text that count as one step. */
const charactersPerStep = 64;

/**
 * Steps of a type and of each member, including inherited members and those of groups. Each has codecs that take 1 KiB
 * and 10 µs.
 */
export const stepsPerMember = 8;

/** Additional steps of a complex type in a WSDL or schema (its codecs take 16 KiB) and of a simple type (6 KiB). */
export const stepsPerComplexType = 100;
export const stepsPerSimpleType = 32;

/** Steps between two checks of the time limit. */
const stepsPerLook = 4_096;

/** Remaining limits for loading one contract, shared by all its files. */
export class Allowance {
  readonly limits: Required<ContractLimits>;
  readonly #deadline: number;
  readonly #hash = createHash('sha256');
  #bytes = 0;
  #tokens = 0;
  #elements = 0;
  #steps = 0;
  #place = '';

  /** The time limit starts here. */
  constructor(limits: ContractLimits) {
    this.limits = { ...contractConstants, ...limits };
    this.#deadline = performance.now() + limits.contractMs;
  }

  /** Location of the last step, a pointer as in `Located`. */
  get place(): string {
    return this.#place;
  }

  /** Maximum size of the next file in bytes. */
  get bytesLeft(): number {
    return this.limits.contractBytes - this.#bytes;
  }

  /** Counts the bytes of a file. Throws OverLimit. */
  takeBytes(bytes: number): void {
    const { contractBytes } = this.limits;
    const together = this.#bytes === 0 ? '' : ' in all files together';
    const sum = this.#bytes + bytes;
    if (sum > contractBytes)
      throw new OverLimit(`expected at most ${contractBytes} bytes${together}, got ${sum}`);
    this.#bytes = sum;
  }

  /** Counts the content of a file and adds it to the hash. Throws OverLimit. */
  takeContent(content: Buffer): void {
    this.takeBytes(content.length);
    this.#hash.update(`${content.length}\n`).update(content);
  }

  /** First 16 hexadecimal digits of the SHA-256 of all files in reading order. */
  get hash(): string {
    return this.#hash.copy().digest('hex').slice(0, 16);
  }

  /** Counts a token of a YAML file. Throws OverLimit. */
  takeToken(): void {
    const { contractTokens } = this.limits;
    if (++this.#tokens > contractTokens)
      throw new OverLimit(`expected at most ${contractTokens} YAML tokens, got more tokens`);
    if (this.#tokens % stepsPerLook === 0) this.#look(undefined);
  }

  /** Counts an element of a WSDL or schema. Throws OverLimit. */
  takeElement(): void {
    const { contractElements } = this.limits;
    if (++this.#elements > contractElements)
      throw new OverLimit(
        `expected at most ${contractElements} elements in all files together, got more elements`,
      );
    if (this.#elements % stepsPerLook === 0) this.#look(undefined);
  }

  /** Counts steps at a location. Throws OverLimit. */
  step(pointer: string, steps = 1): void {
    const before = this.#steps;
    this.#steps += steps;
    this.#place = pointer;
    const { contractSteps } = this.limits;
    if (this.#steps > contractSteps)
      throw new OverLimit(
        `expected a contract of at most ${contractSteps} steps, got more steps. Members, parameters and texts count for each reference to them`,
        pointer,
      );
    if (Math.floor(before / stepsPerLook) !== Math.floor(this.#steps / stepsPerLook)) this.#look(pointer);
  }

  /** Counts a text that is created or kept at a location. Throws OverLimit. */
  stepText(pointer: string, characters: number): void {
    if (characters >= charactersPerStep) this.step(pointer, Math.floor(characters / charactersPerStep));
  }

  /** Throws OverLimit if the time limit has passed. For long computations that count no steps. */
  checkTime(): void {
    this.#look(undefined);
  }

  #look(pointer: string | undefined): void {
    if (performance.now() <= this.#deadline) return;
    throw new OverLimit(`expected to be read within ${this.limits.contractMs} ms, got a timeout`, pointer);
  }
}

/** Returns the problems as an error: at most `contractProblems`, and the number of the others. */
export function contractError(
  problems: Iterable<ContractProblem>,
  { contractProblems = contractConstants.contractProblems }: ContractLimits,
): ContractError {
  const all = [...problems];
  const listed = all.slice(0, contractProblems);
  const [first] = all;
  const more = all.length - listed.length;
  if (first !== undefined && more > 0)
    listed.push({ file: first.file, pointer: '', message: `${more} more problems, not listed` });
  return new ContractError(listed);
}

/** Returns true for the error that Node throws on a call stack overflow. */
export function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError && error.message === 'Maximum call stack size exceeded';
}
