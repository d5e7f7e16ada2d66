/** Shared between the modules of this library. Not API: anything here may change in any release. */
@NullMarked
package dev.outbox.internal;

import org.jspecify.annotations.NullMarked;
