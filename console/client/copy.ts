/** Labels of the copy buttons by language. Other languages use English. */
const words: Readonly<Record<string, readonly [copy: string, copied: string]>> = {
  de: ['Kopieren', 'Kopiert'],
  en: ['Copy', 'Copied'],
};

/** Adds a copy button to each block of code below a node. */
export function addCopyButtons(below: ParentNode, language: string): void {
  const [copy, copied] = words[language] ?? ['Copy', 'Copied'];
  for (const block of below.querySelectorAll('.code')) {
    if (block.querySelector('button') !== null) continue;
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = copy;
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(block.querySelector('code')?.textContent ?? '');
      button.textContent = copied;
      setTimeout(() => {
        button.textContent = copy;
      }, 2000);
    });
    block.append(button);
  }
}
