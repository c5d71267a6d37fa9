import { testShare } from './share.ts';

testShare(4);
