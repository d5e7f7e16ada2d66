/**
 * How work items are claimed: the cycle around the claim statement, how far a source has come in each of its queues, and how
 * a row is read as a work item. The statements themselves are in the databases' modules. Not API: anything here may change in
 * any release.
 */
@NullMarked
package dev.outbox.jdbc.internal.claim;

import org.jspecify.annotations.NullMarked;
