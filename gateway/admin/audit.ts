import { isNode, textOf } from '../../mappings/loader/document/node.ts';
import type { AdminOptions } from '../process/admin.ts';
import { type Statement, type Store, StoreError } from '../store/store.ts';
import { type AuditRecord, insertAudit } from '../store/tables/audit.ts';
import { describeError } from '../telemetry/log.ts';

/** Writes changes, refused changes and sign-ins to the table `audit` and to the log (G72). */
export class Audit {
  readonly #store: Store | undefined;
  readonly #log: AdminOptions['log'];

  constructor(store: Store | undefined, log: AdminOptions['log']) {
    this.#store = store;
    this.#log = log;
  }

  /** Writes a row, before a change takes effect. Without a store there is only the line. Rejects with StoreError. */
  async write(record: AuditRecord): Promise<void> {
    await this.#store?.write([insertAudit(record, Date.now())]);
    this.log(record);
  }

  /** Writes a row together with a change. Rejects with StoreError. */
  async writeWith(record: AuditRecord, change: Statement, store: Store): Promise<void> {
    await store.write([change, insertAudit(record, Date.now())]);
    this.log(record);
  }

  /** Writes a row about a refusal or a session, which does not depend on the row. */
  async writeOrLog(record: AuditRecord): Promise<void> {
    try {
      await this.write(record);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      this.log(record);
      this.#log.error(describeError(error), 'not written to the table audit');
    }
  }

  /** Writes only the line. */
  log(record: AuditRecord): void {
    this.#log.info({ audit: record }, record.status < 400 ? 'admin change' : 'admin change refused');
  }
}

/** The parts of a request that the audit contains. */
interface AuditedRequest {
  readonly actor: { readonly name: string } | undefined;
  readonly network: string;
  readonly params: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Returns the record of a request with the members of its body that the audit contains. */
export function recordOf(
  { actor, network, params, body }: AuditedRequest,
  action: string,
  status: number,
): AuditRecord {
  const { operation, reason, force } = isNode(body) ? body : {};
  return {
    actor: actor?.name,
    network,
    action,
    status,
    contract: params.c,
    subject: params.id ?? textOf(operation),
    reason: textOf(reason),
    force: force === true,
  };
}
