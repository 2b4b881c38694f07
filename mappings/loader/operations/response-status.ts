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

/** Returns the record of an in-band error: the document's own or the default (specification, Errors 1 and 2). */
export function findResponseStatus(builder: TypeBuilder): RecordType {
  const own = builder.component('ResponseStatus');
  return own?.kind === 'record' && own.fields.some(({ json }) => json === 'errorCode') ? own : familyStatus();
}

const detailNames = {
  element: { key: 'fault', name: 'FaultDetail' },
  problem: { key: 'faultProblem', name: 'FaultProblem' },
  problems: { key: 'faultProblem[]', name: 'ArrayOfFaultProblem' },
} as const satisfies Record<keyof FaultDetail, Wanted>;

/** Returns the types of a fault's detail, which need names; empty if faults have no detail. */
export function faultDetailTypes({ settings }: Overlay): readonly Wanted[] {
  const has = settings.soapErrors === 'fault' && settings.faultDetail === 'declared';
  return has ? Object.values(detailNames) : [];
}

/** Returns the fault detail with its assigned type names; undefined if faults have no detail. */
export function faultDetailOf(names: Names): FaultDetail | undefined {
  const { element, problem, problems } = detailNames;
  if (!names.has(element.key)) return undefined;
  const nameOf = ({ key, name }: Wanted): string => names.get(key) ?? name;
  return { element: nameOf(element), problem: nameOf(problem), problems: nameOf(problems) };
}

/** Returns the default record of an in-band error. */
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

/** Returns true if the operation's reply has the member for an in-band error, `data.responseStatus` (W26). */
export function carriesStatus(operation: Pick<Operation, 'output'>, responseStatus: RecordType): boolean {
  const data = operation.output.fields.find((field) => field.json === errorMembers.data)?.type;
  return (
    data?.kind === 'record' &&
    data.fields.some((field) => field.json === errorMembers.status && field.type === responseStatus)
  );
}
