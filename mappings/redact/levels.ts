import { foldAscii } from '../codec/scalars/text.ts';
import { sensitiveMembers } from '../compare/sensitivity.ts';
import type { Contract } from '../contract/model.ts';

/** Treatment of a value; undefined for one that stays. `open`: it is not declared. */
export type Level = 'credential' | 'personal' | 'open' | undefined;

/** The member names of one step of a path, in lower case: an element may have another name in JSON. */
export type Step = readonly string[];

/** Returns a step for names as the contract writes them. */
export function stepOf(...names: readonly string[]): Step {
  return [...new Set(names.map(foldAscii))];
}

/** Finds the treatment of the members of a contract by their names (W24, W25, G57). */
export class Levels {
  /** True if the contract names sensitive members, so that content of any type is personal. */
  readonly hasNames: boolean;
  /** True if personal values and undeclared texts stay (`redact: none`). */
  readonly keepsPersonal: boolean;
  readonly #credentials: readonly (readonly string[])[];
  readonly #personal: readonly (readonly string[])[];
  readonly #lastNames: ReadonlySet<string>;

  /** @param isRequest true for requests, which have ids of callers that are credentials, too */
  constructor(contract: Contract, keepsPersonal: boolean, isRequest: boolean) {
    const sensitive = sensitiveMembers(contract);
    const ids = isRequest ? (contract.credentials?.parts ?? []).map(({ name }) => [foldAscii(name)]) : [];
    const namesOf = (wanted: string) =>
      sensitive.filter(({ level }) => level === wanted).map(({ names }) => names);
    this.#credentials = [...namesOf('credential'), ...ids];
    this.#personal = keepsPersonal ? [] : namesOf('personal');
    this.hasNames = sensitive.length > 0;
    this.keepsPersonal = keepsPersonal;
    this.#lastNames = new Set(this.#credentials.flatMap((names) => names.slice(-1)));
  }

  /**
   * Returns the level of a member with this path from the root.
   *
   * @param around level of the member that contains it
   * @param isPart true if the path does not begin at the root, so that a name may begin before it
   */
  of(path: readonly Step[], around: Level, isPart = false): Level {
    if (around === 'credential') return around;
    const isNamed = (all: readonly (readonly string[])[]): boolean =>
      all.some((names) => endsWith(path, names) || (isPart && endsWith(path, names.slice(-path.length))));
    if (isNamed(this.#credentials)) return 'credential';
    const last = path.at(-1) ?? [];
    if (around === 'open') return last.some((name) => this.#lastNames.has(name)) ? 'credential' : around;
    return around === 'personal' || isNamed(this.#personal) ? 'personal' : undefined;
  }
}

function endsWith(path: readonly Step[], names: readonly string[]): boolean {
  const from = path.length - names.length;
  return names.length > 0 && from >= 0 && names.every((name, at) => path[from + at]?.includes(name) === true);
}
