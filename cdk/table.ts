/**
 * The ledger's table. It outlives the stack, can be restored to any second of the last 35 days, and has no
 * TTL: expiry is decided by rules, never by a deletion that may come two days late.
 */
import { RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, BillingMode, ProjectionType, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb';
import { Key } from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';
import { TABLE } from '../lib/platform/names.ts';

export interface Ledger {
  readonly table: Table;
  /** Encrypts the table; ours, rotated every year, and kept as long as the table. */
  readonly key: Key;
}

export function ledgerTable(scope: Construct): Ledger {
  const key = new Key(scope, 'LedgerKey', {
    description: 'Encrypts the Kakutei ledger',
    enableKeyRotation: true,
    removalPolicy: RemovalPolicy.RETAIN,
  });
  const table = new Table(scope, 'Ledger', {
    partitionKey: { name: TABLE.partitionKey, type: AttributeType.STRING },
    sortKey: { name: TABLE.sortKey, type: AttributeType.STRING },
    billingMode: BillingMode.PAY_PER_REQUEST,
    encryption: TableEncryption.CUSTOMER_MANAGED,
    encryptionKey: key,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    deletionProtection: true,
    removalPolicy: RemovalPolicy.RETAIN,
  });
  for (const index of Object.values(TABLE.indexes)) addIndex(table, index);
  return { table, key };
}

function addIndex(table: Table, index: (typeof TABLE.indexes)[keyof typeof TABLE.indexes]): void {
  table.addGlobalSecondaryIndex({
    indexName: index.name,
    partitionKey: { name: index.partitionKey, type: AttributeType.STRING },
    sortKey: { name: index.sortKey, type: AttributeType.NUMBER },
    // An index only proposes; decisions read the item itself.
    projectionType: ProjectionType.KEYS_ONLY,
  });
}
