import type { TlsOptions } from 'node:tls';
import { ContractError } from '../../mappings/loader/document/error.ts';
import type { Log } from '../core/core-options.ts';
import { describeError } from '../telemetry/log.ts';
import { type Certificates, type CertificateUse, certificatesOfListener } from './certificates.ts';
import { loadTls, type TlsPlan } from './tls.ts';
import { type Stamps, stampsOf, watchFiles } from './watched-files.ts';

/** Log messages about files that changed. */
interface TlsMessages {
  readonly renewed: string;
  readonly failed: string;
}

/** Files of TLS for a listener, which are read again when they change. */
export class TlsFiles {
  /** Node's options at the start. */
  readonly options: TlsOptions;
  readonly #plan: TlsPlan;
  readonly #uses: readonly [own: CertificateUse, ca: CertificateUse];
  readonly #certificates: Certificates;
  readonly #before: Stamps;

  /** Reads the files. Throws ContractError. */
  constructor(plan: TlsPlan, uses: readonly [CertificateUse, CertificateUse], certificates: Certificates) {
    this.#plan = plan;
    this.#uses = uses;
    this.#certificates = certificates;
    this.#before = stampsOf(filesOf(plan));
    this.options = loadTls(plan);
    this.use(plan, this.options);
  }

  /** Reads the files of a plan. Throws ContractError, also if an invalid certificate would replace a valid one. */
  read(plan: TlsPlan): TlsOptions {
    const tls = loadTls(plan);
    this.#certificates.check(this.#uses[0], certificatesOfListener(this.#uses, plan, tls));
    return tls;
  }

  /** Records the certificates in use. */
  use(plan: TlsPlan, tls: TlsOptions): void {
    this.#certificates.use(this.#uses[0], certificatesOfListener(this.#uses, plan, tls));
  }

  /** Calls `renew` after a file has changed, and logs the result. Returns a function that ends this. */
  watch(everyMs: number, renew: () => void, log: Log, { renewed, failed }: TlsMessages): () => void {
    return watchFiles(filesOf(this.#plan), everyMs, this.#before, () => {
      try {
        renew();
        log.info({}, renewed);
      } catch (error) {
        log.error(
          error instanceof ContractError ? { problems: error.problems } : describeError(error),
          failed,
        );
      }
    });
  }
}

function filesOf({ certificate, key, ca }: TlsPlan): readonly string[] {
  return [certificate, key, ...(ca === undefined ? [] : [ca])];
}
