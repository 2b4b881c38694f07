import { instantFromXml } from '../codec/scalars/dates.ts';
import { quoteElement } from '../contract/reason.ts';
import { canonicalize } from './canonical.ts';
import { names } from './names.ts';
import { invalid, unsupportedToken } from './problem.ts';
import type { Tree, TreeElement } from './tree.ts';

const [saml2, saml1] = names.saml;

/** Maximum number of confirmations of an Assertion. */
export const maxConfirmations = 4;

/** The methods by which the sender of a message shows that an Assertion is about it. */
export type ConfirmationMethod = 'holder-of-key' | 'sender-vouches' | 'bearer';

/** A time window. Both ends are in ms since 1970; undefined for an open end. */
export interface Window {
  readonly from: number | undefined;
  /** The first time at which it is over. */
  readonly until: number | undefined;
}

/** One confirmation of an Assertion. */
export interface Confirmation {
  /** Undefined for a method that is not known. */
  readonly method: ConfirmationMethod | undefined;
  readonly window: Window;
  readonly recipient: string | undefined;
  /** The KeyInfo elements with the keys of the holder. */
  readonly keys: readonly TreeElement[];
}

/** The content of an Assertion. */
export interface Assertion {
  readonly issuer: string;
  /** The value of ID or AssertionID. */
  readonly id: string;
  readonly nameId: string | undefined;
  /** Values of attributes by name; undefined for a value with elements. */
  readonly attributes: ReadonlyMap<string, readonly (string | undefined)[]>;
  readonly confirmations: readonly Confirmation[];
  readonly window: Window;
  /** One list per restriction. Each restriction must name the audience. */
  readonly audiences: readonly (readonly string[])[];
  /** True for an Assertion that is accepted once only. */
  readonly isOneTime: boolean;
}

/** Returns true for a SAML Assertion of version 2.0 or 1.1. */
export function isAssertion(element: TreeElement): boolean {
  return element.local === 'Assertion' && (element.namespace === saml2 || element.namespace === saml1);
}

/** Returns the issuer that an Assertion names. Throws SecurityProblem. */
export function issuerOf(element: TreeElement): string {
  const issuer =
    element.namespace === saml2 ? textOf(only(element, 'Issuer')) : element.attribute('', 'Issuer');
  if (issuer === undefined || issuer === '')
    return invalid({ expected: 'one Issuer in Assertion', got: 'none' }, 'assertion');
  return issuer;
}

/** Reads an Assertion from a document of its verified octets. Throws SecurityProblem. */
export function readAssertion(tree: Tree): Assertion {
  const { root } = tree;
  const is2 = root.namespace === saml2;
  const version = is2
    ? root.attribute('', 'Version')
    : `${root.attribute('', 'MajorVersion')}.${root.attribute('', 'MinorVersion')}`;
  if (version !== (is2 ? '2.0' : '1.1'))
    unsupportedToken('the version of the Assertion is not supported. Send SAML 2.0 or 1.1');
  const subject = is2 ? only(root, 'Subject') : commonSubject(tree);
  if (subject !== undefined && childrenOf(subject, 'EncryptedID').length > 0)
    unsupportedToken('EncryptedID in Subject is not supported. Send a NameID');
  const nameId = subject && only(subject, is2 ? 'NameID' : 'NameIdentifier');
  return {
    issuer: issuerOf(root),
    id: root.attribute('', is2 ? 'ID' : 'AssertionID') ?? '',
    nameId: textOf(nameId) || undefined,
    attributes: attributesIn(root, is2 ? 'Name' : 'AttributeName'),
    confirmations: subject === undefined ? [] : confirmationsOf(subject, is2),
    ...conditionsOf(only(root, 'Conditions')),
  };
}

/** Returns the value for a credential: the name, or the only value of an attribute. Undefined for none or several. */
export function valueFrom({ nameId, attributes }: Assertion, from: string): string | undefined {
  if (from === 'nameId') return nameId;
  const [value, ...others] = attributes.get(from) ?? [];
  return others.length > 0 ? undefined : value || undefined;
}

function childrenOf(element: TreeElement, local: string): readonly TreeElement[] {
  return element.children.filter((child) => child.is(element.namespace, local));
}

/** Returns the only child of a name; undefined for none. Throws SecurityProblem for several. */
function only(element: TreeElement, local: string): TreeElement | undefined {
  const [child, ...others] = childrenOf(element, local);
  if (others.length > 0)
    invalid({ expected: `at most one ${local} in ${element.local}`, got: 'several' }, 'assertion');
  return child;
}

/** Returns the text of an element without outer blanks; undefined for an element with elements. */
function textOf(element: TreeElement | undefined): string | undefined {
  return element === undefined || element.children.length > 0 ? undefined : element.text.trim();
}

/** Returns the Subject of all statements of SAML 1.1. Throws SecurityProblem for different subjects. */
function commonSubject(tree: Tree): TreeElement | undefined {
  const subjects = tree.root.children.flatMap((statement) => childrenOf(statement, 'Subject'));
  const form = { kind: 'exclusive', prefixes: new Set<string>() } as const;
  const budget = { left: Number.POSITIVE_INFINITY };
  const [first, ...others] = subjects.map((one) => canonicalize(tree, one, form, budget));
  if (others.some((other) => other !== first))
    invalid({ expected: 'the same Subject in all statements of Assertion', got: 'another' }, 'assertion');
  return subjects[0];
}

function confirmationsOf(subject: TreeElement, is2: boolean): readonly Confirmation[] {
  const all = childrenOf(subject, 'SubjectConfirmation').flatMap((element) =>
    is2 ? [confirmation2(element)] : confirmations1(element),
  );
  if (all.length > maxConfirmations)
    invalid({ detail: `more than ${maxConfirmations} confirmations in Assertion` }, 'limit');
  return all;
}

function confirmation2(element: TreeElement): Confirmation {
  const data = only(element, 'SubjectConfirmationData');
  return {
    method: methodOf(element.attribute('', 'Method'), '2.0'),
    window: data === undefined ? always : windowOf(data),
    recipient: data?.attribute('', 'Recipient'),
    keys: data === undefined ? [] : keysIn(data),
  };
}

function confirmations1(element: TreeElement): readonly Confirmation[] {
  const keys = keysIn(element);
  return childrenOf(element, 'ConfirmationMethod').map((method) => ({
    method: methodOf(textOf(method), '1.0'),
    window: always,
    recipient: undefined,
    keys,
  }));
}

function keysIn(element: TreeElement): readonly TreeElement[] {
  const keys = element.children.filter((child) => child.is(names.ds, 'KeyInfo'));
  if (keys.length > maxConfirmations)
    invalid({ detail: `more than ${maxConfirmations} keys in ${element.local}` }, 'limit');
  return keys;
}

function methodOf(uri: string | undefined, version: '2.0' | '1.0'): ConfirmationMethod | undefined {
  const methods = ['holder-of-key', 'sender-vouches', 'bearer'] as const;
  return methods.find((method) => uri === `urn:oasis:names:tc:SAML:${version}:cm:${method}`);
}

const always: Window = { from: undefined, until: undefined };

function windowOf(element: TreeElement): Window {
  const timeOf = (name: string): number | undefined => {
    const text = element.attribute('', name);
    if (text === undefined) return undefined;
    const time = instantFromXml(text);
    if (time === undefined)
      return invalid(
        { expected: `an xs:dateTime in ${name} of ${element.local}`, got: 'other text' },
        'assertion',
      );
    return time;
  };
  return { from: timeOf('NotBefore'), until: timeOf('NotOnOrAfter') };
}

/** Conditions that have no effect on the receiver of a message. */
const withoutEffect = 'ProxyRestriction';

function conditionsOf(
  conditions: TreeElement | undefined,
): Pick<Assertion, 'window' | 'audiences' | 'isOneTime'> {
  const audiences: string[][] = [];
  let isOneTime = false;
  for (const child of conditions?.children ?? []) {
    const isOfSaml = child.namespace === conditions?.namespace;
    const [restriction, once] =
      child.namespace === saml2
        ? ['AudienceRestriction', 'OneTimeUse']
        : ['AudienceRestrictionCondition', 'DoNotCacheCondition'];
    if (isOfSaml && child.local === restriction)
      audiences.push(childrenOf(child, 'Audience').map((one) => textOf(one) ?? ''));
    else if (isOfSaml && child.local === once) isOneTime = true;
    else if (!isOfSaml || child.local !== withoutEffect)
      unsupportedToken(`the condition ${quoteElement(child.local).text} of the Assertion is not supported`);
  }
  return { window: conditions === undefined ? always : windowOf(conditions), audiences, isOneTime };
}

function attributesIn(root: TreeElement, nameAttribute: string): Assertion['attributes'] {
  const attributes = new Map<string, (string | undefined)[]>();
  for (const statement of childrenOf(root, 'AttributeStatement'))
    for (const element of childrenOf(statement, 'Attribute')) {
      const name = element.attribute('', nameAttribute);
      const values = childrenOf(element, 'AttributeValue').map(textOf);
      if (name === undefined) continue;
      const known = attributes.get(name);
      if (known === undefined) attributes.set(name, values);
      else known.push(...values);
    }
  return attributes;
}
