import { namespaceText } from '../../mappings/codec/scalars/text.ts';
import { isInstanceNamespace } from '../../mappings/codec/schema-instance.ts';
import { namespaces } from '../../mappings/contract/model.ts';
import { nearest } from '../../mappings/contract/nearest.ts';
import type { Draft, Edit } from './draft.ts';
import { cutOf, unescapeContent } from './envelope.ts';
import {
  escaped,
  gapsIn,
  listed,
  nameSpans,
  type TreeAttribute,
  type TreeElement,
  textOf,
  withoutComments,
} from './tree.ts';
import { adviseOn } from './values.ts';
import type { ChildView, View } from './view.ts';

/** Context for comparing members. */
export interface MembersOptions {
  /** Returns true if findings must not contain texts of an element. */
  readonly isSecret: (element: TreeElement) => boolean;
  /** Returns a text for a missing required element. */
  readonly placeholder: (child: ChildView) => string;
  /** Handling of elements that the type lacks (W12). */
  readonly unknownElements: 'refuse' | 'ignore';
  /** Corrects markup that was text before, within the limits. Returns false if that fails. */
  readonly fixText: () => boolean;
}

/** Maximum number of passes over the members. Each pass may reveal nested errors. */
const mostPasses = 8;

/**
 * Compares the payload's members with its view and corrects them. Changes that move text are made one at a time, each
 * followed by another pass. All other changes are made in one step. Returns false and adds a finding if the message can
 * no longer be read.
 *
 * @param find returns the payload in a tree of the draft's text
 */
export function fixMembers(
  draft: Draft,
  find: (root: TreeElement) => TreeElement | undefined,
  view: View,
  options: MembersOptions,
): boolean {
  for (let pass = 0; pass < mostPasses; pass++) {
    const root = draft.root;
    const payload = root === undefined ? undefined : find(root);
    if (payload === undefined) return true;
    const walk = new MembersWalk(draft, options);
    walk.element(payload, view);
    if (walk.isUnescaped && !options.fixText()) return false;
    if (walk.isRestarted) continue;
    const before = draft.text;
    draft.replaceAll(walk.edits);
    if (draft.text === before) return true;
  }
  return true;
}

/** One pass over a payload. Small edits are collected. A large change is made at once and ends the pass. */
class MembersWalk {
  readonly edits: Edit[] = [];
  isRestarted = false;
  /** True if a text was converted to markup. */
  isUnescaped = false;
  readonly #draft: Draft;
  readonly #options: MembersOptions;

  constructor(draft: Draft, options: MembersOptions) {
    this.#draft = draft;
    this.#options = options;
  }

  element(element: TreeElement, view: View): void {
    if (this.isRestarted || view.kind === 'any') return;
    if (this.#encoding(element)) return;
    if (this.#nil(element)) return;
    if (view.kind === 'text') this.#text(element, view);
    else this.#elements(element, view);
  }

  /** Reports SOAP encoding. Returns true if the element's content is in another element. */
  #encoding({ attributes, start, local }: TreeElement): boolean {
    for (const attribute of attributes) {
      const isReference = attribute.name === 'href' && attribute.raw.startsWith('#');
      const isArray =
        ['arrayType', 'itemType'].includes(attribute.local) && attribute.namespace.includes('encoding');
      if (isArray) {
        this.#draft.error(
          attribute.start,
          `${attribute.local} is SOAP encoding (rpc/encoded), but this service is document/literal: the client was generated for another binding (Axis 1, nusoap, SOAP::Lite without a WSDL)`,
          'left out',
        );
        this.#cut(attribute);
      }
      if (!isReference) continue;
      this.#draft.error(
        start,
        `<${local}> refers to another element (href="#…", multiRef): document/literal has values inline. Generate the client from the WSDL of this service`,
      );
      return true;
    }
    return false;
  }

  #cut(attribute: TreeAttribute): void {
    this.edits.push(cutOf(this.#draft, attribute));
  }

  /** Corrects nil attributes. Returns true if the element has no value. */
  #nil(element: TreeElement): boolean {
    const named = element.attributes.filter(({ local }) => local === 'nil' || local === 'null');
    const right = named.find(({ namespace }) => isInstanceNamespace(namespace));
    const wrong = right === undefined ? named[0] : undefined;
    if (wrong !== undefined) {
      this.#draft.error(
        wrong.start,
        `${wrong.name} has no effect: an element without a value has xsi:nil="true" in the namespace ${namespaces.xsi}`,
        'xsi:nil of that namespace',
      );
      const isDeclared = element.declarations.some((one) => one.local === 'xsi');
      const declared = isDeclared ? '' : `xmlns:xsi="${namespaces.xsi}" `;
      const value = /^(?:1|true)$/i.test(wrong.raw) ? 'true' : 'false';
      this.edits.push({ start: wrong.start, end: wrong.end, text: `${declared}xsi:nil="${value}"` });
      return /^(?:1|true)$/i.test(wrong.raw);
    }
    if (right === undefined) return false;
    const word = right.raw.trim();
    if (!/^(?:true|false|0|1)$/.test(word)) {
      this.#draft.error(right.start, 'xsi:nil: expected true or false, in lower case', 'true');
      this.edits.push({
        start: right.start,
        end: right.end,
        text: `${right.name}="${/^f/i.test(word) ? 'false' : 'true'}"`,
      });
      return /^[ty]/i.test(word);
    }
    if (word === 'false' || word === '0') return false;
    const content = this.#draft.text.slice(element.opened, element.closing);
    if (content.trim() !== '') {
      this.#draft.error(
        right.start,
        `<${element.local}> has both xsi:nil="true" and a value: expected only one of them`,
        'the value, without xsi:nil',
      );
      this.#cut(right);
      return false;
    }
    return true;
  }

  #text(element: TreeElement, view: Extract<View, { kind: 'text' }>): void {
    const { local, start } = element;
    const [child] = element.children;
    if (child !== undefined) {
      this.#draft.error(
        child.start,
        `<${local}> is a value (${view.type}), but contains elements: <${child.local.slice(0, 64)}>`,
        undefined,
        local,
      );
      return;
    }
    const text = textOf(this.#draft.text, element);
    const reason = view.refusal(text);
    if (reason === undefined) {
      const twice = /&(?:amp|lt|gt|quot);/.exec(text);
      if (twice !== null && !this.#options.isSecret(element))
        this.#draft.note(
          start,
          'warning',
          `the value of <${local}> was escaped twice: ${twice[0]} is in it as text (&amp;${twice[0].slice(1)} on the wire)`,
        );
      return;
    }
    const trimmed = text.trim();
    const why = this.#options.isSecret(element) ? `expected xs:${view.type}` : reason;
    if (trimmed !== text && view.refusal(trimmed) === undefined) {
      this.#draft.error(
        element.opened,
        `<${local}> has white space around its value: ${why}`,
        'the value without white space',
      );
      this.#fill(element, trimmed);
      return;
    }
    const advice = adviseOn(text, view);
    const cause = advice === undefined ? '' : `; ${advice.cause}`;
    const fix = this.#options.isSecret(element) ? undefined : advice?.instead;
    this.#draft.error(element.isEmptyTag ? start : element.opened, `<${local}>: ${why}${cause}`, fix, local);
    if (advice?.instead !== undefined) this.#fill(element, advice.instead);
  }

  #fill(element: TreeElement, text: string): void {
    this.edits.push({ start: element.opened, end: element.closing, text: escaped(text) });
  }

  #elements(element: TreeElement, view: Extract<View, { kind: 'elements' }>): void {
    const { local } = element;
    if (element.children.length === 0 && unescapeContent(this.#draft, element, `<${local}>`)) {
      this.isUnescaped = true;
      this.isRestarted = true;
      return;
    }
    this.#reportText(element, view);
    const seen = new Map<ChildView, TreeElement>();
    const seenTwice = new Set<ChildView>();
    let last = -1;
    let isOrderReported = false;
    for (const child of element.children) {
      const found = this.#match(child, element, view);
      if (this.isRestarted) return;
      if (found === undefined) continue;
      const first = seen.get(found);
      if (first !== undefined && !found.repeats) {
        if (seenTwice.has(found)) continue;
        seenTwice.add(found);
        if (this.#gather(element, found)) return;
        this.#draft.error(child.start, `<${child.local}> occurs twice in <${local}>: expected one`);
      }
      seen.set(found, child);
      const index = view.children.indexOf(found);
      if (view.isOrdered && index < last && !isOrderReported) {
        isOrderReported = true;
        this.#order(element, child, view);
        if (this.isRestarted) return;
      }
      last = Math.max(last, index);
      this.element(child, found.view());
      if (this.isRestarted) return;
    }
    this.#missing(element, view, seen);
  }

  /** Reports text between elements. */
  #reportText(element: TreeElement, { children }: Extract<View, { kind: 'elements' }>): void {
    const { text } = this.#draft;
    for (const { start, end } of gapsIn(element)) {
      const between = withoutComments(text.slice(start, end));
      if (between.trim() === '') continue;
      const isJson = /^[[{]/.test(between.trim());
      const [only] = children;
      const expected = children
        .slice(0, 6)
        .map((child) => `<${child.local}>`)
        .join(', ');
      const at = start + text.slice(start, end).search(/\S/);
      const what = isJson ? 'JSON' : 'text';
      if (!isJson && only?.repeats === true && children.length === 1 && element.children.length === 0) {
        this.#draft.error(
          at,
          `<${element.local}> is a list, but contains text: expected an element <${only.local}> for each item`,
          `an element <${only.local}> for each item`,
        );
        const items = between
          .split(/[,;\s]+/)
          .filter((item) => item !== '')
          .slice(0, 1_000);
        const declared = ` xmlns="${only.namespace}"`;
        const made = items.map((item) => `<${only.local}${declared}>${item}</${only.local}>`).join('');
        this.edits.push({ start: element.opened, end: element.closing, text: made });
        return;
      }
      const message = `<${element.local}> has ${what} in it, and elements are expected: ${expected}`;
      this.#draft.error(at, message, undefined, element.local);
    }
  }

  /** Returns the child view that an element matches. An almost correct name is corrected. */
  #match(
    child: TreeElement,
    parent: TreeElement,
    { children, isOpen }: Extract<View, { kind: 'elements' }>,
  ): ChildView | undefined {
    const named = children.filter((one) => one.local === child.local);
    const found = named.find(({ namespace }) => namespace === child.namespace) ?? named[0];
    if (found !== undefined) {
      if (found.namespace === child.namespace) return found;
      const isLenient = child.namespace === '';
      const which = `in ${namespaceText(child.namespace)}`;
      this.#draft.note(
        child.start,
        isLenient ? 'warning' : 'error',
        `<${child.local}> is ${which}: the schema's elements are in "${found.namespace}" (elementFormDefault="${found.namespace === '' ? 'unqualified' : 'qualified'}")${isLenient ? '; this service accepts it, strict services reject it' : ''}`,
        `xmlns="${found.namespace}"`,
      );
      this.#qualify(child, found);
      return found;
    }
    const folded = children.find(({ local }) => local.toLowerCase() === child.local.toLowerCase());
    const near = nearest(
      child.local,
      children.map(({ local }) => local),
    );
    const meant = folded ?? children.find(({ local }) => local === near);
    const [only] = children;
    if (isOpen && folded === undefined) return undefined;
    const severity = this.#options.unknownElements === 'refuse' ? 'error' : 'warning';
    if (meant !== undefined) {
      const how = folded === undefined ? 'misspelt' : 'in a different case';
      this.#draft.note(
        child.start,
        severity,
        `<${child.local}> is ${how}: did you mean <${meant.local}>?`,
        `<${meant.local}>`,
      );
      this.#qualify(child, meant);
      return meant;
    }
    if (only?.repeats === true && children.length === 1) {
      this.#draft.note(
        child.start,
        severity,
        `items of <${parent.local}>: expected <${only.local}>, got <${child.local.slice(0, 64)}>`,
        `<${only.local}>`,
      );
      this.#qualify(child, only);
      return only;
    }
    const inner = child.children.filter((one) => children.some(({ local }) => local === one.local));
    if (inner.length > 0 && inner.length === child.children.length) {
      this.#draft.note(
        child.start,
        severity,
        `<${child.local.slice(0, 64)}> is an extra element: its content belongs directly in <${parent.local}> (a tool wrapped the parameters twice)`,
        'only its content',
      );
      this.#draft.replaceAll([
        { start: child.closing, end: child.end, text: '' },
        { start: child.start, end: child.opened, text: '' },
      ]);
      this.isRestarted = true;
      return undefined;
    }
    const names = listed(children.map((one) => one.local));
    this.#draft.note(
      child.start,
      severity,
      `<${child.local.slice(0, 64)}> is not an element of <${parent.local}>: ${names || 'it has none'}. The client may use another version of the WSDL`,
      'left out',
    );
    this.edits.push({ start: child.start, end: child.end, text: '' });
    return undefined;
  }

  /**
   * Gives an element the name and namespace of a child view. Its children keep their namespaces by their own
   * declarations.
   */
  #qualify(child: TreeElement, { local, namespace }: ChildView): void {
    const { text } = this.#draft;
    const isRight = child.namespace === namespace;
    const prefix = child.prefix === '' || !isRight ? '' : `${child.prefix}:`;
    const own = child.declarations.find(({ local: of }) => of === '');
    if (own !== undefined && !isRight) this.#cut(own);
    for (const [index, [start, end]] of nameSpans(text, child).entries()) {
      const declared = index === 0 && !isRight ? ` xmlns="${namespace}"` : '';
      this.edits.push({ start, end, text: prefix + local + declared });
    }
  }

  /** Merges repeated elements into one list element. Returns true if it changed the text. */
  #gather(parent: TreeElement, found: ChildView): boolean {
    const view = found.view();
    const [item] = view.kind === 'elements' ? view.children : [];
    if (item === undefined || !item.repeats || view.kind !== 'elements' || view.children.length !== 1)
      return false;
    const all = parent.children.filter(({ local }) => local === found.local);
    const [first] = all;
    if (
      first === undefined ||
      all.some(({ children, isEmptyTag }) => isEmptyTag || children.some(({ local }) => local === item.local))
    )
      return false;
    this.#draft.error(
      all[1]?.start ?? first.start,
      `<${found.local}> occurs ${all.length} times: expected one <${found.local}> with an element <${item.local}> for each item`,
      `one <${found.local}> with all items`,
    );
    const { text } = this.#draft;
    const declared = ` xmlns="${item.namespace}"`;
    const items = all.map(
      ({ opened, closing }) => `<${item.local}${declared}>${text.slice(opened, closing)}</${item.local}>`,
    );
    const edits = all.slice(1).map(({ start, end }) => ({ start, end, text: '' }));
    this.#draft.replaceAll([...edits, { start: first.opened, end: first.closing, text: items.join('') }]);
    this.isRestarted = true;
    return true;
  }

  /** Reports members in the wrong order and sorts them by the schema. */
  #order(parent: TreeElement, at: TreeElement, view: Extract<View, { kind: 'elements' }>): void {
    const indexOf = ({ local }: TreeElement): number => view.children.findIndex((one) => one.local === local);
    if (parent.children.some((child) => indexOf(child) < 0)) return;
    const ordered = parent.children.toSorted((one, other) => indexOf(one) - indexOf(other));
    const names = view.children
      .filter(({ local }) => parent.children.some((child) => child.local === local))
      .slice(0, 12)
      .map(({ local }) => local);
    this.#draft.note(
      at.start,
      'warning',
      `<${at.local}> is out of order in <${parent.local}>: the schema is a sequence, ${names.join(', ')}. This service accepts any order, strict services do not`,
      'the order of the schema',
    );
    const { text } = this.#draft;
    const pieces = parent.children.map((child, index) => {
      const by = ordered[index] ?? child;
      return { start: child.start, end: child.end, text: text.slice(by.start, by.end), movedFrom: by.start };
    });
    this.#draft.replaceAll(pieces);
    this.isRestarted = true;
  }

  #missing(
    element: TreeElement,
    { children }: Extract<View, { kind: 'elements' }>,
    seen: ReadonlyMap<ChildView, TreeElement>,
  ): void {
    for (const [index, child] of children.entries()) {
      if (!child.required || seen.has(child)) continue;
      this.#draft.error(
        element.start,
        `<${child.local}> is missing in <${element.local}>: it is required`,
        'a sample value; replace it with yours',
      );
      const made = `<${child.local} xmlns="${child.namespace}">${this.#options.placeholder(child)}</${child.local}>`;
      if (element.isEmptyTag) {
        const name = element.prefix === '' ? element.local : `${element.prefix}:${element.local}`;
        this.edits.push({ start: element.opened - 2, end: element.opened, text: `>${made}</${name}>` });
        return; // the next pass adds the others
      }
      const before = children
        .slice(0, index)
        .toReversed()
        .flatMap((one) => seen.get(one) ?? [])[0];
      const place = before?.end ?? element.opened;
      this.edits.push({ start: place, end: place, text: made });
    }
  }
}
