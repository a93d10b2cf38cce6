import { memoryLedger } from '../../lib/ledger/memory-ledger.ts';
import { counter } from '../support/kit.ts';
import { ledgerContract } from './contract.ts';
import { outsideContract } from './contract-outside.ts';

ledgerContract('memory', () => memoryLedger(counter('w')));
outsideContract('memory', () => memoryLedger(counter('w')));
