import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import test from 'ava';
import { parse } from 'yaml';
import type { AdoptedService } from '../../mappings/contract/adopted.ts';
import { ContractError } from '../../mappings/loader/document/error.ts';
import { isNode } from '../../mappings/loader/document/node.ts';
import { loadAdoptedService } from '../../mappings/loader/wsdl/load-adopted.ts';
import { deriveOpenapi, writeDerivedOpenapi } from '../../wsdl/derived-openapi/document.ts';
import { firstWsdls } from './corpus.ts';
import { tryMessages } from './derived-messages.ts';

/** Derived documents of real WSDLs. */

const corpus = process.env.WSDL_CORPUS;
const rounds = Number(process.env.MESSAGES ?? 3);

function loaded(name: string, wsdl: string): AdoptedService | undefined {
  try {
    return loadAdoptedService(join(corpus ?? '', name), { wsdl }).service;
  } catch (error) {
    if (error instanceof ContractError) return undefined;
    throw error;
  }
}

/** Returns all patterns of a document. */
function patternsIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(patternsIn);
  if (!isNode(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === 'pattern' && typeof inner === 'string' ? [inner] : patternsIn(inner),
  );
}

if (corpus === undefined || !existsSync(corpus)) {
  test.skip('A32: real WSDLs become OpenAPI documents (skipped: WSDL_CORPUS is not set to their folder)', () => {});
} else {
  const config = await createConfig({ rules: { struct: 'error', 'no-unresolved-refs': 'error' } });
  for (const name of readdirSync(corpus).filter((one) => statSync(join(corpus, one)).isDirectory()))
    for (const wsdl of firstWsdls(join(corpus, name))) {
      test.serial(`A32: two validators accept the document of ${name}/${wsdl}`, async (t) => {
        const service = loaded(name, wsdl);
        if (service === undefined) {
          t.pass();
          return;
        }
        const { document } = deriveOpenapi(service);
        const text = writeDerivedOpenapi(document);
        t.deepEqual(parse(text, { maxAliasCount: 0 }), document);
        const { valid, errors } = await new Validator().validate(structuredClone(document));
        t.true(valid, JSON.stringify(errors)?.slice(0, 1000));
        const problems = await lintFromString({ source: text, config });
        t.deepEqual(
          problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]),
          [],
        );
        for (const pattern of patternsIn(document)) t.notThrows(() => new RegExp(pattern, 'u'), pattern);
      });

      test.serial(
        `A32: codec output for ${name}/${wsdl} matches the document's schemas, wrong values do not`,
        (t) => {
          const service = loaded(name, wsdl);
          if (service === undefined) {
            t.pass();
            return;
          }
          const { messages, faults, wrong } = tryMessages(service, rounds);
          t.log(`${messages} messages, ${faults} faults`);
          for (const one of wrong.slice(0, 3)) t.log(one);
          t.is(wrong.length, 0);
        },
      );
    }
}
