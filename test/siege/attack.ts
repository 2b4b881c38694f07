/** Target of an attack. */
export interface Target {
  readonly port: number;
  /** Aborted when the attack must end. */
  readonly signal: AbortSignal;
  /** Counts the result of one message, which shows that the attack is effective. */
  readonly count: (what: string) => void;
}

/** An attack over network connections only. */
export interface Attack {
  readonly name: string;
  /** One-line description. */
  readonly says: string;
  /** True if the gateway must also serve a large contract at `/large`. */
  readonly isOfLargeContract?: boolean;
  /** True if the gateway's log is written to a full disk. */
  readonly isLogFull?: boolean;
  /** True if the gateway is stopped during the attack, to test stopping with calls in progress. */
  readonly outlivesGateway?: boolean;
  /** True if p99 is reported but not judged, because the attack uses all cores. */
  readonly isOfMany?: boolean;
  /** Runs until the signal. Returns the violated guarantees, one per line. */
  readonly run: (target: Target) => Promise<readonly string[]>;
}
