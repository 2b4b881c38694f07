import {
  type ArrayType,
  errorMembers,
  type FaultDetail,
  type MapType,
  type Operation,
  type RecordType,
  type ScalarType,
  type Type,
} from '../../contract/model.ts';
import { type Names, upperFirst, type Wanted } from '../names/names.ts';
import type { Overlay } from '../overlay/overlay.ts';
import type { TypeBuilder } from '../schema/type-builder.ts';

const text: ScalarType = { kind: 'scalar', scalar: 'string' };

/** The record of an in-band error: the document's own, or the family's (specification, Errors 1 and 2). */
export function findResponseStatus(builder: TypeBuilder): RecordType {
  const own = builder.component('ResponseStatus');
  return own?.kind === 'record' && own.fields.some(({ json }) => json === 'errorCode') ? own : familyStatus();
}

const detailNames = {
  element: { key: 'fault', name: 'FaultDetail' },
  problem: { key: 'faultProblem', name: 'FaultProblem' },
  problems: { key: 'faultProblem[]', name: 'ArrayOfFaultProblem' },
} as const satisfies Record<keyof FaultDetail, Wanted>;

/** The types of a fault's detail, to be named; none where faults have no detail. */
export function faultDetailTypes({ settings }: Overlay): readonly Wanted[] {
  const has = settings.soapErrors === 'fault' && settings.faultDetail === 'declared';
  return has ? Object.values(detailNames) : [];
}

/** What a fault's detail holds, by the names that its types were given; undefined for none. */
export function faultDetailOf(names: Names): FaultDetail | undefined {
  const { element, problem, problems } = detailNames;
  if (!names.has(element.key)) return undefined;
  const nameOf = ({ key, name }: Wanted): string => names.get(key) ?? name;
  return { element: nameOf(element), problem: nameOf(problem), problems: nameOf(problems) };
}

/** The family's record of an in-band error. */
export function familyStatus(): RecordType {
  const meta: MapType = {
    kind: 'map',
    name: 'ArrayOfKeyValueOfstringstring',
    namespace: 'arrays',
    entryName: 'KeyValueOfstringstring',
    value: text,
  };
  const error = record('ResponseError', { errorCode: text, fieldName: text, message: text, meta });
  const errors: ArrayType = {
    kind: 'array',
    name: 'ArrayOfResponseError',
    namespace: 'types',
    itemName: 'ResponseError',
    item: error,
  };
  return record('ResponseStatus', { errorCode: text, message: text, stackTrace: text, errors, meta });
}

function record(name: string, members: Readonly<Record<string, Type>>): RecordType {
  const fields = Object.entries(members).map(([json, type]) => ({
    json,
    xml: upperFirst(json),
    type,
    nillable: true,
    required: false,
    notEmpty: false,
    allowed: undefined,
  }));
  return { kind: 'record', name, documentation: '', fields };
}

/** True when the operation's replies have the family's place for an error, `data.responseStatus` (W26). */
export function carriesStatus(operation: Pick<Operation, 'output'>, responseStatus: RecordType): boolean {
  const data = operation.output.fields.find((field) => field.json === errorMembers.data)?.type;
  return (
    data?.kind === 'record' &&
    data.fields.some((field) => field.json === errorMembers.status && field.type === responseStatus)
  );
}
