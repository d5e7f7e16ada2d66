package dev.outbox.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** Test databases on a server that was chosen by configuration, seen from a JVM of its own. */
class ConfiguredServerTest {
    @Test
    void theServerCanBeGivenByItsAddressOrAsAContainer() throws Exception {
        try (EmbeddedDatabase database = EmbeddedDatabase.create();
                Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            PGSimpleDataSource server = (PGSimpleDataSource) database.dataSource();
            String port = String.valueOf(server.getPortNumbers()[0]);
            String address = "jdbc:postgresql://localhost:" + port + "/postgres";
            statement.execute("CREATE ROLE test SUPERUSER LOGIN PASSWORD 'test'");
            try {
                assertThat(probe(address + "?user=test&password=test", address))
                        .startsWith("test ")
                        .contains(":" + port + "/outbox_");
                assertThat(probe("jdbc:tc:postgresql:17:///postgres", address))
                        .startsWith("test ")
                        .contains(":" + port + "/outbox_");
            } finally {
                statement.execute("DROP ROLE test");
            }
        }
    }

    private static String probe(String configured, String server) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-D" + EmbeddedDatabase.URL_PROPERTY + "=" + configured,
                        "-cp",
                        System.getProperty("java.class.path"),
                        ServerProbe.class.getName(),
                        server))
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as("%s", said).isZero();
        return said.lines().reduce((first, last) -> last).orElse("");
    }
}
