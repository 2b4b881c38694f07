import type { RequestContext } from '../../http/request-context.ts';
import { type Received, receiveAll } from '../receive.ts';
import type { Recording } from './recording.ts';

/** Receives and copies the message for the upstream. A message with a streamed file has no copy. */
export async function startRecording(
  { options: { service } }: RequestContext,
  received: Received,
  recording: Recording,
): Promise<void> {
  if (received.rest !== undefined && service.streams) return;
  await receiveAll(received, service.bodyLimit);
  recording.sent(received.bytes);
}
