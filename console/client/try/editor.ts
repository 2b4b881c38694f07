import { autocompletion, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json, jsonParseLinter } from '@codemirror/lang-json';
import { type ElementSpec, xml } from '@codemirror/lang-xml';
import { HighlightStyle, syntaxHighlighting, syntaxTree } from '@codemirror/language';
import { type Diagnostic, linter, lintGutter, lintKeymap } from '@codemirror/lint';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';

/** An editable message text. */
export interface MessageEditor {
  readonly text: () => string;
  /** Shows another message without calling `onEdit`. */
  readonly show: (text: string, language: 'xml' | 'json') => void;
}

/** A position of an error in a text. Lines and columns count from 1. */
export interface Mark {
  readonly line: number;
  readonly column: number;
  readonly why: string;
  readonly severity: 'error' | 'warning';
}

export interface EditorOptions {
  /** Label for screen readers. */
  readonly label: string;
  /** Elements that completion suggests. */
  readonly elements: readonly ElementSpec[];
  readonly onEdit: (text: string) => void;
  /** Returns the problems of a text; called after each change. */
  readonly check: (text: string, language: 'xml' | 'json') => Promise<readonly Mark[]>;
}

const colours = HighlightStyle.define([
  { tag: tags.tagName, color: 'var(--link)' },
  { tag: [tags.attributeName, tags.propertyName], color: 'var(--link)' },
  { tag: [tags.attributeValue, tags.string, tags.number, tags.bool], color: 'var(--good)' },
  { tag: [tags.comment, tags.meta, tags.processingInstruction], color: 'var(--dim)' },
]);

const theme = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'var(--back)', fontSize: '14px', maxHeight: '28rem' },
  '&.cm-focused': { outline: '3px solid var(--mark)', outlineOffset: '-3px' },
  '.cm-scroller': { fontFamily: 'ui-monospace, "DejaVu Sans Mono", monospace', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': {
    color: 'var(--dim)',
    backgroundColor: 'var(--soft)',
    borderRight: '1px solid var(--line)',
  },
  // the package's own pictures are data: URLs, which the pages' policy forbids
  '.cm-lint-marker-error': { content: '"✕"', color: 'var(--bad)' },
  '.cm-lint-marker-warning': { content: '"!"', color: 'var(--warn)' },
  '.cm-lintRange-error': { backgroundImage: 'none', textDecoration: 'underline wavy var(--bad)' },
  '.cm-lintRange-warning': { backgroundImage: 'none', textDecoration: 'underline wavy var(--warn)' },
  '.cm-tooltip': { color: 'var(--text)', backgroundColor: 'var(--soft)', border: '1px solid var(--line)' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    color: 'var(--on-mark)',
    backgroundColor: 'var(--mark)',
  },
});

/**
 * Replaces a selection itself. Otherwise Chromium keeps the look of the replaced text in an inline style, which the
 * pages' policy rejects with a console error.
 */
const replaceBySelf = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    const { data, inputType } = event;
    if (inputType !== 'insertText' || data === null) return false;
    // the browser's selection, since the editor's is updated later; in a shadow tree, `getTargetRanges` returns nothing
    const root = view.root as (Document | ShadowRoot) & { getSelection?: () => Selection | null };
    const selected = root.getSelection?.();
    if (!selected?.anchorNode || !selected.focusNode || selected.isCollapsed) return false;
    const ends = [
      view.posAtDOM(selected.anchorNode, selected.anchorOffset),
      view.posAtDOM(selected.focusNode, selected.focusOffset),
    ];
    const from = Math.min(...ends);
    const to = Math.max(...ends);
    event.preventDefault();
    const insert = view.state.toText(data);
    const selection = { anchor: from + insert.length };
    view.dispatch({ changes: { from, to, insert }, selection, userEvent: 'input.type' });
    return true;
  },
});

/** Returns tags that do not match, as the editor's parser finds them. */
function mismatchedTags({ state }: EditorView): Diagnostic[] {
  const found: Diagnostic[] = [];
  syntaxTree(state).iterate({
    enter: ({ type, from, to }) => {
      if (!type.isError && !/^(?:Mismatched|Missing)CloseTag$/.test(type.name)) return;
      if (found.length < 20) found.push({ from, to, severity: 'error', message: '< … >' });
    },
  });
  return found;
}

/** Returns an extension that marks errors: those of the editor's JSON parser, else those of `check`, else mismatched tags. */
function marksOf(check: EditorOptions['check'], languageNow: () => 'xml' | 'json'): Extension {
  const jsonLint = jsonParseLinter();
  return linter(
    async (view): Promise<Diagnostic[]> => {
      const { doc } = view.state;
      if (languageNow() === 'json' && doc.length > 0) {
        const found = jsonLint(view);
        if (found.length > 0) return found;
      }
      const marks = await check(doc.toString(), languageNow());
      const diagnostics = marks.map(({ line, column, why, severity }): Diagnostic => {
        const at = doc.line(Math.min(Math.max(line, 1), doc.lines));
        const from = Math.min(at.from + Math.max(column - 1, 0), at.to);
        return { from, to: at.to, severity, message: why };
      });
      return diagnostics.length > 0 || languageNow() === 'json' ? diagnostics : mismatchedTags(view);
    },
    { delay: 400 },
  );
}

/**
 * Creates an editor below a node. It uses a shadow tree with its own style sheets, because in the document it would
 * need inline styles, which the pages' policy forbids.
 */
export function createEditor(
  below: HTMLElement,
  text: string,
  language: 'xml' | 'json',
  options: EditorOptions,
): MessageEditor {
  const { label, elements, onEdit, check } = options;
  const root = below.attachShadow({ mode: 'open' });
  const languageSlot = new Compartment();
  let current = language;
  let isShowing = false;
  const support = (of: 'xml' | 'json') => (of === 'xml' ? xml({ elements }) : json());
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        history(),
        languageSlot.of(support(language)),
        syntaxHighlighting(colours),
        autocompletion(),
        marksOf(check, () => current),
        lintGutter(),
        keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap, ...lintKeymap]),
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
        replaceBySelf,
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !isShowing) onEdit(update.state.doc.toString());
        }),
        theme,
      ],
    }),
  });
  return {
    text: () => view.state.doc.toString(),
    show: (next, nextLanguage) => {
      isShowing = true;
      const effects = nextLanguage === current ? [] : [languageSlot.reconfigure(support(nextLanguage))];
      current = nextLanguage;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next }, effects });
      isShowing = false;
    },
  };
}
