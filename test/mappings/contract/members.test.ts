import test from 'ava';
import { isObjectType, jsonFormOf, membersOf } from '../../../mappings/contract/members.ts';
import type { Members, Order } from '../../../mappings/contract/type-graph.ts';
import { element as e, many, maybe } from '../codec/adopted/messages.ts';
import { getOf, serviceOf, typeOfGet } from '../loader/wsdl/wsdl-folder.ts';

/** Describes the members of a content model: `*` repeats, `!` is required; choices and the order in XML follow `;`. */

function told({ members, choices, order }: Members): string {
  const names = members.map((member) => {
    const { json, repeats, required } = member;
    const rounds = member.kind === 'rounds' ? `(${told(member.content)})` : '';
    const kind = { element: '', any: '', rounds }[member.kind];
    return `${json}${kind}${repeats ? '*' : ''}${required ? '!' : ''}`;
  });
  const nameAt = (index: number): string => members[index]?.json ?? '?';
  const branches = choices.map((choice) =>
    choice.branches.map((branch) => [...branch].map(nameAt).join(' ')).join('|'),
  );
  const orderOf = (part: Order): string => {
    if (part.kind === 'member') return `${nameAt(part.index)}${part.most === 1 ? '' : part.most}`;
    if (part.kind === 'sequence') return `(${part.parts.map(orderOf).join(' ')})`;
    const outside = [...part.outside].map(nameAt).join(' ');
    return `[${part.parts.map((one) => orderOf(one.order)).join('|')}${outside === '' ? '' : ` but ${outside}`}]`;
  };
  return [names.join(' '), ...branches, ...(order === undefined ? [] : [orderOf(order)])].join('; ');
}

const group = (kind: string, content: string, more = ''): string =>
  `<xs:${kind} ${more}>${content}</xs:${kind}>`;
const choice = (...parts: readonly string[]): string => group('choice', parts.join(''));
const sequence = (...parts: readonly string[]): string => group('sequence', parts.join(''));
const [a, b, c, d] = [e('a'), e('b'), e('c'), e('d')];

for (const [title, content, members] of [
  ['a sequence has its elements', sequence(a, e('b', 'xs:string', maybe), e('c', 'xs:string', many)), 'a! b c*'],
  ['what is in a group that may be nothing is not required', sequence(group('sequence', a + b, maybe)), 'a b'],
  ['what is in a group that has to be there is', sequence(group('sequence', a + b, 'minOccurs="1"')), 'a! b!'],
  ['a group of one element is that element, as often as both say', sequence(a, group('sequence', e('b', 'xs:string', 'maxOccurs="2"'), many)), 'a! b*'],
  ['a group of one element that has to be there is required', sequence(a, group('sequence', b, 'maxOccurs="2"')), 'a! b*!'],
  ['a choice of choices is one', choice(a, choice(b, choice(c, d))), 'a b c d; a|b|c|d'],
  ['a choice that repeats in one that doesn’t is a member of it', choice(a, group('choice', b + c, many)), 'a @items(b c; b|c)*; a|@items'],
  ['a choice that stands twice in one that doesn’t repeat is a member of it', choice(a, group('choice', b + c, 'maxOccurs="2"')), 'a @items(b c; b|c)*; a|@items'],
  ['a choice that repeats twice in one that repeats is part of that', group('choice', a + group('choice', b + c, 'maxOccurs="2"'), 'maxOccurs="2"'), '@items(a b c; a|b|c)*!'],
  ['a choice in one that repeats is part of that', group('choice', a + choice(b, c), many), '@items(a b c; a|b|c)*'],
  ['an element that repeats in a choice that repeats has a round each time', group('choice', e('a', 'xs:string', many) + b, 'maxOccurs="2"'), '@items(a b; a|b)*!'],
  ['an element that repeats in a choice that doesn’t is a list', choice(e('a', 'xs:string', many), e('b', 'xs:string', 'maxOccurs="2"')), 'a* b*; a|b'],
  ['a sequence within a choice that repeats keeps its lists', group('choice', a + sequence(e('b', 'xs:string', many), c), many), '@items(a b* c; a|b c)*'],
  ['a sequence that repeats keeps its lists', group('sequence', a + e('b', 'xs:string', many), many), '@items(a! b*)*'],
  ['a sequence in a choice has its choices', choice(sequence(a, choice(b, c)), d), 'a b c d; a b c|d; b|c'],
  ['a choice of one branch is none', sequence(a, choice(sequence(b, c))), 'a! b! c!'],
  ['an element in two places is a list in a sequence', sequence(a, b, e('a', 'xs:string', maybe)), 'a*! b!; (a b a)'],
  ['an element in two branches is none', choice(sequence(a, b), sequence(c, a)), 'a b c; a b|c a; [(a b)|(c a)]'],
  ['an element in a branch and behind the choice is a list', sequence(choice(sequence(a, b), c), e('a', 'xs:string', 'minOccurs="0" maxOccurs="3"')), 'a* b c; a b|c; ([(a b)|c but a] a3)'],
  ['an element in branches of two choices is a list', sequence(choice(a, b), choice(a, c)), 'a* b c; a|b; a|c; ([a|b but a] [a|c but a])'],
  ['wildcards are one member, wherever they stand', sequence('<xs:any minOccurs="0" namespace="urn:x"/>', a, '<xs:any minOccurs="0" namespace="urn:y"/>'), '@any* a!'],
  ['a wildcard in two branches is no list', choice(sequence('<xs:any minOccurs="0" namespace="urn:x"/>', a), sequence('<xs:any minOccurs="0" namespace="urn:x"/>', b)), '@any a b; @any a|@any b'],
  ['groups of one kind that repeat are a member each', sequence(group('sequence', a + b, many), group('choice', c + d, 'maxOccurs="2"')), '@items(a! b!)* @items_2(c d; c|d)*!'],
  ['a group of any order has its elements', group('all', a + e('b', 'xs:string', maybe)), 'a! b'],
] as const) // biome-ignore format: a table
  test(`A10 to A16: ${title}`, (t) => {
    const { content: model } = typeOfGet(serviceOf(t, getOf(`<xs:complexType>${content}</xs:complexType>`)));
    t.is(model.kind === 'elements' ? told(membersOf(model.particle)) : model.kind, members);
  });

const soapenc = 'http://schemas.xmlsoap.org/soap/encoding/';
const arrayOf = (item: string): string =>
  `<xs:complexType><xs:complexContent><xs:restriction base="soapenc:Array" xmlns:soapenc="${soapenc}"><xs:attribute ref="soapenc:arrayType" w:arrayType="${item}" xmlns:w="http://schemas.xmlsoap.org/wsdl/"/></xs:restriction></xs:complexContent></xs:complexType>`;
const attribute = '<xs:attribute name="at" type="xs:int"/>';

for (const [title, type, kind, value] of [
  ['elements', `<xs:complexType>${sequence(a, b)}</xs:complexType>`, 'object', undefined],
  ['mixed content and an attribute', `<xs:complexType mixed="true">${attribute}</xs:complexType>`, 'object', 'value'],
  ['text and an attribute', `<xs:complexType><xs:simpleContent><xs:extension base="xs:int">${attribute}</xs:extension></xs:simpleContent></xs:complexType>`, 'object', 'value'],
  ['an array of one dimension', arrayOf('xs:int[]'), 'list', undefined],
  ['an array of two dimensions', arrayOf('xs:int[,]'), 'refused', undefined],
] as const) // biome-ignore format: a table
  test(`the JSON form of a type with ${title} is ${kind}`, (t) => {
    const declared = typeOfGet(serviceOf(t, getOf(type)));
    const form = jsonFormOf(declared, false);
    t.is(form.kind, kind);
    t.is(isObjectType(declared), kind === 'object');
    if (form.kind === 'object') t.is(form.value?.json, value);
    if (form.kind === 'object' && title.startsWith('text')) t.is(form.value?.type?.builtIn, 'int');
  });
