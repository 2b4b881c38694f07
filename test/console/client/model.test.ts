import test from 'ava';
import {
  emptySlot,
  type Form,
  givenValue,
  membersOf,
  writePayload,
} from '../../../console/client/try/model.ts';
import type { MemberDescription, TypeDescription } from '../../../console/description.ts';

const text = { scalar: 'string', json: 'string' };

/** Nested types, one of them recursive. */
const types: Record<string, TypeDescription> = {
  Node: {
    kind: 'record',
    name: 'Node',
    members: [
      { json: 'name', xml: 'Name', type: text },
      { json: 'next', xml: 'Next', type: { type: 'Node' } },
    ],
  },
  Names: { kind: 'array', name: 'Names', namespace: 'arrays', itemName: 'string', item: text },
  Meta: { kind: 'map', name: 'Meta', namespace: 'types', entryName: 'Entry', value: text },
  Either: {
    kind: 'union',
    name: 'Either',
    variants: [
      { xml: 'One', type: text },
      { xml: 'Other', type: { type: 'Node' } },
    ],
  },
};

const form: Form = { types, namespaces: { types: 'urn:t', arrays: 'urn:a' } };

/** Creates a form with one given member. */
function member(type: MemberDescription['type']) {
  const members = membersOf([{ json: 'a', xml: 'A', type, required: true }]);
  const [first] = members;
  if (first === undefined) throw new Error('expected a member');
  return { members, slot: first.slot, value: givenValue(form, first.slot, type) };
}

test('absent, nil and empty are different values', (t) => {
  const { members, slot } = member(text);
  t.is(writePayload(form, 'Op', members), '<Op xmlns="urn:t">\n  <A></A>\n</Op>');
  slot.state = 'nil';
  t.true(writePayload(form, 'Op', members).includes('<A i:nil="true"/>'));
  slot.state = 'absent';
  t.is(writePayload(form, 'Op', members), '<Op xmlns="urn:t"></Op>');
});

test('a member is absent at first unless it is required', (t) => {
  const [one, other] = membersOf([
    { json: 'a', xml: 'A', type: text },
    { json: 'b', xml: 'B', type: text, required: true },
  ]);
  t.deepEqual([one?.slot.state, other?.slot.state], ['absent', 'given']);
});

test('values are text, also if they look like markup', (t) => {
  const { members, value } = member(text);
  if (value.kind === 'text') value.text = '</A><B attr="&">\r';
  t.true(
    writePayload(form, 'Op', members).includes('<A>&lt;/A&gt;&lt;B attr=&quot;&amp;&quot;&gt;&#13;</A>'),
  );
});

test('a recursive type is as deep as it is filled', (t) => {
  const { members, value } = member({ type: 'Node' });
  if (value.kind !== 'record') return t.fail();
  const next = value.members[1];
  if (next === undefined) return t.fail();
  next.slot.state = 'given';
  t.is(writePayload(form, 'Op', members), '<Op xmlns="urn:t">\n  <A>\n    <Next/>\n  </A>\n</Op>');
});

test('list items are in the namespace of arrays, map entries in their own', (t) => {
  const list = member({ type: 'Names' });
  if (list.value.kind === 'list') list.value.items.push(emptySlot('given'));
  t.is(
    writePayload(form, 'Op', list.members),
    '<Op xmlns="urn:t" xmlns:arr="urn:a">\n  <A>\n    <arr:string></arr:string>\n  </A>\n</Op>',
  );
  const map = member({ type: 'Meta' });
  if (map.value.kind === 'map') map.value.entries.push({ key: 'k', slot: emptySlot('given') });
  t.true(
    writePayload(form, 'Op', map.members).includes('<Entry>\n      <Key>k</Key>\n      <Value></Value>'),
  );
});

test('only the chosen variant of a union is written', (t) => {
  const { members, value } = member({ type: 'Either' });
  if (value.kind !== 'union') return t.fail();
  t.true(writePayload(form, 'Op', members).includes('<A>\n    <One></One>\n  </A>'));
  value.chosen = 1;
  t.true(writePayload(form, 'Op', members).includes('<A>\n    <Other/>\n  </A>'));
});
