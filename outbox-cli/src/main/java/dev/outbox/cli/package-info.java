/** The command line for operators. */
@NullMarked
package dev.outbox.cli;

import org.jspecify.annotations.NullMarked;
