import { placeholderOf } from '../../wsdl/samples/placeholders.ts';
import type { Draft, Edit } from './draft.ts';
import type { Known } from './known.ts';
import { gapsIn, type TreeAttribute, type TreeElement } from './tree.ts';

/** Replaces credentials in a corrected message by placeholders. */

/** Elements of WS-Security with secret text. */
const securitySecrets = new Set([
  'Password',
  'Nonce',
  'BinarySecurityToken',
  'Username',
  'CipherValue',
  'SignatureValue',
]);

/** Returns true if an element's text is a credential. */
export function isSecret(known: Known, { local }: TreeElement): boolean {
  return securitySecrets.has(local) || isSecretName(known, local);
}

/** Returns true if an element or attribute with this name is a credential. */
function isSecretName({ compiled }: Known, local: string): boolean {
  const parts = compiled.contract.credentials?.parts ?? [];
  const fold = local.toLowerCase();
  if (/pass(?:word|wd|phrase)?$|secret$|api_?key$|token$/.test(fold)) return true;
  return parts.some(
    ({ xml, moved }) => xml.toLowerCase() === fold || moved?.path.at(-1)?.toLowerCase() === fold,
  );
}

export function hideSecrets(known: Known, draft: Draft): void {
  const member = known.compiled.contract.credentials?.member?.toLowerCase();
  const edits: Edit[] = [];
  const walk = (element: TreeElement, around: boolean): void => {
    const { children, opened, closing, local } = element;
    const holds = around || local.toLowerCase() === member;
    for (const attribute of element.attributes) {
      const isOwn = holds && attribute.namespace === '';
      if (isOwn || isSecretName(known, attribute.local)) edits.push(hiddenAttribute(attribute));
    }
    const isHidden = holds || isSecret(known, element);
    const hasText = draft.text.slice(opened, closing).trim() !== '';
    if (isHidden && hasText && children.length === 0 && local.toLowerCase() !== member)
      edits.push({ start: opened, end: closing, text: placeholderOf(local) });
    else if (isHidden) edits.push(...textsBetween(element, draft.text));
    for (const child of children) walk(child, isHidden);
  };
  const root = draft.root;
  if (root !== undefined) walk(root, false);
  draft.replaceAll(edits);
  // A comment may contain a credential that was commented out.
  draft.replaceAll(
    commentsOf(draft.text).filter(({ start, end }) => draft.text.slice(start + 1, end).includes('<')),
  );
}

function hiddenAttribute({ name, local, start, end }: TreeAttribute): Edit {
  return { start, end, text: `${name}="${placeholderOf(local)}"` };
}

/** Returns edits that remove text around the children of an element. */
function textsBetween(element: TreeElement, text: string): Edit[] {
  const gaps = gapsIn(element).filter(({ start, end }) => text.slice(start, end).trim() !== '');
  return gaps.map((gap) => ({ ...gap, text: '' }));
}

/** Returns edits that remove the comments of a well-formed document. */
function commentsOf(text: string): Edit[] {
  const edits: Edit[] = [];
  for (let at = text.indexOf('<!'); at >= 0; at = text.indexOf('<!', at)) {
    const isComment = text.startsWith('<!--', at);
    const close = isComment ? '-->' : ']]>';
    const found = text.indexOf(close, at + 4);
    const end = found < 0 ? text.length : found + 3;
    if (isComment) edits.push({ start: at, end, text: '' });
    at = end;
  }
  return edits;
}
