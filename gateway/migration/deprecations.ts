import { serviceOf } from '../../mappings/contract/adopted.ts';
import { defaultLimits } from '../../mappings/contract/limits.ts';
import type { Contract, Operation } from '../../mappings/contract/model.ts';
import { instantText } from '../../mappings/contract/times.ts';
import { CallError } from '../call/error.ts';
import type { Deprecated, RequestContext } from '../http/request-context.ts';
import { counter, type Snapshot } from '../telemetry/metrics.ts';
import { addDocumentation, documentedKey } from './documented-wsdl.ts';
import type { IdentifyCaller } from './identity.ts';
import type { Deprecation } from './read-deprecations.ts';

/** An exemption of a caller at run time, until a time in ms since 1970 (G65). */
export interface Exemption {
  readonly caller: string;
  /** Undefined for all operations. */
  readonly operation: string | undefined;
  readonly until: number;
}

/** Counts of calls of deprecated operations (G65). They continue over a reload. */
export class DeprecationCounts {
  readonly #calls = new Map<string, number>();
  readonly #refused = new Map<string, number>();

  /**
   * Counts a call.
   *
   * @param path path of the contract as in the log
   * @param reason reason of a refusal; undefined for a served call
   */
  count(path: string, operation: string, reason: 'sunset' | 'brownout' | undefined): void {
    const labels = `contract="${path}",operation="${operation}"`;
    this.#calls.set(labels, (this.#calls.get(labels) ?? 0) + 1);
    if (reason === undefined) return;
    const refused = `${labels},reason="${reason}"`;
    this.#refused.set(refused, (this.#refused.get(refused) ?? 0) + 1);
  }

  read(): Snapshot {
    return [
      counter('deprecated_calls_total', 'Calls of deprecated operations.', this.#calls),
      counter(
        'deprecated_refused_total',
        'Calls of deprecated operations that were refused, by reason.',
        this.#refused,
      ),
    ];
  }
}

/** The parts that deprecations use. */
export interface DeprecationParts {
  readonly contract: Contract;
  /** Path of the contract as in the log. */
  readonly path: string;
  readonly deprecations: readonly Deprecation[];
  readonly counts: DeprecationCounts;
  readonly identify: IdentifyCaller;
  /** Returns the exemptions of the store; undefined until it has answered. */
  readonly exemptions: () => readonly Exemption[] | undefined;
}

/** A deprecated operation. */
interface DeprecatedOperation extends Deprecation {
  readonly headers: Readonly<Record<string, string>>;
}

/** The deprecated operations of one contract (G64, G65). */
export class Deprecations implements Deprecated {
  readonly #parts: DeprecationParts;
  readonly #byName: ReadonlyMap<string, DeprecatedOperation>;

  constructor(parts: DeprecationParts) {
    this.#parts = parts;
    this.#byName = new Map(
      parts.deprecations.flatMap((one) => {
        const deprecated = { ...one, headers: headersFor(one) };
        return one.operations.map((name) => [name, deprecated] as const);
      }),
    );
  }

  headersOf(operation: string | undefined): Readonly<Record<string, string>> | undefined {
    return operation === undefined ? undefined : this.#byName.get(operation)?.headers;
  }

  mayRefuse(operation: string): boolean {
    const found = this.#byName.get(operation);
    return found !== undefined && (found.sunset !== undefined || found.brownouts.length > 0);
  }

  refusalOf(
    context: RequestContext,
    operation: string,
    given: Parameters<IdentifyCaller>[1],
  ): CallError | undefined {
    const found = this.#byName.get(operation);
    if (found === undefined) return undefined;
    const now = Date.now();
    const isOver = found.sunset !== undefined && now > found.sunset;
    const brownout = isOver ? undefined : found.brownouts.find(({ from, to }) => from <= now && now < to);
    const isDue = isOver || brownout !== undefined;
    const isExempt = isDue && this.#isExempt(context, operation, given, found, now);
    const isUnknown = isOver && isExempt === undefined;
    const isRefused = isDue && isExempt !== true && !isUnknown;
    const reason = isOver ? 'sunset' : 'brownout';
    this.#parts.counts.count(this.#parts.path, operation, isRefused ? reason : undefined);
    if (isUnknown) return unknownExemptions();
    if (!isRefused) return undefined;
    const link = found.link === undefined ? '' : ` See ${found.link}`;
    if (brownout === undefined) return new CallError('Gone', { detail: `${found.message}${link}` });
    const { to } = brownout;
    return new CallError('Brownout', {
      detail: `Operation is not served until ${instantText(to)}, because it is deprecated.${link}`,
      retryAfter: String(Math.ceil((to - now) / 1_000)),
    });
  }

  /** Returns true for an exempt caller; undefined while the store has not answered. */
  #isExempt(
    context: RequestContext,
    operation: string,
    given: Parameters<IdentifyCaller>[1],
    { exempt }: Deprecation,
    now: number,
  ): boolean | undefined {
    const { name: caller } = this.#parts.identify(context, given);
    context.stats.caller ??= caller;
    if (caller === undefined) return false;
    const until = exempt.get(caller);
    if (until !== undefined && now <= until) return true;
    return this.#parts
      .exemptions()
      ?.some(
        (one) => one.caller === caller && now <= one.until && (one.operation ?? operation) === operation,
      );
  }

  /** Returns a contract with the dates of deprecations in its documentation (G64). */
  describe(contract: Contract): Contract {
    const operations = contract.operations.map((operation): Operation => {
      const found = this.#byName.get(operation.name);
      if (found === undefined) return operation;
      const documentation = `${operation.documentation} ${deprecationText(found)}`.trimStart();
      return { ...operation, documentation, deprecated: true };
    });
    return { ...contract, operations };
  }

  /** Adds the dates of deprecations to a served document of an adopted WSDL. */
  readonly document = (bytes: Uint8Array): Uint8Array => {
    const texts = new Map<string, string>();
    for (const { name, portType, wsdlName } of serviceOf(this.#parts.contract).operations) {
      const found = this.#byName.get(name);
      if (found !== undefined) texts.set(documentedKey(portType, wsdlName), deprecationText(found));
    }
    return addDocumentation(bytes, texts, defaultLimits);
  };
}

/** Returns the error for a call whose caller may be exempt. `Gone` would be final. */
function unknownExemptions(): CallError {
  return new CallError('UpstreamUnavailable', {
    detail: 'the exemptions are not known, because the store has not answered yet',
    retryAfter: '1',
  });
}

/** Returns the sentences about a deprecation for documentation. */
function deprecationText({ since, sunset, link }: Deprecation): string {
  const end = sunset === undefined ? '' : ` No longer served after ${instantText(sunset)}.`;
  return `Deprecated since ${instantText(since)}.${end}${link === undefined ? '' : ` See ${link}`}`;
}

/** Returns a sentence for each deprecated operation (G49). */
export function deprecationSentences(deprecations: readonly Deprecation[]): readonly string[] {
  return deprecations.flatMap((one) => {
    const { since, sunset, brownouts, exempt } = one;
    const parts = [`deprecated since ${instantText(since)}`];
    if (sunset !== undefined) parts.push(`refused after ${instantText(sunset)}`);
    for (const { from, to } of brownouts)
      parts.push(`refused from ${instantText(from)} to ${instantText(to)}`);
    for (const [caller, until] of exempt) parts.push(`${caller} is exempt until ${instantText(until)}`);
    return one.operations.map((name) => `${name}: ${parts.join(', ')}.`);
  });
}

/** Returns the headers of replies: RFC 9745, RFC 8594. */
function headersFor({ since, sunset, link }: Deprecation): Readonly<Record<string, string>> {
  return {
    Deprecation: `@${Math.floor(since / 1_000)}`,
    ...(sunset !== undefined && { Sunset: new Date(sunset).toUTCString() }),
    ...(link !== undefined && { Link: `<${link}>; rel="deprecation", <${link}>; rel="sunset"` }),
  };
}
