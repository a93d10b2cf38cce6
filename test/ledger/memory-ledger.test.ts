import { memoryLedger } from '../../lib/ledger/memory-ledger.ts';
import { counter } from '../support/kit.ts';
import { ledgerContract } from './contract.ts';

ledgerContract('memory', () => memoryLedger(counter('w')));
