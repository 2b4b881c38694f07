import { addCopyButtons } from '../copy.ts';
import { prepareAction } from './action.ts';
import { prepareSession } from './session.ts';

// Behaviour of the operator console: forms send calls of the admin API, and live parts of a page are loaded again.

for (const form of document.querySelectorAll<HTMLFormElement>('form.action')) prepareAction(form);
prepareSession();
addCopyButtons(document, document.documentElement.lang);

/** Time between two loads of live parts, in ms. */
const refreshMs = 5_000;

/** Time without input of the user after which the page is not loaded again, so that its session ends, in ms. */
const idleMs = 10 * 60_000;

let lastInput = performance.now();
for (const kind of ['pointerdown', 'keydown', 'scroll'])
  addEventListener(kind, () => {
    lastInput = performance.now();
  });

const live = [...document.querySelectorAll<HTMLElement>('[data-live]')];
if (live.length > 0) setInterval(refresh, refreshMs);

/** Loads the page again, and replaces its live parts. A part that has the focus stays. */
async function refresh(): Promise<void> {
  if (document.hidden || performance.now() - lastInput > idleMs) return;
  const response = await fetch(location.href, { redirect: 'error' }).catch(() => undefined);
  if (response?.ok !== true) return; // the next load, or the next action of the user, reports it
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  for (const part of live) {
    const now = page.getElementById(part.id);
    if (now !== null && !part.contains(document.activeElement)) part.replaceChildren(...now.childNodes);
  }
}
