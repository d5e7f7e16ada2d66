/** Message bodies as JSON: {@link dev.outbox.jackson.JacksonSerializer}. */
@NullMarked
package dev.outbox.jackson;

import org.jspecify.annotations.NullMarked;
