import type { ContractView } from '../../gateway/admin/api-types.ts';
import { type Html, html } from '../server/html.ts';
import { table } from '../server/layout.ts';
import { href, settingName, share, time } from './links.ts';
import { type ConsolePage, type Sample, sumOf, type Visit } from './visit.ts';

/** `/`: all contracts with their traffic, verdicts and health. */
export const overview: ConsolePage = {
  path: '/',
  render: async (visit) => {
    const [contracts, samples] = await Promise.all([visit.all<ContractView>('/contracts'), visit.samples()]);
    const settings = visit.settings();
    const rows = contracts.map((contract) => contractRow(contract, samples, settings));
    const headings = [
      'Contract',
      'Calls',
      'Errors',
      'Share of new',
      'Verdicts',
      'Services',
      'Recording',
      'Loaded',
    ];
    return {
      title: 'Contracts',
      body: html`<h1>Contracts</h1>
        <p class="facts">Counts are of all workers of this replica since its start.</p>
        <div id="contracts" data-live>${table(headings, rows, 'Contracts')}</div>
        <h2>Store</h2>
        <div id="store" data-live>${storeState(samples, settings)}</div>`,
    };
  },
};

type Settings = ReturnType<Visit['settings']>;

function contractRow(
  { path, operations, loadedAt, verdicts, health }: ContractView,
  samples: readonly Sample[],
  settings: Settings,
): readonly Html[] {
  const { calls, errors, byNew, routed } = trafficOf(samples, path);
  const found = Object.entries(verdicts ?? {}).filter(([, count]) => count > 0);
  return [
    html`<a href=${href('/:c', path)} dir="auto">${path}</a> <span class="facts">operations: ${operations.length}</span>`,
    calls,
    errors,
    health.legacy === null ? 'no legacy service' : share(byNew, routed),
    found.length === 0
      ? '–'
      : found.map(([verdict, count]) => html`${verdictBadge(verdict, `${count} ${verdict}`)} `),
    html`<span>new: ${healthText(health.new)}</span>${
      health.legacy !== null && html`<br /><span>legacy: ${healthText(health.legacy)}</span>`
    }`,
    recordingText(settings, path),
    time(loadedAt),
  ];
}

/** Counts of a contract, or of one of its operations. */
export interface Traffic {
  readonly calls: number;
  /** Calls with an intended status of 500 and above. */
  readonly errors: number;
  /** Calls that the new service answered, and all routed calls. */
  readonly byNew: number;
  readonly routed: number;
}

/** Returns the traffic of a contract, or of one of its operations. */
export function trafficOf(samples: readonly Sample[], contract: string, operation?: string): Traffic {
  const isOf = (labels: Sample['labels']): boolean =>
    labels.get('contract') === contract && (operation === undefined || labels.get('operation') === operation);
  const name = operation === undefined ? 'requests_total' : 'operation_requests_total';
  return {
    calls: sumOf(samples, name, isOf),
    errors: sumOf(samples, name, (labels) => isOf(labels) && Number(labels.get('status')) >= 500),
    byNew: sumOf(samples, 'migration_calls_total', (labels) => isOf(labels) && labels.get('side') === 'new'),
    routed: sumOf(samples, 'migration_calls_total', isOf),
  };
}

/** Renders a verdict. The text has the meaning, the colour repeats it. */
export function verdictBadge(verdict: string, text = verdict): Html {
  return html`<span class=${`badge verdict-${verdict}`}>${text}</span>`;
}

function healthText({ isOpen }: { readonly isOpen: boolean }): Html {
  return isOpen ? html`<strong class="status bad">circuit breaker open</strong>` : 'healthy';
}

function recordingText(settings: Settings, path: string): string {
  const at = settingName(path, 'migration/record');
  const own = settings.filter(({ name }) => name === at || name.startsWith(`${at}/`));
  if (own.length === 0 || own.some(({ value }) => value === 'off')) return 'off';
  const stated = own.map(({ name, value }) => `${name.slice(at.length + 1) || 'on'} ${String(value)}`);
  return stated.join(', ');
}

function storeState(samples: readonly Sample[], settings: Settings): Html {
  const store = settings.find(({ name }) => name === '/store' || name === '/store/url');
  if (store === undefined)
    return html`<p>No store is configured. Set <code>store: sqlite:PATH</code> in soapbridge.yaml to change routes here.</p>`;
  const isUp = sumOf(samples, 'store_up', () => true) > 0;
  const kept = sumOf(samples, 'record_kept_total', () => true);
  const dropped = sumOf(samples, 'record_dropped_total', () => true);
  return html`<p><code>${String(store.value)}</code>: ${
    isUp
      ? html`<strong class="status good">reachable</strong>`
      : html`<strong class="status bad">not reachable</strong>. Calls continue with the last routes. Check the log and the disk or the server of the store.`
  }</p>
    <p>Recorded exchanges: ${kept} kept, ${dropped} dropped since the start.</p>`;
}
