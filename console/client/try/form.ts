import { html } from 'htm/preact';
import { render } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks';
import type {
  Explanation,
  FormDescription,
  RequestDescription,
  TypeDescription,
  TypeRef,
} from '../../description.ts';
import { addCopyButtons } from '../copy.ts';
import type { Mark, MessageEditor } from './editor.ts';
import { type Answer, callOf, type OutgoingCall, sendCall } from './exchange.ts';
import { memberFields } from './fields.ts';
import { indentReply } from './indent-reply.ts';
import { keepCredentials, keptCredentials } from './kept-credentials.ts';
import { messageOf } from './message.ts';
import { type Member, membersOf, readPayload } from './model.ts';

type Say = (key: string, values?: Readonly<Record<string, string>>) => string;

type Format = RequestDescription['format'];

const formatNames = { soap11: 'SOAP 1.1', soap12: 'SOAP 1.2', xml: 'XML', json: 'JSON' } as const;

/** Replaces the button by the form. Throws an Error if the description of the operation cannot be loaded. */
export async function openForm(place: HTMLElement, texts: Readonly<Record<string, string>>): Promise<void> {
  const { describe = '', base = '', explain = '', preview = '' } = place.dataset;
  const reply = await fetch(describe);
  if (!reply.ok) throw new Error(`HTTP ${reply.status}`);
  const description: FormDescription = await reply.json();
  const say: Say = (key, values = {}) =>
    (texts[key] ?? key).replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
  place.replaceChildren();
  render(
    html`<${TryForm} description=${description} say=${say} base=${base} explain=${explain} preview=${preview} />`,
    place,
  );
  place.querySelector<HTMLElement>('select, input')?.focus();
}

interface FormProps {
  readonly description: FormDescription;
  readonly say: Say;
  /** Relative path from the page to the contract's base path. */
  readonly base: string;
  /** Address that checks a message. */
  readonly explain: string;
  /** Address that previews the upstream call; empty if previews are disabled. */
  readonly preview: string;
}

/** A sent request and its result. */
interface Exchange {
  readonly call: OutgoingCall;
  readonly answer?: Answer;
  readonly failure?: string;
  readonly upstream?: string;
}

/** The form of one operation. */
function TryForm({ description, say, base, explain, preview }: FormProps): unknown {
  const { operation } = description;
  const [isRequiredOnly, setRequiredOnly] = useState(false);
  const requests = isRequiredOnly ? description.requiredRequests : description.requests;
  const [format, setFormat] = useState(requests[0]?.format ?? 'soap11');
  const request = requests.find((each) => each.format === format) ?? requests[0];
  const members = useMemo(() => initialMembers(description, requests), [description, requests]);
  const [, changed] = useReducer((count: number) => count + 1, 0);
  const [edited, setEdited] = useState<string | undefined>(undefined);
  const credentials = useCredentials(base);
  const [exchange, setExchange] = useState<Exchange | undefined>(undefined);
  const [isSending, setSending] = useState(false);
  const result = useResult(exchange);
  if (request === undefined) return undefined;
  const language = format === 'json' ? 'json' : 'xml';
  const message = edited ?? messageOf(description, request, members);
  const check: Check = async (text, of) =>
    of === 'xml' && format.startsWith('soap') ? explained(explain, request, text) : [];
  const hasForm = format !== 'json' && !description.isAdopted;
  const fields = { form: description, say, changed: () => changed(undefined as never) };

  const send = async (event: Event): Promise<void> => {
    event.preventDefault();
    const call = callOf(description, request, message, credentials.values, base);
    setSending(true);
    try {
      const upstream = preview === '' ? undefined : await previewOf(preview, operation.name, format, call);
      setExchange({ call, answer: await sendCall(call), ...(upstream !== undefined && { upstream }) });
    } catch (error) {
      setExchange({ call, failure: error instanceof Error ? error.message : String(error) });
    } finally {
      setSending(false);
    }
  };
  const onFormat = (next: Format): void => {
    setEdited(undefined);
    setFormat(next);
  };
  const onRequired = (isChecked: boolean): void => {
    setEdited(undefined);
    setRequiredOnly(isChecked);
  };

  return html`<form class="form" onSubmit=${send} autocomplete="off">
    ${formatField(requests, format, onFormat, say)}
    ${description.credentials.length > 0 && credentialFields(description, credentials, say)}
    ${checkbox('try-required', isRequiredOnly, onRequired, say('try.required'))}
    ${hasForm && edited === undefined && html`<fieldset><legend>${say('try.form')}</legend>${memberFields(fields, members, '')}</fieldset>`}
    ${edited !== undefined && html`<p class="status">${say('try.edited')}${' '}<button type="button" onClick=${() => setEdited(undefined)}>${say('try.reset')}</button></p>`}
    <div class="field">
      <div><strong>${say('try.message')}</strong></div>
      <${Editor} text=${message} follows=${edited === undefined} language=${language} description=${description} label=${say('try.message')} check=${check} onEdit=${setEdited} />
    </div>
    <div><button class="main" type="submit" disabled=${isSending}>${isSending ? say('try.sending') : say('try.send')}</button></div>
    <div ref=${result} aria-live="polite">${exchange !== undefined && exchangeView(exchange, description, say)}</div>
  </form>`;
}

/** Credentials that the user typed, and the choice to keep them in the browser. */
interface Credentials {
  readonly values: Readonly<Record<string, string>>;
  readonly setValues: (values: Readonly<Record<string, string>>) => void;
  readonly isKept: boolean;
  readonly setKept: (isKept: boolean) => void;
}

function useCredentials(base: string): Credentials {
  const kept = useMemo(() => keptCredentials(base), [base]);
  const [values, setValues] = useState(kept ?? {});
  const [isKept, setKept] = useState(kept !== undefined);
  // before the next paint, because a visitor may leave the page at once
  useLayoutEffect(() => keepCredentials(base, isKept ? values : undefined), [base, isKept, values]);
  return { values, setValues, isKept, setKept };
}

/** Returns the reference of the element with the exchange, which is scrolled to and focused for each new exchange. */
function useResult(exchange: Exchange | undefined): { readonly current: HTMLDivElement | null } {
  const result = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (result.current !== null) addCopyButtons(result.current, document.documentElement.lang);
  });
  useEffect(() => {
    const heading = result.current?.querySelector<HTMLElement>('h3');
    heading?.scrollIntoView({ block: 'start' });
    heading?.focus({ preventScroll: true });
  }, [exchange]);
  return result;
}

function formatField(
  requests: readonly RequestDescription[],
  format: Format,
  onFormat: (format: Format) => void,
  say: Say,
): unknown {
  return html`<div class="field">
    <label for="try-format">${say('try.format')}</label>
    <select id="try-format" value=${format} onChange=${(event: Event) => onFormat((event.target as HTMLSelectElement).value as Format)}>
      ${requests.map((each) => html`<option value=${each.format} selected=${each.format === format}>${formatNames[each.format]}</option>`)}
    </select>
  </div>`;
}

function credentialFields(
  { credentials }: FormDescription,
  { values, setValues, isKept, setKept }: Credentials,
  say: Say,
): unknown {
  return html`<fieldset>
    <legend>${say('try.credentials')}</legend>
    ${credentials.map(
      ({ header, secret, required }) => html`<div class="field">
        <label for=${`c-${header}`}><code>${header}</code>
          ${required && html` <span class="badge required">*</span>`}</label>
        <input
          id=${`c-${header}`}
          type=${secret ? 'password' : 'text'}
          autocomplete="off"
          spellcheck=${false}
          value=${values[header] ?? ''}
          onInput=${(event: Event) => setValues({ ...values, [header]: (event.target as HTMLInputElement).value })}
        />
      </div>`,
    )}
    ${checkbox('try-keep', isKept, setKept, say('try.keep'))}
  </fieldset>`;
}

function checkbox(
  id: string,
  isChecked: boolean,
  onChange: (isChecked: boolean) => void,
  label: string,
): unknown {
  return html`<div class="line">
    <input id=${id} type="checkbox" checked=${isChecked} onChange=${(event: Event) => onChange((event.target as HTMLInputElement).checked)} />
    <label for=${id}>${label}</label>
  </div>`;
}

/** Returns the form's members with the sample's values. Credentials are sent as headers, so their member is absent. */
function initialMembers(description: FormDescription, requests: readonly RequestDescription[]): Member[] {
  const { operation, credentialsMember } = description;
  const members = membersOf(operation.input.filter(({ json }) => json !== credentialsMember));
  const sample = requests.find(({ format }) => format === 'xml');
  if (sample === undefined || description.isAdopted) return members;
  const { documentElement } = new DOMParser().parseFromString(sample.text, 'application/xml');
  readPayload(description, members, documentElement);
  return members;
}

type Check = (text: string, language: 'xml' | 'json') => Promise<readonly Mark[]>;

interface EditorProps {
  readonly text: string;
  /** True if the editor follows changes of `text`. An edited text must not be written back, since it arrives late. */
  readonly follows: boolean;
  readonly language: 'xml' | 'json';
  readonly description: FormDescription;
  readonly label: string;
  readonly check: Check;
  readonly onEdit: (text: string) => void;
}

/** The message editor. CodeMirror is only loaded with the form. */
function Editor({ text, follows, language, description, label, check, onEdit }: EditorProps): unknown {
  const place = useRef<HTMLDivElement>(null);
  const editor = useRef<MessageEditor | undefined>(undefined);
  const checkNow = useRef(check); // the editor is created once, but the check depends on the format
  checkNow.current = check;
  useEffect(() => {
    let isGone = false;
    void import('./editor.ts').then(({ createEditor }) => {
      if (isGone || place.current === null || editor.current !== undefined) return;
      const elements = completionsOf(description);
      editor.current = createEditor(place.current, text, language, {
        label,
        elements,
        onEdit,
        check: (message, of) => checkNow.current(message, of),
      });
    });
    return () => {
      isGone = true;
    };
  }, []);
  useEffect(() => {
    if (follows && editor.current !== undefined && editor.current.text() !== text)
      editor.current.show(text, language);
  }, [text, follows, language]);
  return html`<div class="editor" ref=${place}></div>`;
}

/** Returns the problems that the gateway finds in a message; empty if the gateway cannot be reached. */
async function explained(
  address: string,
  request: RequestDescription,
  text: string,
): Promise<readonly Mark[]> {
  const reply = await fetch(address, {
    method: 'POST',
    headers: { 'Content-Type': request.contentType, ...request.headers },
    body: text,
    credentials: 'omit',
    cache: 'no-store',
  }).catch(() => undefined); // sending the call reports an unreachable gateway
  if (reply?.ok !== true) return [];
  const { findings }: Explanation = await reply.json();
  return findings.flatMap(({ at, message, severity }) =>
    at === undefined ? [] : [{ line: at.line, column: at.column, why: message, severity }],
  );
}

/** Returns the elements for completion, with their child elements. */
function completionsOf({
  operation,
  types,
  isAdopted,
  elements: known,
  requests,
}: FormDescription): { name: string; children?: string[]; textContent?: string[]; top?: boolean }[] {
  if (isAdopted) {
    const nameOf = prefixing(requests.map(({ text }) => text).join(''));
    return known.map(({ name, children, values }, at) => ({
      name: nameOf(name),
      children: children.map(nameOf),
      textContent: [...values],
      top: at === 0,
    }));
  }
  const elements = new Map<string, { name: string; children: string[]; textContent: string[] }>();
  const add = (xml: string, type: TypeRef | undefined): void => {
    const named = type !== undefined && 'type' in type ? types[type.type] : undefined;
    const known = elements.get(xml) ?? { name: xml, children: [], textContent: [] };
    known.children.push(...childrenOf(named));
    if (named?.kind === 'enum') known.textContent.push(...named.values);
    elements.set(xml, known);
  };
  for (const { xml, type } of operation.input) add(xml, type);
  for (const type of Object.values(types)) for (const [xml, of] of partsOf(type)) add(xml, of);
  const top = operation.input.map(({ xml }) => xml);
  return [{ name: operation.name, children: top, top: true }, ...elements.values()];
}

/** Returns a function that turns `{namespace}local` into a prefixed name, using the prefixes declared in a text. */
function prefixing(text: string): (name: string) => string {
  const prefixes = new Map(
    [...text.matchAll(/xmlns:(\w+)="([^"]*)"/g)].map(([, prefix, namespace]) => [namespace, prefix] as const),
  );
  return (name) => {
    const end = name.lastIndexOf('}');
    const prefix = prefixes.get(name.slice(1, end));
    return `${prefix === undefined ? '' : `${prefix}:`}${name.slice(end + 1)}`;
  };
}

function childrenOf(type: TypeDescription | undefined): string[] {
  return type === undefined ? [] : partsOf(type).map(([xml]) => xml);
}

function partsOf(type: TypeDescription): [string, TypeRef | undefined][] {
  switch (type.kind) {
    case 'record':
      return type.members.map(({ xml, type: of }) => [xml, of]);
    case 'union':
      return type.variants.map(({ xml, type: of }) => [xml, of]);
    case 'tuple':
      return type.positions.map(({ xml, type: of }) => [xml, of]);
    case 'array':
      return [[type.itemName, type.item]];
    case 'map':
      return [[type.entryName, undefined]];
    case 'enum':
      return [];
  }
}

/** Returns the gateway's preview of the upstream call, or the reason why there is none. */
async function previewOf(
  address: string,
  operation: string,
  format: string,
  call: OutgoingCall,
): Promise<string> {
  const reply = await fetch(address, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ operation, format, headers: call.headers, body: call.body }),
    credentials: 'omit',
    cache: 'no-store',
  });
  return reply.text();
}

/** Shows the request and the response with headers and duration. Secret credentials are masked. */
function exchangeView(
  { call, answer, failure, upstream }: Exchange,
  { credentials }: FormDescription,
  say: Say,
): unknown {
  const secrets = new Set(credentials.filter(({ secret }) => secret).map(({ header }) => header));
  const sent = Object.entries(call.headers).map(
    ([name, value]) => `${name}: ${secrets.has(name) ? '***' : value}`,
  );
  const path = new URL(call.url, document.baseURI).pathname;
  return html`
    <h3 tabindex="-1">${say('try.received')}</h3>
    ${failure !== undefined && html`<p class="status bad">${say('try.away', { why: failure })}</p>`}
    ${answer !== undefined && answerView(answer, say)}
    ${upstream !== undefined && html`<h3>${say('try.upstream')}</h3>${block(upstream, say('try.upstream'))}`}
    <h3>${say('try.sent')}</h3>
    ${block(`POST ${path}\n${sent.join('\n')}\n\n${call.shown}`, say('try.sent'))}
  `;
}

/** Shows a response, including the intended status if it differs from the HTTP status. */
function answerView({ status, headers, body, ms }: Answer, say: Say): unknown {
  const meant = headers.find(([name]) => name === 'x-status')?.[1];
  const contentType = headers.find(([name]) => name === 'content-type')?.[1] ?? '';
  const isGood = status.startsWith('HTTP 2') && meant === undefined;
  const head = headers.map(([name, value]) => `${name}: ${value}`).join('\n');
  return html`<p class=${`status ${isGood ? 'good' : 'bad'}`}>
      ${status}${meant === undefined ? '' : ` · X-Status ${meant}`} · ${say('try.time', { ms: String(ms) })}
    </p>
    ${block(`${head}\n\n${indentReply(body, contentType)}`, say('try.received'))}`;
}

function block(text: string, label: string): unknown {
  return html`<div class="code"><pre class="message" tabindex="0" role="group" aria-label=${label}><code>${text}</code></pre></div>`;
}
