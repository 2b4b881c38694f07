import type { AdminState } from '../process/admin.ts';
import type { Problem } from './problem.ts';
import type { AdminReply, AdminRoute } from './route.ts';

// Interface between the admin listener and the pages of the operator console (G73). console/ implements it, and the
// command line passes the implementation in. Nothing here imports console/.

export type { Report } from '../migration/report.ts';
export type { AdminState } from '../process/admin.ts';
export type { ShownSetting } from '../process/shown-settings.ts';
export type { Snapshot } from '../telemetry/metrics.ts';
export { Problem, problemOf } from './problem.ts';
export { previewChange } from './resources/route-changes.ts';
export type { AdminReply, AdminRequest, AdminRoute } from './route.ts';

/** The pages of the operator console. */
export interface OperatorPages {
  /** Returns the routes of the pages that show only these calls. */
  readonly routes: (api: readonly AdminRoute[]) => readonly AdminRoute[];
  /**
   * Returns the page of a problem, or a redirect to the sign-in.
   *
   * @param url path and query of the request
   */
  readonly problem: (problem: Problem, url: string, state: AdminState) => AdminReply;
}
