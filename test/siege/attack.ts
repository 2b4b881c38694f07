/** Where an attack goes, and for how long. */
export interface Target {
  readonly port: number;
  /** Aborted when it is to end. */
  readonly signal: AbortSignal;
  /** Counts what came of one message, for whoever wants to know whether the attack did anything. */
  readonly count: (what: string) => void;
}

/** Who means harm, with nothing but a network connection. */
export interface Attack {
  readonly name: string;
  /** What it does, in a line. */
  readonly says: string;
  /** True where the gateway has a large contract to serve too, at `/large`. */
  readonly isOfLargeContract?: boolean;
  /** True where the gateway's log goes to a disk that is full. */
  readonly isLogFull?: boolean;
  /** True where the gateway is stopped while the attack goes on, so that what is under way shows what stopping does. */
  readonly outlivesGateway?: boolean;
  /** True where p99 is told and not judged: the attack is many in one, which take the cores that callers and service need too. */
  readonly isOfMany?: boolean;
  /** Goes on until the signal, and then says what was promised to it and broken, a line each. */
  readonly run: (target: Target) => Promise<readonly string[]>;
}
