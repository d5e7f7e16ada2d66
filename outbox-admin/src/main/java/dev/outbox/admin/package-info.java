/** For people who operate outboxes and inboxes; start at {@link dev.outbox.admin.Admin}. What is internal is not API. */
@NullMarked
package dev.outbox.admin;

import org.jspecify.annotations.NullMarked;
