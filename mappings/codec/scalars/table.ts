import type { Limits } from '../../contract/limits.ts';
import type { JsonKind, ScalarName, Type } from '../../contract/model.ts';
import type { Settings } from '../../contract/overlay-keys.ts';
import { base64Binary } from './base64.ts';
import { boolean } from './boolean.ts';
import { isoDate, isoDateTime, wcfDate } from './date-types.ts';
import { duration } from './duration.ts';
import { jsonText } from './json-text.ts';
import { withNonFinite } from './non-finite.ts';
import type { IntegerRange } from './numbers.ts';
import { decimal, floating, integer } from './numeric.ts';
import type { Scalar } from './scalar.ts';
import { guid, string } from './strings.ts';
import { createZone } from './zone.ts';

/** The settings of a contract that affect scalars. */
export interface ScalarContext {
  readonly settings: Settings;
  readonly limits: Limits;
}

/** The definition of a scalar, the single source for all lists of scalars. */
export interface ScalarRow {
  /** Its type in XSD Part 2, without prefix (W33). */
  readonly xsd: string;
  /** The kind of its JSON tokens, which a union uses to select it. */
  readonly json: Extract<JsonKind, 'string' | 'integer' | 'number' | 'boolean' | 'any'>;
  /** The OpenAPI formats that, with the JSON type, mean this scalar in all dialects. */
  readonly formats?: readonly string[];
  /** A value's text in XML, for samples and pages. */
  readonly sample: string;
  /** The next wider scalars, which accept all values of this one (XSD Part 2, 3). */
  readonly wider?: readonly ScalarName[];
  /** The minimum and the maximum of a bounded integer. */
  readonly bounds?: IntegerRange;
  /** True if a JSON null is `i:nil`; otherwise it is no element (W19). */
  readonly reference?: boolean;
  /** True for dates and times: nillable in requests (W33), and a plain string under `dates: text`. */
  readonly temporal?: boolean;
  /** Compiles the scalar for a contract; called once, at start. */
  readonly compile: (context: ScalarContext) => Scalar;
}

/** Returns the row of a bounded integer, which is named after its XSD type. */
function integerRow(xsd: string, format: string, min: string, max: string, wider: readonly ScalarName[]) {
  const bounds: IntegerRange = { min, max };
  const compile = () => integer(xsd, bounds);
  return { xsd, json: 'integer', formats: [format], sample: '1', wider, bounds, compile } as const;
}

function floatingRow(xsd: 'float' | 'double', wider: readonly ScalarName[]) {
  const compile = ({ settings }: ScalarContext) => withNonFinite(floating(xsd), settings.nonFiniteNumbers);
  return { xsd, json: 'number', formats: [xsd], sample: '1.5', wider, compile } as const;
}

const sampleGuid = '6f9619ff-8b86-d011-b42d-00cf4fc964ff';

/**
 * The row of each scalar. To add a scalar, add its name to `ScalarName` in `mappings/contract/values.ts`, its row here,
 * and a file for its rules to this folder.
 */
export const scalarTable: Readonly<Record<ScalarName, ScalarRow>> = {
  string: { xsd: 'string', json: 'string', sample: 'string', reference: true, compile: () => string },
  guid: { xsd: 'string', json: 'string', sample: sampleGuid, reference: true, compile: () => guid },
  json: {
    xsd: 'string',
    json: 'any',
    sample: '{}',
    reference: true,
    compile: ({ limits }) => jsonText(limits),
  },
  boolean: { xsd: 'boolean', json: 'boolean', sample: 'true', compile: () => boolean },
  byte: integerRow('byte', 'int8', '-128', '127', ['short']),
  unsignedByte: integerRow('unsignedByte', 'uint8', '0', '255', ['short', 'unsignedShort']),
  short: integerRow('short', 'int16', '-32768', '32767', ['int']),
  unsignedShort: integerRow('unsignedShort', 'uint16', '0', '65535', ['int', 'unsignedInt']),
  int: integerRow('int', 'int32', '-2147483648', '2147483647', ['long', 'double']),
  unsignedInt: integerRow('unsignedInt', 'uint32', '0', '4294967295', ['long', 'unsignedLong', 'double']),
  long: integerRow('long', 'int64', '-9223372036854775808', '9223372036854775807', ['integer']),
  unsignedLong: integerRow('unsignedLong', 'uint64', '0', '18446744073709551615', ['integer']),
  integer: {
    xsd: 'integer',
    json: 'integer',
    sample: '1',
    wider: ['decimal'],
    compile: () => integer('integer'),
  },
  decimal: { xsd: 'decimal', json: 'number', sample: '1.5', compile: () => decimal },
  float: floatingRow('float', ['double']),
  double: floatingRow('double', []),
  dateTime: {
    xsd: 'dateTime',
    json: 'string',
    formats: ['date-time'],
    sample: '2026-01-31T12:00:00Z',
    temporal: true,
    compile: ({ settings: { dates, upstreamTimeZone, utcDates, invalidDates, validate } }) =>
      dates === 'wcf'
        ? wcfDate(createZone(upstreamTimeZone ?? 'UTC'), utcDates, invalidDates)
        : isoDateTime({
            onInvalid: invalidDates,
            zone: upstreamTimeZone === undefined ? undefined : createZone(upstreamTimeZone),
            isStrict: validate === 'strict',
          }),
  },
  date: {
    xsd: 'date',
    json: 'string',
    formats: ['date'],
    sample: '2026-01-31',
    temporal: true,
    compile: ({ settings: { invalidDates } }) => isoDate(invalidDates),
  },
  duration: {
    xsd: 'duration',
    json: 'string',
    formats: ['duration'],
    sample: 'P1DT12H',
    temporal: true,
    compile: ({ settings: { invalidDates } }) => duration(invalidDates),
  },
  base64Binary: {
    xsd: 'base64Binary',
    json: 'string',
    formats: ['byte'],
    sample: 'AAEC',
    reference: true,
    compile: () => base64Binary,
  },
};

/** Each scalar with its row, in the table's order. */
export const scalarRows = Object.entries(scalarTable) as readonly (readonly [ScalarName, ScalarRow])[];

/** The compiled scalars of a contract. */
export type Scalars = Readonly<Record<ScalarName, Scalar>>;

/** Compiles all scalars for a contract's settings and limits, at start. */
export function compileScalars(context: ScalarContext): Scalars {
  const compiled: Partial<Record<ScalarName, Scalar>> = {};
  for (const [name, row] of scalarRows) compiled[name] = row.compile(context);
  return compiled as Scalars;
}

/** Returns true if a JSON null of the type is `i:nil`; otherwise it is no element (W19). */
export function isReference(type: Type): boolean {
  return type.kind === 'scalar' ? scalarTable[type.scalar].reference === true : type.kind !== 'enum';
}

/** Returns the scalars by format for a JSON type: `int32` of an integer is `int`. */
export function scalarsByFormat(json: ScalarRow['json']): ReadonlyMap<string, ScalarName> {
  const rows = scalarRows.filter(([, row]) => row.json === json);
  return new Map(
    rows.flatMap(([name, { formats = [] }]) => formats.map((format) => [format, name] as const)),
  );
}

/** Returns true if each value of the first scalar is a value of the second. */
export function isWithin(narrow: ScalarName, wide: ScalarName): boolean {
  return narrow === wide || scalarTable[narrow].wider?.some((next) => isWithin(next, wide)) === true;
}
