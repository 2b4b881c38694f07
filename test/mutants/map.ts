const json = ['test/mappings/json/reader.test.ts', 'test/mappings/json/tape.test.ts'];
const writing = ['test/mappings/codec/write.test.ts', 'test/mappings/codec/writers.test.ts'];
const xml = [
  'test/mappings/xml/reader.test.ts',
  'test/mappings/xml/references.test.ts',
  'test/mappings/xml/line-ends.test.ts',
  'test/mappings/xml/limits.test.ts',
];
const fastPath = ['test/mappings/codec/fast-path.test.ts', 'test/mappings/codec/element-forms.test.ts'];
const scalars = [
  'test/mappings/codec/scalars/scalars.test.ts',
  'test/mappings/codec/scalars/table.test.ts',
  'test/mappings/codec/scalars/numbers.test.ts',
  'test/mappings/codec/scalars/text.test.ts',
  'test/mappings/codec/scalars/duration.test.ts',
  'test/mappings/codec/scalars/base64.test.ts',
  'test/mappings/codec/scalars/decimal.test.ts',
  'test/mappings/codec/scalars/formats.test.ts',
  'test/mappings/codec/adopted/simple-types.test.ts',
  'test/mappings/codec/adopted/temporal.test.ts',
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
const records = [
  'test/mappings/codec/types/records.test.ts',
  'test/mappings/codec/read.test.ts',
  'test/mappings/codec/pass.test.ts',
  'test/mappings/codec/write.test.ts',
  'test/mappings/codec/misfits.test.ts',
  'test/mappings/codec/types/unions.test.ts',
  'test/mappings/codec/attachments.test.ts',
];
const checks = [
  'test/mappings/codec/types/fitting.test.ts',
  'test/mappings/codec/types/rules.test.ts',
  'test/mappings/codec/types/unions.test.ts',
  'test/mappings/codec/types/records.test.ts',
  'test/mappings/codec/types/maps.test.ts',
  'test/gateway/protocols/validation.test.ts',
  'test/mappings/codec/adopted/facets.test.ts',
];
const maps = [
  'test/mappings/codec/types/maps.test.ts',
  'test/mappings/codec/types/tuples.test.ts',
  'test/mappings/codec/types/records.test.ts',
  'test/mappings/codec/read.test.ts',
  'test/mappings/codec/write.test.ts',
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
    'test/mappings/json/parts.test.ts',
    'test/mappings/http-mapping/parameter.test.ts',
    'test/mappings/http-mapping/body.test.ts',
    'test/mappings/http-mapping/multipart.test.ts',
    'test/mappings/codec/types/rules.test.ts',
  ],
  'mappings/json/': [...json, ...writing],
  'mappings/xml/decode.ts': ['test/mappings/xml/decode.test.ts'],
  'mappings/xml/characters.ts': ['test/mappings/xml/characters.test.ts', ...xml],
  'mappings/xml/gathered-text.ts': ['test/mappings/xml/gathered-text.test.ts', ...xml],
  'mappings/xml/namespaces.ts': ['test/mappings/xml/namespaces.test.ts', ...xml],
  'mappings/xml/error.ts': [...xml, 'test/mappings/xml/decode.test.ts'],
  'mappings/xml/declaration.ts': ['test/mappings/xml/declaration.test.ts', ...xml],
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
  'mappings/codec/fast-path/element-forms.ts': [
    'test/mappings/codec/element-forms.test.ts',
    'test/mappings/codec/fast-path.test.ts',
  ],
  'mappings/codec/fast-path/fast-path.ts': [
    'test/mappings/codec/fast-path/beginnings.test.ts',
    'test/mappings/codec/fast-path.test.ts',
  ],
  'mappings/codec/fast-path/prefix-cache.ts': [
    'test/mappings/codec/fast-path/prefix-cache.test.ts',
    'test/mappings/codec/fast-path.test.ts',
  ],
  'mappings/codec/fast-path/text-tokenizer.ts': [
    'test/mappings/codec/fast-path/text-tokenizer.test.ts',
    'test/mappings/codec/fast-path/request-shapes.test.ts',
  ],
  'mappings/codec/fast-path/': [
    'test/mappings/codec/fast-path/request-shapes.test.ts',
    'test/mappings/codec/fast-path.test.ts',
  ],
  'mappings/codec/scalars/base64.ts': [
    'test/mappings/codec/scalars/base64.test.ts',
    'test/mappings/codec/scalars/scalars.test.ts',
    'test/mappings/codec/read.test.ts',
  ],
  'mappings/codec/scalars/calendar.ts': ['test/mappings/codec/scalars/calendar.test.ts', ...dates],
  'mappings/codec/scalars/dates.ts': dates,
  'mappings/codec/scalars/decimal.ts': [
    'test/mappings/codec/scalars/decimal.test.ts',
    'test/mappings/codec/types/rules.test.ts',
  ],
  'mappings/codec/scalars/formats.ts': ['test/mappings/codec/scalars/formats.test.ts'],
  'mappings/codec/scalars/numbers.ts': [
    'test/mappings/codec/scalars/numbers.test.ts',
    'test/mappings/codec/scalars/scalars.test.ts',
  ],
  'mappings/codec/scalars/text.ts': ['test/mappings/codec/scalars/text.test.ts'],
  'mappings/codec/scalars/wcf-dates.ts': dates,
  'mappings/codec/scalars/zone.ts': ['test/mappings/codec/scalars/zone.test.ts', ...dates],
  'mappings/codec/scalars/': [...scalars, ...dates, ...codec, ...properties],
  'mappings/codec/adopted/patterns.ts': [
    'test/mappings/codec/adopted/patterns.test.ts',
    'test/mappings/codec/adopted/facets.test.ts',
  ],
  'mappings/codec/adopted/canonical.ts': ['test/mappings/codec/adopted/canonical.test.ts'],
  'mappings/codec/adopted/temporal.ts': [
    'test/mappings/codec/adopted/temporal.test.ts',
    'test/mappings/codec/adopted/facets.test.ts',
  ],
  'mappings/codec/adopted/references.ts': [
    'test/mappings/codec/adopted/references.test.ts',
    'test/mappings/codec/adopted/rpc.test.ts',
  ],
  'mappings/codec/adopted/open-elements.ts': [
    'test/mappings/codec/adopted/open-elements.test.ts',
    'test/mappings/codec/adopted/any-type.test.ts',
    'test/mappings/codec/adopted/refusals.test.ts',
  ],
  'mappings/codec/adopted/shown-type.ts': ['test/mappings/codec/adopted/shown-type.test.ts'],
  'mappings/codec/adopted/open-fields.ts': ['test/mappings/codec/adopted/open-fields.test.ts'],
  'mappings/codec/adopted/': [
    'test/mappings/codec/adopted/facets.test.ts',
    'test/mappings/codec/adopted/fast-path.test.ts',
    'test/mappings/codec/adopted/simple-types.test.ts',
    'test/mappings/codec/adopted/temporal.test.ts',
    'test/mappings/codec/adopted/any-type.test.ts',
    'test/mappings/codec/adopted/values.test.ts',
    'test/mappings/codec/adopted/refusals.test.ts',
    'test/mappings/codec/adopted/headers.test.ts',
    'test/mappings/codec/adopted/rpc.test.ts',
    'test/mappings/codec/adopted/long-messages.test.ts',
    'test/mappings/codec/adopted/properties.test.ts',
  ],
  'mappings/codec/attachments.ts': ['test/mappings/codec/attachments.test.ts'],
  'mappings/codec/filled-body.ts': ['test/mappings/codec/attachments.test.ts'],
  'mappings/codec/misfits.ts': ['test/mappings/codec/misfits.test.ts'],
  'mappings/codec/nearest.ts': ['test/mappings/codec/scalars/text.test.ts'],
  'mappings/codec/problem.ts': [
    'test/mappings/codec/problem.test.ts',
    'test/mappings/codec/attachments.test.ts',
  ],
  'mappings/codec/context.ts': writing,
  'mappings/codec/write-value.ts': writing,
  'mappings/codec/writers.ts': [...writing, 'test/mappings/codec/misfits.test.ts'],
  'mappings/codec/readers.ts': [...codec, 'test/mappings/codec/attachments.test.ts'],
  'mappings/codec/read-element.ts': [
    'test/mappings/codec/read.test.ts',
    'test/mappings/codec/attachments.test.ts',
    'test/mappings/codec/pass.test.ts',
  ],
  'mappings/codec/write-element.ts': ['test/mappings/codec/write-element.test.ts', ...writing],
  'mappings/codec/types/union.ts': [
    'test/mappings/codec/types/unions.test.ts',
    'test/mappings/codec/types/records.test.ts',
    'test/mappings/codec/types/scalars.test.ts',
    'test/mappings/codec/misfits.test.ts',
    'test/mappings/codec/types/rules.test.ts',
    'test/gateway/protocols/validation.test.ts',
  ],
  'mappings/codec/types/record.ts': records,
  'mappings/codec/types/record-fields.ts': records,
  'mappings/codec/types/additional-properties.ts': records,
  'mappings/codec/types/map.ts': maps,
  'mappings/codec/types/entries.ts': maps,
  'mappings/codec/types/enum.ts': [
    'test/mappings/codec/types/enums.test.ts',
    'test/mappings/codec/fast-path.test.ts',
    'test/mappings/codec/types/unions.test.ts',
    'test/mappings/codec/read.test.ts',
    'test/mappings/codec/pass.test.ts',
    'test/mappings/codec/write.test.ts',
  ],
  'mappings/codec/types/scalar.ts': [
    'test/mappings/codec/types/scalars.test.ts',
    'test/mappings/codec/attachments.test.ts',
    'test/mappings/codec/read.test.ts',
    'test/mappings/codec/pass.test.ts',
    'test/mappings/codec/write.test.ts',
    'test/mappings/codec/types/unions.test.ts',
    ...scalars,
    ...fastPath,
  ],
  'mappings/codec/types/rules.ts': checks,
  'mappings/codec/types/fitting.ts': checks,
  'mappings/codec/types/response-status.ts': [
    'test/mappings/codec/types/response-status.test.ts',
    'test/mappings/codec/write.test.ts',
  ],
  'mappings/codec/types/distinct.ts': ['test/mappings/codec/types/distinct.test.ts', ...maps],
  'mappings/codec/types/json-tree.ts': ['test/mappings/codec/types/json-trees.test.ts'],
  'mappings/codec/types/tuple.ts': [
    'test/mappings/codec/types/tuples.test.ts',
    'test/mappings/codec/types/records.test.ts',
    'test/mappings/codec/attachments.test.ts',
  ],
  'mappings/codec/redact.ts': ['test/mappings/codec/redact.test.ts'],
  'mappings/codec/': [...codec, ...scalars, ...calls, ...properties],
};
