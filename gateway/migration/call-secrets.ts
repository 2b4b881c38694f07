import type { Hide } from '../../mappings/codec/scalars/text.ts';
import type { Comparison, Difference } from '../../mappings/compare/comparison.ts';
import { maxValueCharacters } from '../../mappings/compare/sink.ts';
import { movedHeadersOf } from '../../mappings/contract/credentials.ts';
import type { MessageCredentials } from '../call/credentials.ts';
import { allCredentials, claimedSecrets, givenSecrets } from '../call/hidden-credentials.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { PreparedSoapCall } from '../protocols/read-in-worker.ts';
import type { SoapCall } from '../protocols/soap/soap-reader.ts';
import { compileHide } from '../telemetry/secrets.ts';
import type { Caller } from './identity.ts';

const noBody: ReadonlyMap<string, string> = new Map();

/** The credentials of one call, which a service may repeat in its reply (W25). */
export class CallSecrets {
  readonly #context: RequestContext;
  readonly #caller: Caller;
  readonly #own: string[] = [];
  #given: MessageCredentials | undefined;

  constructor(context: RequestContext, caller: Caller) {
    this.#context = context;
    this.#caller = caller;
  }

  /** Adds the credentials in the payload and the header blocks of the message. */
  read({ operation, input, values }: SoapCall | PreparedSoapCall): void {
    this.#given = 'given' in input ? input.given : { body: operation.credentialsOf(input), ...values };
  }

  /** Adds secrets that the gateway itself sent to a service. */
  sent(secrets: readonly string[]): void {
    this.#own.push(...secrets);
  }

  /** Returns a comparison without the credentials in its values. */
  hideIn(comparison: Comparison): Comparison {
    const { differences, explained } = comparison;
    if (differences.length + explained.length === 0) return comparison;
    const hide = this.#compile();
    return {
      ...comparison,
      differences: differences.map((one) => withoutSecrets(one, hide)),
      explained: explained.map((one) => withoutSecrets(one, hide)),
    };
  }

  /** Returns the known credentials of the call. */
  list(): readonly string[] {
    const { head, options, ownSecrets } = this.#context;
    const { credentials } = options.service.compiled.contract;
    const given = this.#given ?? { body: noBody };
    return [
      ...claimedSecrets(credentials, this.#caller.values, allCredentials),
      ...givenSecrets(credentials, given, head, allCredentials),
      ...[...this.#own, ...ownSecrets, ...secretsIn(head.headers.authorization)],
      ...cookiesIn(head.headers.cookie),
    ];
  }

  #compile(): Hide {
    const { credentials } = this.#context.options.service.compiled.contract;
    // the credentials in the payload are unknown, so no text is shown
    if (this.#given === undefined && movedHeadersOf(credentials).length > 0) return () => '***';
    return compileHide(this.list());
  }
}

function withoutSecrets<Kind extends Difference>(difference: Kind, hide: Hide): Kind {
  const { legacy, new: fresh } = difference;
  return {
    ...difference,
    ...(legacy === undefined ? {} : { legacy: hidden(legacy, hide) }),
    ...(fresh === undefined ? {} : { new: hidden(fresh, hide) }),
  };
}

/** Hides secrets in a value. A truncated value may end with a part of a secret, which is hidden before a `…`. */
function hidden(value: string, hide: Hide): string {
  if (value.length < maxValueCharacters) return hide(value);
  const shown = hide(`${value}…`);
  return shown.endsWith('…') ? shown.slice(0, -1) : shown;
}

/** Returns the values of the cookies in a header. */
function cookiesIn(header: string | undefined): readonly string[] {
  return (header ?? '').split(';').flatMap((pair) => {
    const value = pair.slice(pair.indexOf('=') + 1).trim();
    return value === '' ? [] : [value];
  });
}

/** Returns the secrets of an Authorization header, which the contract need not declare. */
function secretsIn(authorization: string | undefined): readonly string[] {
  if (authorization === undefined) return [];
  const end = authorization.indexOf(' ');
  if (end === -1) return [authorization];
  const value = authorization.slice(end).trimStart();
  if (authorization.slice(0, end).toLowerCase() !== 'basic') return [value];
  const pair = Buffer.from(value, 'base64').toString('utf8');
  return [value, pair.slice(pair.indexOf(':') + 1)];
}
