import { call, failureText } from './call.ts';
import { tokenIn } from './token.ts';

/** Key of the result of the last action, which the page shows after it was loaded again. */
const noticeKey = 'soapbridge notice';

/** Prepares the form for signing in and the button for signing out, and shows the notice of the last action. */
export function prepareSession(): void {
  const notice = document.querySelector<HTMLElement>('#notice');
  if (notice !== null) {
    notice.textContent = sessionStorage.getItem(noticeKey) ?? '';
    sessionStorage.removeItem(noticeKey);
  }
  const form = document.querySelector<HTMLFormElement>('form#sign-in');
  form?.addEventListener('submit', (event) => {
    event.preventDefault();
    void signIn(form);
  });
  const out = document.querySelector<HTMLButtonElement>('button#sign-out');
  if (out === null) return;
  out.hidden = false;
  out.addEventListener('click', async () => {
    await call('DELETE', '/api/v1/session', undefined);
    sessionStorage.clear();
    location.assign('/sign-in');
  });
}

/** Sets the text that the next page shows. */
export function leaveNotice(text: string): void {
  sessionStorage.setItem(noticeKey, text);
}

async function signIn(form: HTMLFormElement): Promise<void> {
  const field = form.querySelector<HTMLInputElement>('input');
  const outcome = form.querySelector<HTMLElement>('.outcome');
  if (field === null || outcome === null) return;
  outcome.textContent = '';
  const result = await call('POST', '/api/v1/session', { token: tokenIn(field.value) });
  if (result.ok) {
    const next = new URLSearchParams(location.search).get('next') ?? '/';
    // only a path of this listener: "//host" and "/\host" name another one
    location.assign(/^\/(?![/\\])/.test(next) ? next : '/');
    return;
  }
  outcome.textContent = failureText(result);
  field.setAttribute('aria-invalid', 'true');
  field.focus();
}
