import type { Stats } from 'node:fs';

/** Permission bits of group and others. */
const ofOthers = 0o077;
/** The same without the right of the group to read. */
const ofOthersButGroupReads = 0o037;

/**
 * Returns true if only the process can read a file (W49, X2). If another user owns the file, as in a mounted Secret, the
 * process can read it only as a member of its group.
 *
 * @param user id of the user of the process; undefined on Windows
 */
export function isPrivate({ mode, uid }: Pick<Stats, 'mode' | 'uid'>, user: number | undefined): boolean {
  const isForeign = user !== undefined && user !== 0 && uid !== user;
  return (mode & (isForeign ? ofOthersButGroupReads : ofOthers)) === 0;
}
