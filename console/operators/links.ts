import { pointerSegment } from '../../mappings/loader/document/error.ts';
import { type Html, html } from '../server/html.ts';

/** Returns the address of a page of a contract. */
export function href(page: string, contract: string, query: Readonly<Record<string, string>> = {}): string {
  const words = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ''));
  return page.replace(':c', encodeURIComponent(contract)) + (words.size === 0 ? '' : `?${words}`);
}

/** Returns the path of a call of the admin API. */
export function apiPath(path: string, contract: string, id = ''): string {
  return `/api/v1${href(path, contract).replace(':id', encodeURIComponent(id))}`;
}

/** Returns the name of a setting of a contract in the effective settings. */
export function settingName(contract: string, path: string): string {
  return `/contracts${pointerSegment(contract)}/${path}`;
}

/** Returns the address of the page of an operation. */
export function operationHref(contract: string, operation: string): string {
  return `${href('/:c/operations/', contract)}${encodeURIComponent(operation)}`;
}

/** Renders a time, to the second, in UTC. */
export function time(at: string | number | Date | null | undefined): Html {
  const date = at === null || at === undefined ? undefined : new Date(at);
  if (date === undefined || Number.isNaN(date.getTime())) return '–';
  const text = date.toISOString();
  return html`<time datetime=${text}>${`${text.slice(0, 10)} ${text.slice(11, 19)} UTC`}</time>`;
}

/** Returns a share as a percentage; `–` of nothing. */
export function share(part: number, whole: number): string {
  return whole === 0 ? '–' : `${Number(((part / whole) * 100).toPrecision(3))} %`;
}

/** Renders the link to the next page of a list. */
export function nextPage(
  page: string,
  contract: string,
  query: Readonly<Record<string, string>>,
  cursor: string | null,
): Html {
  return cursor !== null && html`<p><a href=${href(page, contract, { ...query, cursor })}>Next page</a></p>`;
}
