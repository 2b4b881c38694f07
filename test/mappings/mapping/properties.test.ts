import test from 'ava';
import { MappingError } from '../../../mappings/mapping/run.ts';
import { fc } from '../../property.ts';
import { mappingOf, type Sides } from './documents.ts';

/** Properties of a mapping for all inputs (M2, M3). */

const old = `
  type: object
  properties:
    Id: { type: integer }
    Kind: { type: string, enum: [Sale, Order] }
    Due: { type: string }
    Note: { type: string }
    Flag: { type: boolean }
    Total: { type: object, properties: { currencyID: { type: string }, value: { type: number } } }
    Lines: { type: array, items: { $ref: '#/components/schemas/Line' } }`;

/** Renames, moves, a table, a date, a number as text, nested lists, and the reverse direction. */
const there: Sides = {
  old,
  oldReply: old,
  body: "{ $ref: '#/components/schemas/New' }",
  answer: "{ $ref: '#/components/schemas/New' }",
  components: `
    Line: { type: object, properties: { Sku: { type: string }, Parts: { type: array, items: { $ref: '#/components/schemas/Line' } } } }
    New:
      type: object
      properties:
        id: { type: string }
        kind: { type: string, enum: [SALE, ORDER] }
        dates: { type: object, properties: { due: { type: string } } }
        note: { type: string }
        flags: { type: array, items: { type: boolean } }
        money: { type: object, properties: { cur: { type: string }, val: { type: number } } }
        lines: { type: array, items: { $ref: '#/components/schemas/Line' } }`,
  rules: `
    request:
      id: { from: Id, as: text }
      kind: { from: Kind, values: { Sale: SALE, Order: ORDER } }
      dates.due: { from: Due, date: [DD.MM.YYYY, YYYY-MM-DD] }
      note: Note
      flags: { from: Flag, as: list }
      money: { from: Total, map: { cur: currencyID, val: value } }
      lines: Lines
    reply:
      Id: { from: id, as: number }
      Kind: { from: kind, values: { SALE: Sale, ORDER: Order } }
      Due: { from: dates.due, date: [YYYY-MM-DD, DD.MM.YYYY] }
      Note: note
      Flag: "flags[0]"
      Total: { from: money, map: { currencyID: cur, value: val } }
      Lines: lines`,
};

const two = (most: number) =>
  fc.integer({ min: 1, max: most }).map((value) => String(value).padStart(2, '0'));
const date = fc.tuple(two(28), two(12), fc.integer({ min: 1000, max: 9999 })).map((parts) => parts.join('.'));

const { line } = fc.letrec((tie) => ({
  line: fc.record({ Sku: fc.string(), Parts: fc.array(tie('line'), { maxLength: 3 }) }, { requiredKeys: [] }),
}));

/** JSON.stringify cannot write large numbers, so they are inserted as text. */
const digits = fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }).map((value) => `#${value}`);

const request = fc
  .record(
    {
      Id: digits,
      Kind: fc.constantFrom('Sale', 'Order'),
      Due: date,
      Note: fc.string({ unit: 'binary' }),
      Flag: fc.boolean(),
      Total: fc.record({ currencyID: fc.string(), value: digits }, { requiredKeys: [] }),
      Lines: fc.array(line, { maxLength: 4 }),
    },
    { requiredKeys: [] },
  )
  .map((value) => JSON.stringify(value).replaceAll(/(?<="(?:Id|value)":)"#(-?[0-9]+)"/g, '$1'));

test('M3: mappings reported as reversible round-trip unchanged, with all digits', (t) => {
  const { operations, problems, oneWay } = mappingOf(there);
  t.deepEqual([problems, oneWay], [[], []]);
  const operation = operations.get('Do');
  fc.assert(
    fc.property(request, (json) => {
      const body = operation?.toCalls(json).calls[0]?.body ?? '';
      return operation?.toReply(0, [{ status: 200, headers: {}, body }]) === json;
    }),
    { numRuns: 500 },
  );
});

test('M3: any JSON is mapped, or refused with its path', (t) => {
  const operation = mappingOf(there).operations.get('Do');
  fc.assert(
    fc.property(fc.json(), (json) => {
      try {
        const [call] = operation?.toCalls(json).calls ?? [];
        JSON.parse(call?.body ?? '');
        return true;
      } catch (error) {
        return error instanceof MappingError && error.side === 'request';
      }
    }),
    { numRuns: 1_000 },
  );
  t.pass();
});
