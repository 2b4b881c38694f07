import type { Output } from './json.ts';

/** One entry of `responseStatus.errors`. */
export interface FieldError {
  readonly errorCode: 'NotEmpty' | 'InvalidType' | 'InvalidEnum' | 'OutOfRange' | 'NotFound';
  /** Dotted path of the member, with array positions from 0: `request.permissions[2]`. */
  readonly fieldName: string;
  readonly message: string;
}

/** A failure that is reported to the caller: its HTTP status, and the contents of `responseStatus`. */
export class Failure extends Error {
  readonly status: number;
  readonly errorCode: string;
  readonly errors: readonly FieldError[];

  constructor(status: number, errorCode: string, message: string, errors: readonly FieldError[] = []) {
    super(message);
    this.status = status;
    this.errorCode = errorCode;
    this.errors = errors;
  }
}

/** R5: returns the same message for all wrong credentials. `missing` names the absent ones. */
export function unauthorized(missing: readonly string[] = []): Failure {
  const errors = missing.map((name) => notEmpty(`authentication.${name}`));
  return new Failure(401, 'Unauthorized', 'authentication: expected credentials that are known here', errors);
}

/** R6, R8: the record exists or the action is possible, but not for this user. */
export function forbidden(message: string): Failure {
  return new Failure(403, 'Forbidden', message);
}

/** R7: the caller's account does not have the record. */
export function notFound(kind: string, id: number | bigint): Failure {
  return new Failure(404, 'NotFound', `${kind} ${id}: expected an id that exists, got none such`);
}

/** R6: the caller's account does not have the user. `fieldName` is the input member with the name. */
export function unknownUser(fieldName: string, userName: string): Failure {
  const message = `${fieldName}: expected the name of a user, got ${quote(userName)}`;
  return new Failure(404, 'NotFound', message, [{ errorCode: 'NotFound', fieldName, message }]);
}

/**
 * R7: missing or wrong input, with one entry per field. The first entry's message is also the message of the failure.
 */
export function invalid(errors: readonly [FieldError, ...FieldError[]]): Failure {
  return new Failure(400, 'ValidationError', errors[0].message, errors);
}

/** R7: a required member is absent, null or empty. */
export function notEmpty(fieldName: string): FieldError {
  return {
    errorCode: 'NotEmpty',
    fieldName,
    message: `${fieldName}: expected a value, got none`,
  };
}

/** Returns the `data` of an error reply. Members without a value are null (R10). */
export function failureData(failure: Failure): Output {
  return {
    responseStatus: {
      errorCode: failure.errorCode,
      message: failure.message,
      stackTrace: null,
      errors: failure.errors.map((error) => ({ ...error, meta: null })),
      meta: null,
    },
  };
}

/** Quotes a caller's text in a message and truncates it to 40 characters. */
export function quote(text: string): string {
  const characters = [...text.slice(0, 100)];
  return JSON.stringify(
    text.length > 100 || characters.length > 40 ? `${characters.slice(0, 40).join('')}…` : text,
  );
}
