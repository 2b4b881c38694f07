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

/** What a contract decides of its scalars. */
export interface ScalarContext {
  readonly settings: Settings;
  readonly limits: Limits;
}

/** All there is to know of a scalar; whatever else lists scalars is made of it. */
export interface ScalarRow {
  /** Its type of XSD Part 2, without prefix (W33). */
  readonly xsd: string;
  /** The kind of JSON token that a value is, and a union knows it by. */
  readonly json: Extract<JsonKind, 'string' | 'integer' | 'number' | 'boolean' | 'any'>;
  /** The formats of OpenAPI, beside the type of that kind, that mean this scalar in every dialect. */
  readonly formats?: readonly string[];
  /** A value's text in XML, for samples and pages. */
  readonly sample: string;
  /** The next wider scalars, each of which takes all values of this one (XSD Part 2, 3). */
  readonly wider?: readonly ScalarName[];
  /** The least and the greatest value, of an integer that has some. */
  readonly bounds?: IntegerRange;
  /** A JSON null is `i:nil` rather than no element (W19). */
  readonly reference?: boolean;
  /** Of time: nillable in requests (W33), and a string like others under `dates: text`. */
  readonly temporal?: boolean;
  /** Its readers and writers in a contract; called once, at start. */
  readonly compile: (context: ScalarContext) => Scalar;
}

/** The row of an integer with bounds, which is called as its type of XSD. */
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

/** A row for each scalar. To add one: its name in the model, its row here, and a file beside this one for its rules. */
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
            misfits: invalidDates,
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

/** Every scalar with its row, in the table's order. */
export const scalarRows = Object.entries(scalarTable) as readonly (readonly [ScalarName, ScalarRow])[];

/** The scalars of a contract, compiled. */
export type Scalars = Readonly<Record<ScalarName, Scalar>>;

/** Compiles all scalars for a contract's settings and limits, at start. */
export function compileScalars(context: ScalarContext): Scalars {
  const compiled: Partial<Record<ScalarName, Scalar>> = {};
  for (const [name, row] of scalarRows) compiled[name] = row.compile(context);
  return compiled as Scalars;
}

/** A JSON null of these types is `i:nil`; of the others it is no element (W19). */
export function isReference(type: Type): boolean {
  return type.kind === 'scalar' ? scalarTable[type.scalar].reference === true : type.kind !== 'enum';
}

/** The scalars that formats mean beside a JSON type: `int32` of an integer is `int`. */
export function scalarsByFormat(json: ScalarRow['json']): ReadonlyMap<string, ScalarName> {
  const rows = scalarRows.filter(([, row]) => row.json === json);
  return new Map(
    rows.flatMap(([name, { formats = [] }]) => formats.map((format) => [format, name] as const)),
  );
}

/** True when every value of the one scalar is a value of the other. */
export function isWithin(narrow: ScalarName, wide: ScalarName): boolean {
  return narrow === wide || scalarTable[narrow].wider?.some((next) => isWithin(next, wide)) === true;
}
