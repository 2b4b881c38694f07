import test from 'ava';
import { serveCommand } from '../../gateway/commands/serve.ts';
import { readPage } from './page.ts';

/** Variable and flag of each row; an empty text if the row has none. */
const rows = [
  ...readPage('configuration.md').matchAll(/^\| (?:`([A-Z_]+)`)? ?\| (?:`(--[a-z-]+)`)? ?\|/gm),
].map(([, variable = '', flag = '']) => `${flag} ${variable}`);

test('docs/configuration.md lists every option of serve with its variable', (t) => {
  const options = serveCommand().options.map(({ long, envVar = '' }) => `${long} ${envVar}`);
  // The OpenTelemetry SDK reads this variable, which has no flag.
  t.deepEqual([...rows].sort(), [...options, ' OTEL_EXPORTER_OTLP_ENDPOINT'].sort());
});
