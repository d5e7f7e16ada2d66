/** For the people who operate outboxes and inboxes: start at {@link dev.outbox.admin.Admin}. */
@NullMarked
package dev.outbox.admin;

import org.jspecify.annotations.NullMarked;
