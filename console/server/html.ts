import { html as template } from 'htm/preact';
import { type ComponentChildren, isValidElement } from 'preact';
import { renderToString } from 'preact-render-to-string';

/** A part of a page: an element, a text, a list, or nothing. */
export type Html = ComponentChildren;

/** Creates elements from a template, with values as children and attributes. Every value is escaped as text. */
export const html = template as (strings: TemplateStringsArray, ...values: readonly unknown[]) => Html;

/** Renders a complete document. Throws a TypeError if the root is not one element. */
export function renderDocument(root: Html): string {
  if (!isValidElement(root)) throw new TypeError('expected one element as a document’s root');
  return `<!doctype html>${renderToString(root)}`;
}

/** Returns an http or https address for a link, or undefined for any other address. */
export function webAddress(text: string): string | undefined {
  const url = URL.parse(text);
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? url.href : undefined;
}
