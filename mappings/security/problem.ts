import type { Reason } from '../contract/reason.ts';

/** Codes of refused signatures (X28). Each is a fault code of WS-Security. */
export type SecurityCode =
  | 'InvalidSecurity'
  | 'InvalidSecurityToken'
  | 'UnsupportedSecurityToken'
  | 'UnsupportedAlgorithm'
  | 'SecurityTokenUnavailable'
  | 'FailedAuthentication'
  | 'FailedCheck'
  | 'MessageExpired';

/** A signed message that is refused. */
export class SecurityProblem extends Error {
  readonly code: SecurityCode;
  /** Reason for the caller. It has no name of a certificate, digest or Id of the gateway (X28). */
  readonly reason: Reason;
  /** Additional fixed text for the log. */
  readonly logged: string;

  constructor(code: SecurityCode, reason: Reason, logged: string) {
    super(`${code}: ${logged}`);
    this.name = 'SecurityProblem';
    this.code = code;
    this.reason = reason;
    this.logged = logged;
  }
}

/** Throws `InvalidSecurity`. */
export function invalid(reason: Reason, logged: string): never {
  throw new SecurityProblem('InvalidSecurity', reason, logged);
}

/** Throws `UnsupportedSecurityToken`. */
export function unsupportedToken(detail: string): never {
  throw new SecurityProblem('UnsupportedSecurityToken', { detail }, 'token');
}
