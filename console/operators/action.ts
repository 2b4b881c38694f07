import { commandOf } from '../command.ts';
import { type Html, html } from '../server/html.ts';
import { codeBlock } from '../server/layout.ts';
import type { Visit } from './visit.ts';

/** A field of an action. It has the name of its member in the JSON body. */
export interface Field {
  readonly name: string;
  readonly label: string;
  readonly kind: 'text' | 'reason' | 'message' | 'time' | 'flag' | 'choice' | 'hidden';
  readonly value?: string | undefined;
  readonly choices?: readonly string[];
  readonly hint?: Html;
  readonly isOptional?: boolean;
  /** Type of the member, if it is not a text. */
  readonly type?: 'number' | 'headers';
}

/** The reason of a change (G72). */
export const reason: Field = {
  name: 'reason',
  label: 'Reason',
  kind: 'reason',
  hint: '3 to 500 characters, stored in the audit',
};

/** A call of the admin API that an operator sends. */
export interface Action {
  /** Unique on its page. */
  readonly id: string;
  readonly label: string;
  readonly method: 'POST' | 'DELETE';
  /** Path with its parameters. */
  readonly path: string;
  readonly fields: readonly Field[];
  /** Text after success. `{name}` is a member of the result. */
  readonly done: string;
  /** True if the result is shown; otherwise the page is loaded again. */
  readonly stays?: boolean;
  /** Role that the call requires, if it is not `change`. */
  readonly role?: 'read';
}

/**
 * Renders a form whose script sends a call as JSON, with the equivalent command. Without script the button is disabled,
 * and the command does the same.
 *
 */
export function actionForm(
  { id, label, method, path, fields, done, stays = false, role }: Action,
  { origin, viewer }: Pick<Visit, 'origin' | 'viewer'>,
): Html {
  const isPermitted = role === 'read' || viewer.role === 'change';
  return html`<form
    class="action form"
    id=${id}
    data-method=${method}
    data-path=${path}
    data-done=${done}
    data-stays=${stays ? 'yes' : undefined}
    data-origin=${origin}
    data-permitted=${isPermitted ? 'yes' : undefined}
    novalidate
  >
    ${fields.map((field) => fieldOf(id, field))}
    <div class="buttons"><button type="submit" class="main" disabled>${label}</button></div>
    ${!isPermitted && html`<p class="facts">This needs a token of role change. Sign in with another token.</p>`}
    <div class="outcome" role="alert"></div>
    <details class="command">
      <summary>Equivalent command</summary>
      ${codeBlock(commandOf(method, origin + path, bodyOf(fields)), `Command: ${label}`)}
    </details>
  </form>`;
}

/** Renders a field of a form. */
export function fieldOf(
  form: string,
  { name, label, kind, value, choices, hint, isOptional, type }: Field,
): Html {
  const id = `${form}-${name}`;
  const common = {
    id,
    name,
    'data-type': kind === 'flag' ? 'flag' : (type ?? 'text'),
    'data-optional': isOptional === true ? 'yes' : undefined,
    'aria-describedby': hint === undefined ? undefined : `${id}-hint`,
  };
  if (kind === 'hidden') return html`<input type="hidden" ...${common} value=${value} />`;
  const control =
    kind === 'choice'
      ? html`<select ...${common}>${(choices ?? []).map(
          (choice) => html`<option value=${choice} selected=${choice === value}>${choice}</option>`,
        )}</select>`
      : kind === 'message'
        ? html`<textarea ...${common} rows=${type === undefined ? 8 : 2} spellcheck="false">${value}</textarea>`
        : kind === 'flag'
          ? html`<input type="checkbox" ...${common} />`
          : html`<input
              type="text"
              ...${common}
              value=${value}
              maxlength=${kind === 'reason' ? 500 : undefined}
              placeholder=${kind === 'time' ? '2027-01-31T00:00:00Z' : undefined}
            />`;
  const words = `${label}${isOptional === true ? ' (optional)' : ''}`;
  return html`<div class=${kind === 'flag' ? 'line' : 'field'}>
    ${kind === 'flag' && control}<label for=${id}>${words}</label>${kind !== 'flag' && control}
    ${hint !== undefined && html`<span class="facts" id=${`${id}-hint`}>${hint}</span>`}
  </div>`;
}

/** Returns the body of a call before the user types. The script replaces it. */
function bodyOf(fields: readonly Field[]): Readonly<Record<string, unknown>> {
  const stated = fields.filter(({ isOptional, kind }) => isOptional !== true && kind !== 'flag');
  return Object.fromEntries(
    stated.map(({ name, value, type }) => {
      const text = value || name.toUpperCase();
      return [name, type === 'number' ? Number(text) : text];
    }),
  );
}
