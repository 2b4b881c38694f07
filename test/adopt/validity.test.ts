import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { XmlError, type XsdValidator } from 'libxml2-wasm';
import { compileAdopted, type MessageCodec } from '../../mappings/codec/adopted/compile.ts';
import { MismatchError } from '../../mappings/codec/problem.ts';
import type { AdoptedService } from '../../mappings/contract/adopted.ts';
import type { AdoptedMessage } from '../../mappings/contract/type-graph.ts';
import { ContractError } from '../../mappings/loader/document/error.ts';
import { loadAdoptedService } from '../../mappings/loader/wsdl/load-adopted.ts';
import { readMessage } from '../mappings/codec/adopted/messages.ts';
import { picker, randomBody, TooDeep } from '../mappings/codec/adopted/random-messages.ts';
import { findInvalid } from '../wsdl/libxml2.ts';
import { firstWsdls } from './corpus.ts';
import { withValidator } from './validators.ts';

/** Validates messages that the codecs write from random values against the service's schema, with libxml2. */

const corpus = process.env.WSDL_CORPUS;
const rounds = Number(process.env.MESSAGES ?? 2);

/**
 * Schemas that libxml2 does not compile, with its reason. The gateway's reader is more lenient (A3) or supports more.
 */
const notCompiled: Readonly<Record<string, string>> = {
  'asmx-datasets/multipleSchemas.wsdl': 'a DataSet refers to xs:schema, which no document defines',
  'clearbooks/clearbooks.wsdl': 'complexType has an attribute base, which XML Schema lacks',
  'dhl-bcs/geschaeftskundenversand-api-3.3.2.wsdl': 'a content model is not deterministic',
  'docuware/DWServiceCombined.wsdl': 'the same type is defined twice, alike (A3)',
  'ebms/ebms.wsdl': "attributes of SOAP's envelope are used, whose schema is built in",
  'metro-catalog-swa/Catalog.wsdl': "swaRef's schema is built in",
  'omniture/OmnitureAdminServices.wsdl': "SOAP's encoding is built in",
  'tradetracker/tradetracker.wsdl': "SOAP's encoding is built in",
  'wcf-tempuri/tempuri.org.wsdl': 'a namespace is a relative URI, which no canonical form may have',
};

/** Counts the random messages written, and those that are invalid although their source message was valid. */
function validity(service: AdoptedService, validator: XsdValidator) {
  const counts = { messages: 0, skipped: 0, found: [] as string[] };
  const tryOut = (operation: string, message: AdoptedMessage, codec: MessageCodec): void => {
    if (message.body.kind !== 'element') return; // a schema has no element for an rpc wrapper
    for (let round = 0; round < rounds; round++) {
      let text: string | undefined;
      try {
        text = randomBody(message.body, picker(counts.messages * 31 + round));
      } catch (error) {
        if (!(error instanceof TooDeep)) throw error;
      }
      if (text === undefined || text.length > 100_000) continue;
      // random values ignore patterns, bounds and strict wildcards, so an invalid source message is skipped
      if (findInvalid(validator, text) !== undefined) {
        counts.skipped++;
        continue;
      }
      counts.messages++;
      try {
        const written = codec.write(Buffer.from(readMessage(codec, text).json)).xml.toString();
        const invalid = findInvalid(validator, written);
        if (invalid !== undefined) counts.found.push(`${operation}: ${invalid}\n${written}`.slice(0, 1500));
      } catch (error) {
        if (!(error instanceof MismatchError)) throw error;
        counts.found.push(`${operation}: ${error.message}`);
      }
    }
  };
  for (const [name, { operation, request, reply }] of compileAdopted(service).operations) {
    tryOut(name, operation.input, request);
    if (operation.output !== undefined && reply !== undefined) tryOut(name, operation.output, reply);
  }
  return counts;
}

if (corpus === undefined || !existsSync(corpus)) {
  test.skip('A10 to A28: output is valid by the schemas of real WSDLs (skipped: WSDL_CORPUS is not set)', () => {});
} else {
  const all = { messages: 0, skipped: 0, invalid: 0, refused: 0 };
  for (const name of readdirSync(corpus).filter((one) => statSync(join(corpus, one)).isDirectory())) {
    for (const wsdl of firstWsdls(join(corpus, name))) {
      test.serial(`A10 to A28: output for ${name}/${wsdl} is valid`, (t) => {
        let service: AdoptedService;
        try {
          service = loadAdoptedService(join(corpus, name), { wsdl }).service;
        } catch (error) {
          if (!(error instanceof ContractError)) throw error;
          t.log('not read');
          t.pass();
          return;
        }
        try {
          const { messages, skipped, found } = withValidator(service, (validator) =>
            validity(service, validator),
          );
          all.messages += messages;
          all.skipped += skipped;
          all.invalid += found.length;
          t.log(`${messages} messages, ${skipped} left out, ${found.length} invalid`);
          t.deepEqual(found.slice(0, 2), []);
          t.false(`${name}/${wsdl}` in notCompiled);
        } catch (error) {
          if (!(error instanceof XmlError)) throw error;
          all.refused++;
          t.log(error.message.slice(0, 400));
          t.truthy(notCompiled[`${name}/${wsdl}`], error.message);
        }
      });
    }
  }
  test.serial('A10 to A28: all output for real WSDLs is valid', (t) => {
    t.log(all);
    t.is(all.invalid, 0);
  });
}
