import type {
  ArrayType,
  Contract,
  EnumType,
  Field,
  MapType,
  Operation,
  RecordType,
  ScalarName,
  Type,
} from '../../mappings/contract/model.ts';
import { defaultSettings } from '../../mappings/contract/overlay-keys.ts';
import { writtenBinding, writtenPorts } from '../../mappings/loader/build-contract.ts';

/** A hand-written contract with every kind of type in every position, including a recursive one. */
export const parcels: Contract = createParcels('urn:example:parcels', 'urn:example:arrays');

/** The same contract with one namespace for types and arrays, as in the dialect `plain`. */
export const plainParcels: Contract = createParcels('urn:example:parcels', 'urn:example:parcels');

function createParcels(types: string, arrays: string): Contract {
  const status: EnumType = {
    kind: 'enum',
    name: 'Status',
    documentation: 'Where it is',
    values: ['Sent', 'Under way', '<lost & "gone">'],
  };
  const strings = array('ArrayOfstring', 'arrays', 'string', scalar('string'));
  const meta: MapType = {
    kind: 'map',
    name: 'ArrayOfKeyValueOfstringint',
    namespace: 'arrays',
    entryName: 'KeyValueOfstringint',
    value: scalar('int'),
  };
  const contents: Field[] = [];
  const parcel: RecordType = {
    kind: 'record',
    name: 'Parcel',
    documentation: 'A parcel: é, 漢, 😀 & <more>',
    fields: contents,
  };
  const parts = array('ArrayOfParcel', 'types', 'Parcel', parcel);
  contents.push(field('Marks', strings), field('Meta', meta), field('Parts', parts), field('State', status), {
    ...field('Weight', scalar('decimal')),
    nillable: false,
  });
  const responseStatus = record('ResponseStatus', [field('Message', scalar('string'))]);
  const result = record('TrackParcelResult', [
    field('ResponseStatus', responseStatus),
    field('Parcel', parcel),
  ]);
  const send = operation({
    name: 'SendParcel',
    documentation: '',
    readOnly: false,
    input: record('SendParcel', [field('Parcel', parcel)]),
    output: record('SendParcelResponse', [field('Data', scalar('boolean'))]),
  });
  const track = operation({
    name: 'TrackParcel',
    documentation: 'Says where a parcel is,\nwhatever "it" is & <does>.',
    readOnly: true,
    input: record('TrackParcel', [
      { ...field('Id', scalar('long')), required: true, nillable: false },
      field('Marks', strings),
      field('Meta', meta),
      { ...field('State', status), allowed: ['Under way'] },
    ]),
    output: record('TrackParcelResponse', [field('Data', result)]),
  });
  return {
    service: 'Parcels',
    documentation: 'Parcels & their <ways>',
    basePath: '/v1',
    namespaces: { types, arrays },
    nulls: 'by-kind',
    jsonType: 'Json',
    operations: [send, track],
    ports: writtenPorts([send.name, track.name]),
    documents: [],
    typeNames: new Map(),
    notServed: [],
    types: [parcel, strings, meta, parts, status, result, responseStatus],
    routes: [
      {
        method: 'GET',
        segments: [
          { kind: 'literal', text: 'parcels' },
          { kind: 'parameter', field: 'id' },
        ],
        query: ['marks', 'state'],
        operation: track,
      },
    ],
    credentials: undefined,
    responseStatus,
    settings: {
      ...defaultSettings.openapi,
      upstreamTimeZone: 'UTC',
      unknownEnumValues: 'refuse',
      soapErrors: 'in-band',
      upstreamErrors: 'hide',
    },
    personal: [],
  };
}

export function scalar(name: ScalarName): Type {
  return { kind: 'scalar', scalar: name };
}

export function record(name: string, fields: readonly Field[]): RecordType {
  return { kind: 'record', name, documentation: '', fields };
}

export function array(name: string, namespace: 'types' | 'arrays', itemName: string, item: Type): ArrayType {
  return { kind: 'array', name, namespace, itemName, item };
}

export function field(xml: string, type: Type): Field {
  const json = xml.charAt(0).toLowerCase() + xml.slice(1);
  return { json, xml, type, nillable: true, required: false, notEmpty: false, allowed: undefined };
}

function operation(
  part: Pick<Operation, 'name' | 'documentation' | 'readOnly' | 'input' | 'output'>,
): Operation {
  return {
    ...part,
    binding: writtenBinding(part.name),
    tags: [],
    stream: false,
    upstream: {
      server: { address: undefined, basePath: '', root: '', credentials: true },
      method: 'POST',
      path: `/json/reply/${part.name}`,
      parameters: [],
      body: { kind: 'members', mediaType: 'application/json' },
      accept: 'application/json',
      reply: { kind: 'object' },
    },
    binaryInput: false,
    binaryOutput: false,
  };
}
