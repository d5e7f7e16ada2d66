/**
 * The API for operators of outboxes and inboxes: start at {@link dev.outbox.admin.Admin}. The internal packages are not
 * API.
 */
@NullMarked
package dev.outbox.admin;

import org.jspecify.annotations.NullMarked;
