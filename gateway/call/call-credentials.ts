import type { Hide } from '../../mappings/codec/scalars/text.ts';
import type { CallService, Exchange } from './call-service.ts';
import type { FoundCredentials, MessageCredentials } from './credentials.ts';
import { hideCredentials, hideGiven, secrets } from './hidden-credentials.ts';

/** The credentials of a call in progress. */
export class CallCredentials {
  readonly #service: CallService;
  readonly #exchange: Exchange;
  /** Credentials in the message, before they are checked. */
  given: MessageCredentials;
  /** Undefined before they are checked, and for a contract without credentials. */
  values: FoundCredentials | undefined;
  #hide: Hide | undefined;

  constructor(service: CallService, exchange: Exchange, given: MessageCredentials) {
    this.#service = service;
    this.#exchange = exchange;
    this.given = given;
  }

  /** Records the checked credentials, and the caller that they name. */
  readonly use = (values: FoundCredentials | undefined): void => {
    this.values = values;
    if (values !== undefined) this.#exchange.stats.caller = this.#service.callerOf(values);
  };

  /** Copies the texts, because a substring keeps its whole source text in memory. */
  detach(): void {
    this.given = structuredClone(this.given);
    this.values = structuredClone(this.values);
  }

  /** Hides the credentials in a text. Given credentials are hidden even before they are checked. */
  readonly hide: Hide = (text, most) => {
    const { credentials } = this.#service.compiled.contract;
    this.#hide ??=
      this.values === undefined
        ? hideGiven(credentials, this.given, this.#exchange.head, secrets)
        : hideCredentials(credentials, this.values, secrets, this.#exchange.ownSecrets);
    return this.#hide(text, most);
  };
}
