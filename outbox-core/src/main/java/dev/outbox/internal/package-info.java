/** Code that the modules of this library share. Not API: anything here may change in any release. */
@NullMarked
package dev.outbox.internal;

import org.jspecify.annotations.NullMarked;
