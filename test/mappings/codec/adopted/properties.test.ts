import test from 'ava';
import { XmlDocument, XsdValidator } from 'libxml2-wasm';
import { XmlError } from '../../../../mappings/xml/error.ts';
import { fc } from '../../../property.ts';
import { findInvalid } from '../../../wsdl/libxml2.ts';
import { everything, everythingWsdl } from './everything.ts';
import { operationOf, readMessage } from './messages.ts';
import { comparable, picker, randomBody } from './random-messages.ts';

test('A10 to A28: any message converts to JSON and back, and the result is valid', (t) => {
  const { request, operation } = operationOf(t, everythingWsdl, 'Get');
  using document = XmlDocument.fromString(everything);
  const validator = XsdValidator.fromDoc(document);
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const text = randomBody(operation.input.body, picker(seed)) ?? '';
      const read = readMessage(request, text);
      t.deepEqual([read.problems, read.missing], [[], []], text);
      const asked = { ignores: false, ignored: [] };
      const back = request.write(Buffer.from(read.json), asked).xml.toString();
      t.is(comparable(back), comparable(text));
      t.is(findInvalid(validator, back), undefined, back);
      t.is(readMessage(request, back).json, read.json);
    }),
    { numRuns: 150 },
  );
});

test('W10: a damaged message is read, refused or not XML; no other error is thrown', (t) => {
  const { request, operation } = operationOf(t, everythingWsdl, 'Get');
  fc.assert(
    fc.property(fc.integer(), fc.nat(), fc.nat(), (seed, at, length) => {
      const text = randomBody(operation.input.body, picker(seed)) ?? '';
      const from = at % text.length;
      const cut = text.slice(0, from) + text.slice(from + 1 + (length % 12));
      try {
        JSON.parse(readMessage(request, cut).json);
      } catch (error) {
        if (!(error instanceof XmlError)) throw error;
      }
    }),
    { numRuns: 400 },
  );
  t.pass();
});
