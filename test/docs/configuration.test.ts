import { readFileSync } from 'node:fs';
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

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly anyOf?: readonly Schema[];
}

/** Returns the paths of the keys that have no keys of their own, and of those that may also be a text. */
function keysOf(schema: Schema, path: string): readonly string[] {
  const { properties, additionalProperties, anyOf = [] } = schema;
  if (anyOf.length > 0) return [path, ...anyOf.flatMap((each) => keysOf(each, path))];
  if (properties !== undefined)
    return Object.entries(properties).flatMap(([name, each]) => keysOf(each, `${path}.${name}`));
  const isMap = typeof additionalProperties === 'object' && additionalProperties.properties !== undefined;
  const entry = `${path}.${path.endsWith('.blend') ? 'OPERATION' : 'PATH'}`;
  return isMap ? [entry, ...keysOf(additionalProperties, entry)] : [path];
}

test('docs/soapbridge-yaml.md lists every key of the schema', (t) => {
  const schema: Schema = JSON.parse(
    readFileSync(new URL('../../schemas/soapbridge.schema.json', import.meta.url), 'utf8'),
  );
  // docs/overlay-keys.md has the keys of `wsse`, which are those of the overlay
  const keys = keysOf(schema, '').map((key) => key.slice(1).replace(/(PATH\.wsse)\..*/, '$1'));
  const listed = [...readPage('soapbridge-yaml.md').matchAll(/^\| `([^`]+)` \|/gm)].map(([, key]) => key);
  t.true(listed.length > 40);
  t.deepEqual([...listed].sort(), [...new Set(keys)].sort());
});
