package dev.outbox.benchmarks;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;

/** Versions of the libraries on the class path, as stated in their jars. */
final class Versions {
    private Versions() {}

    static String of(String group, String artifact) {
        String file = "/META-INF/maven/" + group + "/" + artifact + "/pom.properties";
        try (InputStream stream = Versions.class.getResourceAsStream(file)) {
            if (stream == null) {
                return "of unknown version";
            }
            Properties properties = new Properties();
            properties.load(stream);
            return properties.getProperty("version", "of unknown version");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
