import { addCopyButtons } from './copy.ts';
import { enhanceSearch } from './search-box.ts';

// Adds scripted behaviour to every page: search while typing and copy buttons. On an operation's page it also adds the
// form, whose code is loaded when it is opened.

for (const form of document.querySelectorAll<HTMLFormElement>('form.search')) enhanceSearch(form);
addCopyButtons(document, document.documentElement.lang);

const place = document.querySelector<HTMLElement>('#try-form');
if (place !== null) {
  const texts: Record<string, string> = JSON.parse(place.dataset.texts ?? '{}');
  const open = document.createElement('button');
  open.type = 'button';
  open.className = 'main';
  open.textContent = texts['try.open'] ?? '';
  open.addEventListener('click', async () => {
    open.disabled = true;
    open.textContent = texts['try.loading'] ?? '';
    try {
      const { openForm } = await import('./try/form.ts');
      await openForm(place, texts);
    } catch (error) {
      open.disabled = false;
      open.textContent = (texts['try.failed'] ?? '').replace('{why}', String(error));
    }
  });
  place.replaceChildren(open);
}
