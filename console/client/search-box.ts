import { type PreparedEntry, prepareEntries, type SearchEntry, searchEntries } from '../search.ts';

/** Maximum number of results shown while typing. The results page of the form shows all. */
const mostShown = 30;

/**
 * Shows results of a search form while the user types. The list of operations is loaded when the form is first used.
 */
export function enhanceSearch(form: HTMLFormElement): void {
  const { index = '', page = '', language = '', texts: stated = '{}' } = form.dataset;
  const texts: Record<string, string> = JSON.parse(stated);
  const input = form.querySelector<HTMLInputElement>('input[type=search]');
  const results = form.querySelector<HTMLElement>('.results');
  if (input === null || results === null) return;
  let entries: Promise<readonly PreparedEntry[]> | undefined;
  const load = (): Promise<readonly PreparedEntry[]> => {
    entries ??= fetch(index).then(async (reply) => {
      if (!reply.ok) throw new Error(String(reply.status));
      return prepareEntries((await reply.json()) as SearchEntry[]);
    });
    return entries;
  };
  const show = async (): Promise<void> => {
    const words = input.value;
    if (words.trim() === '') {
      results.replaceChildren();
      return;
    }
    try {
      const found = searchEntries(await load(), words);
      if (words !== input.value) return; // the input has changed since
      results.replaceChildren(...resultNodes(found, words));
    } catch (error) {
      entries = undefined;
      results.textContent = (texts['search.failed'] ?? '').replace('{why}', String(error));
    }
  };
  input.addEventListener('focus', () => void load().catch(() => {}), { once: true }); // typing reports a failure
  input.addEventListener('input', () => void show());

  function resultNodes(found: readonly SearchEntry[], words: string): Node[] {
    const count = document.createElement('p');
    const key = found.length === 0 ? 'search.none' : 'search.found';
    count.textContent = (texts[key] ?? '')
      .replace('{count}', String(found.length))
      .replace('{words}', () => words);
    const list = document.createElement('ul');
    list.className = 'operations';
    for (const { n, w } of found.slice(0, mostShown)) {
      const item = document.createElement('li');
      const link = document.createElement('a');
      link.href = `${page}/${encodeURIComponent(n)}${language}`;
      link.textContent = n;
      const text = document.createElement('span');
      text.className = 'summary';
      text.dir = 'auto';
      text.textContent = w;
      item.append(link, ' ', text);
      list.append(item);
    }
    if (found.length <= mostShown) return [count, list];
    const all = document.createElement('a');
    all.href = `${page}${language === '' ? '?' : `${language}&`}q=${encodeURIComponent(words)}`;
    all.textContent = (texts['search.more'] ?? '').replace('{count}', String(found.length));
    return [count, list, all];
  }
}
