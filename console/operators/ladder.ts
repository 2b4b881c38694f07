import type { RoutesView } from '../../gateway/admin/api-types.ts';
import { type Html, html } from '../server/html.ts';

/** Step of an operation on its way from the legacy service to the new one. */
export type Step =
  | 'legacy'
  | 'compare'
  | 'compare, new answers'
  | 'blend'
  | 'fallback'
  | 'partly new'
  | 'new';

/** Returns the step of an operation, by its first matching change or rule. */
export function stepOf({ changes, file, sentences }: RoutesView, operation: string): Step {
  const sentence = sentences.find((one) => one.operation === operation)?.sentence ?? '';
  const change = changes.find((one) => one.operation === operation && one.isActive);
  const rules = file.filter(({ operations }) => operations === null || operations.includes(operation));
  const modes = [change, ...rules].flatMap((one) => one?.mode ?? []);
  const isMixed = sentence.includes(', else ');
  if (isMixed && modes.includes('new')) return 'partly new';
  const [mode = 'legacy'] = modes;
  return mode === 'compare' && sentence.includes('(answer new') ? 'compare, new answers' : mode;
}

/** Renders all steps of an operation with the current one. */
export function ladder(current: Step, isRead: boolean): Html {
  const between: readonly Step[] = !isRead
    ? []
    : current === 'blend' || current === 'fallback'
      ? [current]
      : ['compare', 'compare, new answers'];
  const steps: readonly Step[] = ['legacy', ...between, 'partly new', 'new'];
  return html`<ol class="ladder" aria-label="Steps from the legacy service to the new service">
    ${steps.map((step) => html`<li aria-current=${step === current ? 'step' : undefined}>${step}</li>`)}
  </ol>`;
}
