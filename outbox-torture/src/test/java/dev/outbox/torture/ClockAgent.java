package dev.outbox.torture;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.ProtectionDomain;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;

/**
 * A Java agent that makes the library ask {@link SkewedClock} for the time instead of the JVM, without a change to it:
 * in the constant pool of each of its classes, {@code System.currentTimeMillis} and {@code Instant.now} become methods
 * of that class.
 */
public final class ClockAgent {
    private static final String CLOCK = "dev/outbox/torture/SkewedClock";

    private ClockAgent() {}

    /** Called by the JVM. */
    public static void premain(String arguments, Instrumentation instrumentation) {
        instrumentation.addTransformer(new ClassFileTransformer() {
            @Override
            public byte[] transform(
                    ClassLoader loader, String name, Class<?> type, ProtectionDomain domain, byte[] bytes) {
                boolean ours =
                        name != null && name.startsWith("dev/outbox/") && !name.startsWith("dev/outbox/torture/");
                return ours ? withSkewedClock(bytes) : null;
            }
        });
    }

    /** Writes the jar that {@code -javaagent} wants. */
    static Path jar(Path directory) {
        Path jar = directory.resolve("clock-agent.jar");
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().putValue("Premain-Class", ClockAgent.class.getName());
        try (OutputStream file = Files.newOutputStream(jar)) {
            new JarOutputStream(file, manifest).close(); // the classes are on the class path
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return jar;
    }

    /** The class with the two methods taken from elsewhere; null if it has none of them. */
    static byte[] withSkewedClock(byte[] bytes) {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        int count = Short.toUnsignedInt(in.getShort(8));
        int[] at = new int[count];
        int end = 10;
        for (int i = 1; i < count; i++) {
            at[i] = end;
            int tag = in.get(end);
            end += switch (tag) {
                case 1 -> 3 + Short.toUnsignedInt(in.getShort(end + 1));
                case 3, 4, 9, 10, 11, 12, 17, 18 -> 5;
                case 5, 6 -> 9;
                case 7, 8, 16, 19, 20 -> 3;
                case 15 -> 4;
                default -> throw new IllegalStateException("constant of kind " + tag);
            };
            if (tag == 5 || tag == 6) {
                i++; // long and double take two places
            }
        }
        byte[] patched = bytes.clone();
        boolean found = false;
        for (int i = 1; i < count; i++) {
            if (at[i] != 0 && in.get(at[i]) == 10) {
                int type = at[Short.toUnsignedInt(in.getShort(at[i] + 1))];
                int nameAndType = at[Short.toUnsignedInt(in.getShort(at[i] + 3))];
                String method = text(in, at[Short.toUnsignedInt(in.getShort(type + 1))]) + "."
                        + text(in, at[Short.toUnsignedInt(in.getShort(nameAndType + 1))])
                        + text(in, at[Short.toUnsignedInt(in.getShort(nameAndType + 3))]);
                if (method.equals("java/lang/System.currentTimeMillis()J")
                        || method.equals("java/time/Instant.now()Ljava/time/Instant;")) {
                    ByteBuffer.wrap(patched).putShort(at[i] + 1, (short) (count + 1));
                    found = true;
                }
            }
        }
        return found ? withClock(patched, count, end) : null;
    }

    private static String text(ByteBuffer in, int at) {
        return new String(in.array(), at + 3, Short.toUnsignedInt(in.getShort(at + 1)), StandardCharsets.UTF_8);
    }

    /** Two more constants at the end of the pool: the name of the clock, and the class of that name. */
    private static byte[] withClock(byte[] bytes, int count, int end) {
        try {
            ByteArrayOutputStream buffer = new ByteArrayOutputStream();
            DataOutputStream out = new DataOutputStream(buffer);
            out.write(bytes, 0, 8);
            out.writeShort(count + 2);
            out.write(bytes, 10, end - 10);
            out.writeByte(1);
            out.writeUTF(CLOCK);
            out.writeByte(7);
            out.writeShort(count);
            out.write(bytes, end, bytes.length - end);
            return buffer.toByteArray();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
