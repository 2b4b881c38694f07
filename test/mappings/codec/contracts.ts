import type { Contract } from '../../../mappings/contract/model.ts';
import { buildContract } from '../../../mappings/loader/build-contract.ts';
import { readContract, screeningContract } from '../../../mappings/loader/load.ts';

// Tests that need none of these contracts import codec-calls.ts, because loading the contracts is slow.
export * from './codec-calls.ts';

export const screening: Contract = readContract(screeningContract).contract;

const parcel = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string', minLength: 1 },
    note: { type: ['string', 'null'] },
    anything: {},
    fragile: { type: 'boolean' },
    int8: { type: 'integer', format: 'int8' },
    uint8: { type: 'integer', format: 'uint8' },
    int16: { type: 'integer', format: 'int16' },
    uint16: { type: 'integer', format: 'uint16' },
    int32: { type: 'integer', format: 'int32' },
    uint32: { type: 'integer', format: 'uint32' },
    int64: { type: 'integer', format: 'int64' },
    uint64: { type: 'integer', format: 'uint64' },
    weight: { type: 'number' },
    float: { type: 'number', format: 'float' },
    double: { type: ['number', 'null'], format: 'double' },
    sentAt: { type: 'string', format: 'date-time' },
    day: { type: 'string', format: 'date' },
    takes: { type: 'string', format: 'duration' },
    photo: { type: ['string', 'null'], format: 'byte' },
    state: { $ref: '#/components/schemas/State' },
    marks: { type: 'array', items: { type: 'string' } },
    counts: { type: 'array', items: { type: 'integer', format: 'int32' } },
    states: { type: 'array', items: { $ref: '#/components/schemas/State' } },
    grid: { type: 'array', items: { type: 'array', items: { type: 'boolean' } } },
    parts: { type: 'array', items: { $ref: '#/components/schemas/Parcel' } },
    wrapping: { anyOf: [{ $ref: '#/components/schemas/Parcel' }, { type: 'null' }] },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    scores: { type: 'object', additionalProperties: { type: 'number' } },
    byName: { type: 'object', additionalProperties: { $ref: '#/components/schemas/Parcel' } },
    'odd name': { type: 'string' },
  },
} as const;

const answer = (schema: object) => ({ description: 'done', content: { 'application/json': { schema } } });

/** A contract of the dialect `plain` with every kind of type, including a recursive one. */
export const depot: Contract = buildContract({
  openapiName: 'openapi',
  overlayName: 'soap',
  openapi: {
    openapi: '3.1.0',
    info: { title: 'Depot', version: '1' },
    paths: {
      '/parcels/{id}': {
        get: {
          operationId: 'GetParcel',
          parameters: [
            { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
            { name: 'since', in: 'query', schema: { type: 'string', format: 'date-time' } },
            { name: 'state', in: 'query', schema: { $ref: '#/components/schemas/State' } },
            { name: 'most', in: 'query', schema: { type: 'integer', format: 'int32' } },
            { name: 'X-Trace', in: 'header', schema: { type: 'string' } },
          ],
          responses: { 200: answer({ $ref: '#/components/schemas/Parcel' }) },
        },
        delete: {
          operationId: 'DropParcel',
          parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
          responses: { 204: { description: 'gone' } },
        },
      },
      '/parcels': {
        post: {
          operationId: 'SendParcel',
          requestBody: {
            required: true,
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Parcel' } } },
          },
          responses: { 201: answer({ type: 'array', items: { $ref: '#/components/schemas/Parcel' } }) },
        },
      },
      '/count': {
        get: {
          operationId: 'CountParcels',
          responses: { 200: answer({ type: 'integer', format: 'int32' }) },
        },
      },
    },
    components: {
      schemas: { Parcel: parcel, State: { type: 'string', enum: ['sent', 'under way', '<lost & "gone">'] } },
    },
  },
  overlay: {
    dialect: 'plain',
    service: 'Depot',
    credentials: { headers: { token: 'X-Token' }, secret: ['token'], send: 'headers' },
  },
}).contract;
