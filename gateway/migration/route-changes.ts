import { CallError } from '../call/error.ts';
import { compileDecision, type Decide } from './decide.ts';
import { compileReadsCaller, leadsToLegacy, type Place } from './place.ts';
import { type Checked, readChange } from './read-routing.ts';
import type { Mode, Routing, Rule, Side } from './routing.ts';

/** A route change of one operation, as in the table `route_changes` (G66). */
export interface RouteChange {
  readonly id: string;
  readonly operation: string;
  readonly mode: Mode;
  /** Share of the callers, from 0 to 100. */
  readonly percent: number;
  /** Undefined for another mode than `compare`, and for its default. */
  readonly answer?: Side | undefined;
  /** In ms since 1970; undefined for no end. */
  readonly until?: number | undefined;
  readonly actor: string;
  readonly reason: string;
  /** In ms since 1970. */
  readonly at: number;
  readonly isForced: boolean;
}

/** The route changes of a contract: at most one per operation. */
export interface RouteTable {
  /** 0 before the first change. */
  readonly version: number;
  readonly changes: readonly RouteChange[];
}

export const noChanges: RouteTable = { version: 0, changes: [] };

/** Returns the rule of a change; undefined if it has ended, or if the contract does not permit it any more. */
export function ruleOf(
  change: RouteChange,
  { blends }: Pick<Routing, 'blends'>,
  facts: Checked,
  now: number,
): Rule | undefined {
  if (now >= (change.until ?? Number.POSITIVE_INFINITY)) return undefined;
  let isPermitted = true;
  const rule = readChange(change, new Set(blends.keys()), facts, () => {
    isPermitted = false;
  });
  return isPermitted ? rule : undefined;
}

/** Returns the routing with the changes before the rules of the file. */
export function withChanges(routing: Routing, { changes }: RouteTable, facts: Checked, now: number): Routing {
  const rules = changes.flatMap((change) => ruleOf(change, routing, facts, now) ?? []);
  return rules.length === 0 ? routing : { ...routing, rules: [...rules, ...routing.rules] };
}

/** Compiled routes of a contract. */
interface CompiledRoutes extends Pick<Place, 'readsCaller' | 'leadsToLegacy'> {
  readonly decide: Decide;
}

/** The routes of a contract that are in effect. They follow the table of changes. */
export class LiveRoutes {
  readonly #routing: Routing;
  readonly #facts: Checked;
  readonly #identity: string | undefined;
  readonly #mayRefuse: (operation: string) => boolean;
  readonly #tableOf: () => RouteTable | undefined;
  #table: RouteTable | undefined;
  #compiled: CompiledRoutes | undefined;
  /** Time at which a change ends, in ms since 1970. */
  #end = Number.POSITIVE_INFINITY;

  /**
   * @param mayRefuse returns true for an operation that a deprecation may refuse
   * @param tableOf returns the table of changes; undefined while it is not known
   */
  constructor(
    routing: Routing,
    facts: Checked,
    identity: string | undefined,
    mayRefuse: (operation: string) => boolean,
    tableOf: () => RouteTable | undefined,
  ) {
    this.#routing = routing;
    this.#facts = facts;
    this.#identity = identity;
    this.#mayRefuse = mayRefuse;
    this.#tableOf = tableOf;
  }

  /** Returns the routes in effect. Throws CallError while the table is not known (G54). */
  now(): CompiledRoutes {
    const table = this.#tableOf();
    if (table === undefined)
      throw new CallError('UpstreamUnavailable', {
        detail: 'the routes are not known, because the store has not answered yet',
        retryAfter: '1',
      });
    const isCurrent =
      table === this.#table && (this.#end === Number.POSITIVE_INFINITY || Date.now() < this.#end);
    if (isCurrent && this.#compiled !== undefined) return this.#compiled;
    return this.#compile(table);
  }

  #compile(table: RouteTable): CompiledRoutes {
    const now = Date.now();
    const { contract } = this.#facts;
    const ends = table.changes.flatMap(({ until }) => (until === undefined || until <= now ? [] : [until]));
    const routing = withChanges(this.#routing, table, this.#facts, now);
    const names = contract.operations.map(({ name }) => name);
    this.#table = table;
    this.#end = Math.min(...ends, Number.POSITIVE_INFINITY);
    this.#compiled = {
      decide: compileDecision(routing, names),
      readsCaller: compileReadsCaller(contract, routing, this.#identity, this.#mayRefuse),
      leadsToLegacy: leadsToLegacy(routing, contract.operations),
    };
    return this.#compiled;
  }
}
