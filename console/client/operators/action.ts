import { commandOf } from '../../command.ts';
import { call, failureText, type Result } from './call.ts';
import { leaveNotice } from './session.ts';

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** Makes a form send its call. The command below it follows the fields. */
export function prepareAction(form: HTMLFormElement): void {
  const button = form.querySelector<HTMLButtonElement>('button[type=submit]');
  if (button === null) return;
  button.disabled = form.dataset.permitted === undefined;
  restoreDraft(form);
  const showCommand = (): void => {
    const code = form.querySelector('.command code');
    const { method = 'POST', path = '', origin = '' } = form.dataset;
    if (code !== null) code.textContent = commandOf(method, origin + path, bodyOf(form));
  };
  form.addEventListener('input', showCommand);
  if (controlsOf(form).some((control) => control.type !== 'hidden' && control.value !== '')) showCommand();
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    button.disabled = true;
    await send(form);
    button.disabled = false;
  });
}

async function send(form: HTMLFormElement): Promise<void> {
  const { method = 'POST', path = '', done = '', stays } = form.dataset;
  showOutcome(form, '', 'good');
  const result = await call(method, path, controlsOf(form).length === 0 ? undefined : bodyOf(form));
  if (!result.ok) {
    showFailure(form, result);
    return;
  }
  const text = done.replace(/\{(\w+)\}/g, (_, name: string) => String(result.json[name] ?? ''));
  showOutcome(form, text, 'good');
  if (stays !== undefined) return;
  leaveNotice(text);
  const query = new URLSearchParams(location.search);
  for (const name of ['mode', 'percent', 'answer', 'until']) query.delete(name); // of the route before and after
  location.assign(`${location.pathname}?${query}`);
}

function showFailure(form: HTMLFormElement, result: Exclude<Result, { ok: true }>): void {
  showOutcome(form, failureText(result), 'bad');
  const wrong = new Set(result.problem.problems?.map(({ pointer }) => pointer.slice(1)));
  const controls = controlsOf(form);
  for (const control of controls) control.setAttribute('aria-invalid', String(wrong.has(control.name)));
  controls.find(({ name }) => wrong.has(name))?.focus();
  if (result.status !== 401) return;
  keepDraft(form);
  const link = document.createElement('a');
  link.href = `/sign-in?next=${encodeURIComponent(`${location.pathname}${location.search}#${form.id}`)}`;
  link.textContent = 'Sign in again. The console keeps the text of this form.';
  form.querySelector('.outcome')?.append(' ', link);
}

function showOutcome(form: HTMLFormElement, text: string, kind: 'good' | 'bad'): void {
  const outcome = form.querySelector<HTMLElement>('.outcome');
  if (outcome === null) return;
  outcome.textContent = text;
  outcome.className = `outcome status ${kind}`;
}

function controlsOf(form: HTMLFormElement): readonly Control[] {
  return [...form.querySelectorAll<Control>('input[name], select[name], textarea[name]')];
}

/** Returns the JSON body. A field that is optional and empty is no member. */
function bodyOf(form: HTMLFormElement): Readonly<Record<string, unknown>> {
  const body: Record<string, unknown> = {};
  for (const control of controlsOf(form)) {
    const { type, optional } = control.dataset;
    if (type === 'flag') {
      if ((control as HTMLInputElement).checked) body[control.name] = true;
    } else if (control.value !== '' || optional === undefined)
      body[control.name] = memberOf(control.value, type);
  }
  return body;
}

function memberOf(text: string, type: string | undefined): unknown {
  if (type === 'number') return /^\d+(\.\d+)?$/.test(text) ? Number(text) : text;
  if (type === 'headers')
    return Object.fromEntries(
      text
        .split('\n')
        .filter((line) => line.trim() !== '')
        .map((line) => [line.split(':', 1)[0]?.trim() ?? '', line.slice(line.indexOf(':') + 1).trim()]),
    );
  return text;
}

function draftKey(form: HTMLFormElement): string {
  return `soapbridge draft ${location.pathname} ${form.id}`;
}

/** Keeps the fields of a form in this tab until the form is shown again. */
function keepDraft(form: HTMLFormElement): void {
  const fields = controlsOf(form).map((control) => [
    control.name,
    control.dataset.type === 'flag' ? (control as HTMLInputElement).checked : control.value,
  ]);
  sessionStorage.setItem(draftKey(form), JSON.stringify(Object.fromEntries(fields)));
}

function restoreDraft(form: HTMLFormElement): void {
  const draft = sessionStorage.getItem(draftKey(form));
  if (draft === null) return;
  sessionStorage.removeItem(draftKey(form));
  const fields: Readonly<Record<string, string | boolean>> = JSON.parse(draft);
  for (const control of controlsOf(form)) {
    const value = fields[control.name];
    if (typeof value === 'boolean') (control as HTMLInputElement).checked = value;
    // a hidden field is part of the page, for example the version that it shows
    else if (value !== undefined && control.type !== 'hidden') control.value = value;
  }
  showOutcome(form, 'The text of this form was kept. Check it, and send it again.', 'good');
}
