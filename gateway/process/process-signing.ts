import type { Wsse } from '../../mappings/contract/credentials.ts';
import type { Log } from '../core/core-options.ts';
import type { Snapshot } from '../telemetry/metrics.ts';

/** The contracts of a process that verify signatures, and the dates of their files (X3). */
export class ProcessSigning {
  /** By the base paths of the contracts. */
  readonly #settings = new Map<string, Wsse>();
  /** Undefined until a contract verifies signatures, because few contracts do. */
  #dates: typeof import('./signing-dates.ts') | undefined;

  /** Replaces the settings of the contract at a base path. Returns their files. */
  set(basePath: string, wsse: Wsse | undefined): readonly string[] {
    this.#settings.delete(basePath);
    if (wsse?.x509 === undefined) return [];
    this.#settings.set(basePath, wsse);
    return filesOf(wsse);
  }

  /** Removes the contracts at other base paths. */
  keepOnly(basePaths: readonly string[]): void {
    for (const path of this.#settings.keys()) if (!basePaths.includes(path)) this.#settings.delete(path);
  }

  /** Loads the module for the dates, if a contract needs it. */
  async loadDates(): Promise<void> {
    if (this.#settings.size > 0) this.#dates ??= await import('./signing-dates.ts');
  }

  /** Returns the files of all contracts with certificates, keys and CRLs. */
  files(): readonly string[] {
    return [...this.#settings.values()].flatMap(filesOf);
  }

  warnOfSigners(log: Log): void {
    this.#dates?.warnOfSigners(this.#settings, log);
  }

  warnOfCrls(log: Log): void {
    this.#dates?.warnOfCrls(this.#settings, log);
  }

  read(): Snapshot {
    return this.#dates?.signingMetrics(this.#settings) ?? [];
  }
}

function filesOf({ x509, sign, decrypt, saml }: Wsse): readonly string[] {
  return [x509, sign, saml, ...(decrypt?.keys ?? [])].flatMap((one) => one?.files ?? []);
}
