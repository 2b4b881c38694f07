const json = ['test/mappings/json/reader.test.ts'];
const writing = ['test/mappings/codec/write.test.ts', 'test/mappings/codec/writers.test.ts'];
const xml = [
  'test/mappings/xml/reader.test.ts',
  'test/mappings/xml/references.test.ts',
  'test/mappings/xml/line-ends.test.ts',
  'test/mappings/xml/limits.test.ts',
];
const fastPath = ['test/mappings/codec/fast-path.test.ts', 'test/mappings/codec/element-forms.test.ts'];
const scalars = [
  'test/mappings/codec/adopted/simple-types.test.ts',
  'test/mappings/codec/adopted/temporal.test.ts',
  'test/mappings/codec/scalars/scalars.test.ts',
  'test/mappings/codec/scalars/numbers.test.ts',
  'test/mappings/codec/scalars/text.test.ts',
  'test/mappings/codec/scalars/table.test.ts',
  'test/mappings/codec/scalars/duration.test.ts',
  'test/mappings/codec/scalars/base64.test.ts',
];
const codec = [
  'test/mappings/codec/read.test.ts',
  'test/mappings/codec/pass.test.ts',
  'test/mappings/codec/write.test.ts',
  'test/mappings/codec/types/rules.test.ts',
  'test/mappings/codec/types/distinct.test.ts',
  'test/mappings/codec/types/unions.test.ts',
  'test/mappings/codec/redact.test.ts',
  'test/mappings/codec/writers.test.ts',
];
const properties = ['test/mappings/codec/properties.test.ts'];
/** Whole gateways, with calls in both directions. */
const calls = ['test/mappings/loader/plain.test.ts', 'test/plain/fixtures.test.ts'];
const dates = ['test/mappings/codec/scalars/wcf-dates.test.ts', 'test/mappings/codec/scalars/dates.test.ts'];

/** Which tests speak of a file, those that notice most first: folders with a slash at their end, and files, which go before. */
export const testsOf: Readonly<Record<string, readonly string[]>> = {
  'gateway/http/framing.ts': ['test/gateway/http/framing.test.ts'],
  'mappings/json/base64-spans.ts': ['test/mappings/json/base64-spans.test.ts'],
  'mappings/json/parts.ts': [
    'test/mappings/http-mapping/parameter.test.ts',
    'test/mappings/http-mapping/body.test.ts',
    'test/mappings/http-mapping/multipart.test.ts',
    'test/mappings/codec/types/rules.test.ts',
  ],
  'mappings/json/': [...json, ...writing],
  'mappings/xml/decode.ts': ['test/mappings/xml/decode.test.ts'],
  'mappings/xml/characters.ts': ['test/mappings/xml/characters.test.ts', ...xml],
  'mappings/xml/gathered-text.ts': ['test/mappings/xml/gathered-text.test.ts', ...xml],
  'mappings/xml/declaration.ts': ['test/mappings/xml/decode.test.ts', ...xml],
  'mappings/xml/output.ts': [
    'test/mappings/xml/output.test.ts',
    ...writing,
    'test/mappings/codec/scalars/base64.test.ts',
    ...fastPath,
  ],
  'mappings/xml/': [
    ...xml,
    'test/mappings/xml/decode.test.ts',
    'test/mappings/xml/properties.test.ts',
    'test/conformance/xml.test.ts',
    ...fastPath,
  ],
  'mappings/codec/fast-path/': [...fastPath, 'test/gateway/protocols/request-shapes.test.ts'],
  'mappings/codec/scalars/': [...scalars, ...dates, ...codec, ...properties],
  'mappings/codec/adopted/patterns.ts': [
    'test/mappings/codec/adopted/patterns.test.ts',
    'test/mappings/codec/adopted/facets.test.ts',
  ],
  'mappings/codec/adopted/open-fields.ts': ['test/mappings/codec/adopted/open-fields.test.ts'],
  'mappings/codec/adopted/': [
    'test/mappings/codec/adopted/objects.test.ts',
    'test/mappings/codec/adopted/elements.test.ts',
    'test/mappings/codec/adopted/types.test.ts',
    'test/mappings/codec/adopted/members.test.ts',
    'test/mappings/codec/adopted/compile.test.ts',
    'test/mappings/codec/adopted/facets.test.ts',
    'test/mappings/codec/adopted/fast-path.test.ts',
    'test/mappings/codec/adopted/simple-types.test.ts',
    'test/mappings/codec/adopted/temporal.test.ts',
    'test/mappings/codec/adopted/any-type.test.ts',
    'test/mappings/codec/adopted/values.test.ts',
    'test/mappings/codec/adopted/refusals.test.ts',
    'test/mappings/codec/adopted/headers.test.ts',
    'test/mappings/codec/adopted/rpc.test.ts',
    'test/mappings/codec/adopted/attachments.test.ts',
    'test/mappings/codec/adopted/open-fields.test.ts',
    'test/mappings/codec/adopted/properties.test.ts',
  ],
  'mappings/codec/attachments.ts': [
    'test/mappings/codec/attachments.test.ts',
    'test/gateway/protocols/soap/mtom.test.ts',
  ],
  'mappings/codec/types/union.ts': [
    'test/mappings/codec/types/unions.test.ts',
    'test/mappings/codec/types/rules.test.ts',
    'test/gateway/protocols/validation.test.ts',
  ],
  'mappings/codec/types/tuple.ts': ['test/mappings/codec/types/tuples.test.ts'],
  'mappings/codec/redact.ts': ['test/mappings/codec/redact.test.ts'],
  'mappings/codec/': [...codec, ...scalars, ...calls, ...properties],
};
