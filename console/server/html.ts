import { html as template } from 'htm/preact';
import { type ComponentChildren, isValidElement } from 'preact';
import { renderToString } from 'preact-render-to-string';

/** A piece of a page: an element, a text, a list of them, or nothing. */
export type Html = ComponentChildren;

/** Elements as a template, with values as children and attributes; every value is text, whatever stands in it. */
export const html = template as (strings: TemplateStringsArray, ...values: readonly unknown[]) => Html;

/** A whole document. */
export function renderDocument(root: Html): string {
  if (!isValidElement(root)) throw new TypeError('expected one element as a document’s root');
  return `<!doctype html>${renderToString(root)}`;
}

/** An address that a link may have, http or https; undefined for one that would do something else. */
export function webAddress(text: string): string | undefined {
  const url = URL.parse(text);
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? url.href : undefined;
}
