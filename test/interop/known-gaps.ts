import type { Version } from './checks.ts';
import type { VariantName } from './variants.ts';

/** A check that a stack cannot pass, whatever the gateway does. The run fails if it passes after all. */
export interface KnownGap {
  readonly stack: string;
  /** Undefined: all versions. */
  readonly version?: Version;
  /** Undefined: plain calls and all variants. */
  readonly variant?: VariantName;
  /** The check's name: an operation or a situation. */
  readonly check: string;
  readonly reason: string;
}

/** Stacks that do not distinguish nil from absent. */
const alikeReaders = {
  axis: 'an Axis bean has null',
  axis2: 'an ADB bean has null',
  rampart: 'an ADB bean has null',
  gsoap: 'gSOAP has a null pointer',
  'mono-asmx': 'a class of wsdl.exe has null',
  'mono-wcf': 'a class of svcutil has null',
  'node-soap': 'node-soap omits the property',
  zeep: 'zeep has None',
};

/** Stacks that omit null values. */
const noNullSenders = {
  axis: 'Axis omits a null property',
  gowsdl: 'gowsdl has no null',
  gsoap: 'gSOAP omits a null pointer',
  nusoap: 'NuSOAP omits a null',
  pysimplesoap: 'PySimpleSOAP omits None',
  'soap-wsdl': 'SOAP::WSDL omits undef',
  tclws: 'Tcl has no null',
};

/** Stacks that send a null for every text that the caller omits. */
const noAbsentSenders = {
  'mono-asmx': 'a class of wsdl.exe writes xsi:nil for every null text',
  'mono-wcf': 'a class of svcutil writes xsi:nil for every null text',
  soap4r: 'soap4r writes xsi:nil for every omitted text',
};

function gapsOf(check: string, reasons: Readonly<Record<string, string>>): readonly KnownGap[] {
  return Object.entries(reasons).map(([stack, reason]) => ({ stack, check, reason }));
}

export const knownGaps: readonly KnownGap[] = [
  ...gapsOf(
    'null-absent',
    Object.fromEntries(
      Object.entries(alikeReaders).map(([stack, both]) => [stack, `${both} for nil and for absent`]),
    ),
  ),
  ...gapsOf('null-sent', noNullSenders),
  ...gapsOf('absent-sent', noAbsentSenders),
  {
    stack: 'zeep',
    check: 'null-empty',
    reason: 'zeep reads an empty text as None, a nil array as an empty array',
  },
  { stack: 'zeep', check: 'empty-array', reason: 'zeep reads an empty array as None' },
  { stack: 'suds', check: 'null-empty', reason: 'suds reads an empty text as None' },
  { stack: 'suds', check: 'empty-array', reason: 'suds reads an empty array as None' },
  { stack: 'pysimplesoap', check: 'null-empty', reason: 'PySimpleSOAP fails on an array without items' },
  { stack: 'pysimplesoap', check: 'empty-array', reason: 'PySimpleSOAP fails on an array without items' },
  {
    stack: 'pysimplesoap',
    version: '1.2',
    check: 'fault',
    reason: 'PySimpleSOAP reads only faults of SOAP 1.1',
  },
  {
    stack: 'node-soap',
    check: 'int64',
    reason: 'node-soap reads an xs:long as a double; it sends the exact value if the program passes text',
  },
  { stack: 'node-soap', check: 'decimal', reason: 'node-soap reads an xs:decimal as a double' },
  {
    stack: 'node-soap',
    variant: 'signed',
    check: 'other certificate',
    reason: 'node-soap does not verify the signatures of replies',
  },
  { stack: 'node-soap', check: 'empty-array', reason: 'node-soap reads an empty array as null' },
  ...(['signed', 'encrypted'] as const).map((variant) => ({
    stack: 'metro',
    variant,
    check: 'emoji',
    reason:
      'Metro digests a character outside the Basic Multilingual Plane as two surrogates, which UTF-8 does not have',
  })),
  {
    stack: 'strong-soap',
    check: 'int64',
    reason: 'strong-soap reads an xs:long as a double; it sends the exact value if the program passes text',
  },
  { stack: 'strong-soap', check: 'decimal', reason: 'strong-soap reads an xs:decimal as a double' },
  { stack: 'strong-soap', check: 'null-empty', reason: 'strong-soap reads an empty text as undefined' },
  {
    stack: 'soap-lite',
    check: 'import',
    reason: 'SOAP::Lite makes no nested inputs from a WSDL; the program builds the calls',
  },
  { stack: 'soap-lite', version: '1.2', check: 'fault', reason: 'SOAP::Lite reads only faults of SOAP 1.1' },
  { stack: 'soap-wsdl', check: 'null-empty', reason: 'SOAP::WSDL reads a nil array as an empty array' },
  {
    stack: 'soap-wsdl',
    check: 'fault',
    reason: 'SOAP::WSDL reads no fault with a detail; faultDetail: none',
  },
  {
    stack: 'mono-wcf',
    check: 'fault',
    reason: "Mono's WCF reads no fault with a detail; faultDetail: none",
  },
  { stack: 'tclws', check: 'null-empty', reason: 'tclws reads nil and empty text as the same value' },
  {
    stack: 'tclws',
    check: 'emoji',
    reason: 'Tcl 8.6 has no characters outside the Basic Multilingual Plane',
  },
  { stack: 'tclws', check: 'map', reason: 'tclws reads an element of an anonymous type as text' },
  { stack: 'gowsdl', check: 'UpdateValidId', reason: 'gowsdl omits a false boolean' },
  { stack: 'gowsdl', check: 'decimal', reason: 'gowsdl reads an xs:decimal as a double' },
  { stack: 'gowsdl', check: 'null-empty', reason: 'gowsdl reads nil and empty text as the same value' },
  {
    stack: 'gowsdl',
    variant: 'mtom',
    check: 'base64',
    reason: 'gowsdl accepts an MTOM reply in SOAP 1.1 only with the start-info of SOAP 1.2',
  },
  { stack: 'gowsdl', check: 'fault', reason: 'gowsdl returns a fault as the text of its envelope' },
  { stack: 'luasoap', check: 'fault', reason: 'LuaSOAP returns a fault as the text of its envelope' },
  { stack: 'luasoap', check: 'import', reason: 'LuaSOAP reads no WSDL' },
  { stack: 'kdsoap', check: 'decimal', reason: 'KDSoap reads an xs:decimal as a float' },
  { stack: 'kdsoap', check: 'null-empty', reason: 'KDSoap reads nil and empty text as the same value' },
  { stack: 'php-plain', check: 'import', reason: 'this client runs without a WSDL' },
  { stack: 'curl', check: 'import', reason: 'curl reads no WSDL; it represents hand-written envelopes' },
];

/** An exchange of test/documents that a stack cannot make or read, whatever the gateway does. */
export interface ExchangeGap {
  readonly stack: string;
  /** Undefined: all versions. */
  readonly version?: Version;
  readonly document: string;
  /** Name of the exchange's folder. */
  readonly exchange: string;
  readonly reason: string;
}

const utcDates = 'strong-soap writes every date in UTC, with milliseconds';

export const exchangeGaps: readonly ExchangeGap[] = [
  {
    stack: 'jaxws-ri',
    document: 'shipengine',
    exchange: 'an-estimate-for-one-carrier-is-one-variant',
    reason: 'a Java double has no trailing zeros',
  },
  ...['node-soap', 'strong-soap'].flatMap((stack) => [
    {
      stack,
      document: 'petstore',
      exchange: 'statuses-repeat-their-name-in-the-query',
      reason: `${stack} reads an xs:long as a double`,
    },
    {
      stack,
      document: 'rclone',
      exchange: 'an-input-in-the-query-and-one-of-its-name-in-the-body',
      reason: `${stack} reads an xs:long as a double`,
    },
  ]),
  {
    stack: 'strong-soap',
    document: 'dialogporten',
    exchange: 'an-activity-is-created-and-its-id-comes-back',
    reason: utcDates,
  },
  {
    stack: 'strong-soap',
    document: 'dialogporten',
    exchange: 'lists-of-a-search-repeat-their-names',
    reason: utcDates,
  },
  {
    stack: 'strong-soap',
    document: 'shipengine',
    exchange: 'an-estimate-for-one-carrier-is-one-variant',
    reason: utcDates,
  },
];
