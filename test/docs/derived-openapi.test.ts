import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import test from 'ava';
import { parse } from 'yaml';
import { isNode } from '../../mappings/loader/document/node.ts';
import { loadAdoptedService } from '../../mappings/loader/wsdl/load-adopted.ts';
import { deriveOpenapi } from '../../wsdl/derived-openapi/document.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/derived-openapi.md'), 'utf8');
const [, component = ''] = /```yaml\n(.*?)```/s.exec(page) ?? [];
const [, value = ''] = /```json\n(.*?)```/s.exec(page) ?? [];

test('A32: the component in docs/derived-openapi.md is derived from docs/adopt/Orders.wsdl', (t) => {
  const { document } = deriveOpenapi(loadAdoptedService(join(root, 'docs/adopt')).service);
  const schemas = isNode(document.components) ? document.components.schemas : undefined;
  const line = isNode(schemas) ? schemas.Line : undefined;
  t.deepEqual(parse(component), { Line: line });
  if (!isNode(line)) throw new Error('expected a component Line');
  t.true(new Ajv2020({ strict: false, validateFormats: false }).validate(line, JSON.parse(value)));
});
