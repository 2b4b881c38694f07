import { defaultLimits } from '../mappings/contract/limits.ts';

// A module for `node --import` that changes constant limits in a process under test. `withConstants` creates the
// environment of such a process.

Object.assign(defaultLimits, JSON.parse(process.env.TEST_CONSTANTS ?? '{}'));
