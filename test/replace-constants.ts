import { defaultLimits } from '../mappings/contract/limits.ts';

// A module for `node --import`: gives a process under test other values of limits that cannot be set. `withConstants`
// makes the environment of such a process.

Object.assign(defaultLimits, JSON.parse(process.env.TEST_CONSTANTS ?? '{}'));
