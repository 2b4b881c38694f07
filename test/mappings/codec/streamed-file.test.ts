import test from 'ava';
import { StreamedFile } from '../../../mappings/codec/streamed-file.ts';

async function* piecesOf(texts: readonly string[], failure?: Error): AsyncGenerator<Buffer> {
  for (const text of texts) yield Buffer.from(text);
  if (failure !== undefined) throw failure;
}

test('W64: a streamed file returns its chunks once', async (t) => {
  const file = new StreamedFile(piecesOf(['a', 'b']));
  const read = async (): Promise<string> => {
    let text = '';
    for await (const piece of file) text += piece.toString();
    return text;
  };
  t.is(await read(), 'ab');
  t.is(await read(), '');
  await t.notThrowsAsync(file.readToEnd());
});

test('W64: readToEnd drops unread chunks', async (t) => {
  const file = new StreamedFile(piecesOf(['a', 'b', 'c']));
  const pieces = file[Symbol.asyncIterator]();
  t.is((await pieces.next()).value?.toString(), 'a');
  await file.readToEnd();
  t.true((await pieces.next()).done);
});

test('W64: readToEnd throws the error of interrupted chunks', async (t) => {
  const failure = new Error('broken off');
  t.is(await t.throwsAsync(new StreamedFile(piecesOf(['a'], failure)).readToEnd()), failure);
});

test('W64: readToEnd throws an error that a reader of the chunks already got', async (t) => {
  const failure = new Error('broken off');
  const file = new StreamedFile(piecesOf([], failure));
  t.is(await t.throwsAsync(file[Symbol.asyncIterator]().next()), failure);
  t.is(await t.throwsAsync(file.readToEnd()), failure);
});
