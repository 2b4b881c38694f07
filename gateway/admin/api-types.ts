import type { Verdict } from '../../mappings/compare/verdict.ts';
import type { ReportedFinding, ReportedOperation } from '../migration/report.ts';
import type { RouteChange } from '../migration/route-changes.ts';
import type { Mode, Side } from '../migration/routing.ts';
import type { ServedContract } from '../process/sites.ts';
import type { AuditRow } from '../store/tables/audit.ts';
import type { ExchangeHead } from '../store/tables/record.ts';
import type { Replica, RouteVersion } from '../store/tables/routes.ts';
import type { CallerRow, StoredExemption, Usage } from '../store/tables/usage.ts';
import type { View } from './members.ts';
import type { Role } from './tokens.ts';

// Results of the admin API (G71). Functions of resources/ return them, and pages show them. Times are RFC 3339 texts;
// times within findings are ms since 1970, as in `soapbridge report --format json`.

/** `GET /session`, and the reply of a sign-in. */
export interface SessionView {
  readonly name: string;
  readonly role: Role;
  /** Value of the header X-CSRF-Token; null for a request without a session. */
  readonly csrf: string | null;
  /** Time when the session ends without a further request; null for a request without a session. */
  readonly idleUntil: string | null;
  /** Time when the session ends in any case; null for a request without a session. */
  readonly until: string | null;
}

/** Health of a service as the gateway sees it, over all workers. */
export interface SideHealth {
  /** True if a circuit breaker is open in a worker. */
  readonly isOpen: boolean;
}

/** An item of `GET /contracts`. */
export interface ContractView extends ServedContract {
  /** Number of operations by verdict; null for a contract without a legacy service. */
  readonly verdicts: Readonly<Record<Verdict, number>> | null;
  readonly health: { readonly new: SideHealth; readonly legacy: SideHealth | null };
}

/** A rule of the file. */
export interface FileRuleView {
  readonly name: string;
  readonly mode: Mode;
  /** Null for all operations. */
  readonly operations: readonly string[] | null;
  readonly sentence: string;
}

/** A route change that precedes the rules of the file (G66). */
export interface RouteChangeView extends View<RouteChange, 'until' | 'at'> {
  /** False after `until`, and for a change that the contract does not permit any more. */
  readonly isActive: boolean;
}

/** The present route of an operation. */
export interface RouteSentence {
  readonly operation: string;
  readonly isRead: boolean;
  /** For example `new if the caller is among 25 % of the callers ("change GetOrder"), else legacy.` */
  readonly sentence: string;
}

/** The routes that a process uses. `version` differs from that of the table until the process has read the table. */
export type ReplicaView = View<Omit<Replica, 'contract'>, 'seenAt'>;

/** A version of the table of route changes. */
export type RouteVersionView = View<Omit<RouteVersion, 'contract' | 'id' | 'changes'>, 'at'>;

/** `GET /contracts/{c}/routes`. */
export interface RoutesView {
  readonly version: number;
  /** Why routes cannot be changed; null if they can. */
  readonly readOnlyReason: string | null;
  readonly file: readonly FileRuleView[];
  readonly changes: readonly RouteChangeView[];
  readonly sentences: readonly RouteSentence[];
  readonly replicas: readonly ReplicaView[];
  /** The last 50 versions, newest first. */
  readonly history: readonly RouteVersionView[];
}

/** Body of `POST /contracts/{c}/routes`. */
export interface RouteChangeInput {
  readonly operation: string;
  readonly mode: Mode;
  readonly percent?: number;
  readonly answer?: Side;
  /** RFC 3339 with an offset. */
  readonly until?: string;
  readonly force?: boolean;
  readonly reason: string;
  readonly ifVersion: number;
}

/** Reply of a change, an ended change and a rollback. `id` is null for the last two. */
export interface RouteChanged {
  readonly id: string | null;
  readonly version: number;
  readonly changes: readonly RouteChangeView[];
}

/** Body of `POST /contracts/{c}/routes/rollback`. */
export interface RollbackInput {
  readonly toVersion: number;
  readonly reason: string;
}

/** Body of `POST /contracts/{c}/routes/explain`. */
export interface ExplainInput {
  readonly operation?: string;
  /** Name in `callers.yaml`, or an id. */
  readonly caller?: string;
  /** The message. Without it, `operation` is required, and values of the request count as absent. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Reply of `explain`. `operation` is `?` for an unreadable message. */
export interface ExplainView {
  readonly operation: string;
  readonly mode: string;
  readonly rule: string;
}

/** An item of `GET /contracts/{c}/verdicts`. */
export type VerdictView = Omit<ReportedOperation, 'findings'>;

/** State that an operator gave a finding. */
export type FindingDecision = 'accepted' | 'fixed' | 'open';

/** An item of `GET /contracts/{c}/findings`, without examples, and `GET /contracts/{c}/findings/{id}`. */
export interface FindingView extends ReportedFinding {
  readonly id: string;
  readonly operation: string;
}

/** Body of `POST /contracts/{c}/findings/{id}/state`. */
export interface FindingStateInput {
  readonly state: FindingDecision;
  readonly reason: string;
}

/** An item of `GET /contracts/{c}/exchanges` (G56). */
export type ExchangeSummary = View<ExchangeHead, 'at'>;

/** A recorded body, redacted as stored. */
export interface ExchangeBody {
  /** `base64` for a body that is not UTF-8. */
  readonly encoding: 'utf8' | 'base64';
  readonly content: string;
}

/** `GET /contracts/{c}/exchanges/{id}`. A body that was not recorded is null. */
export interface ExchangeView extends ExchangeSummary {
  readonly bodies: {
    readonly request: ExchangeBody | null;
    readonly requestJson: string | null;
    readonly legacy: ExchangeBody | null;
    readonly new: ExchangeBody | null;
  };
}

/** An item of `GET /contracts/{c}/usage`: calls of an operation by a caller. */
export interface UsageView extends View<Usage, 'lastAt'> {
  /** Client stack, such as `CXF` or `unknown`. */
  readonly stack: string;
}

/** An item of `GET /contracts/{c}/exemptions` (G65). */
export interface ExemptionView extends View<Omit<StoredExemption, 'contract' | 'id'>, 'until' | 'at'> {
  readonly id: string;
}

/** `GET /contracts/{c}/callers/{caller}` (G62). */
export interface CallerView extends View<CallerRow, 'firstAt' | 'lastAt'> {
  readonly operations: readonly UsageView[];
  readonly exemptions: readonly ExemptionView[];
}

/** Body of `POST /contracts/{c}/exemptions`. */
export interface ExemptionInput {
  /** Name, pseudonym or id. */
  readonly caller: string;
  /** Default: all operations. */
  readonly operation?: string;
  /** RFC 3339 with an offset. */
  readonly until: string;
  readonly reason: string;
}

/** Body of `POST /forget`. */
export interface ForgetInput {
  /** Name, id or pseudonym. */
  readonly caller: string;
  readonly reason: string;
}

/** Reply of `POST /forget`. */
export interface Forgotten {
  /** Pseudonym of the caller. */
  readonly caller: string;
  /** Number of rows by table. */
  readonly rows: Readonly<Record<string, number>>;
}

/** An item of `GET /audit` (G72), newest first. */
export type AuditView = View<AuditRow, 'at'>;
