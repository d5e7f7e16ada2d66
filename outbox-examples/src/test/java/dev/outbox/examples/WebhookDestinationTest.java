package dev.outbox.examples;

import com.sun.net.httpserver.HttpServer;
import dev.outbox.delivery.BatchDestination;
import dev.outbox.testkit.DestinationContract;
import dev.outbox.testkit.DestinationFixture;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** The code of docs/how-to/test-your-code.md that tests a destination by the contract. */
class WebhookDestinationTest extends DestinationContract {
    @Override
    protected DestinationFixture openFixture() throws IOException {
        return new WebhookFixture();
    }

    static final class WebhookFixture implements DestinationFixture {
        private final List<String> arrived = new CopyOnWriteArrayList<>();
        private final Set<String> refused = ConcurrentHashMap.newKeySet();
        private final HttpServer server =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        private final BatchDestination destination = DestinationFixture.oneByOne(new WebhookDestination(
                URI.create("http://localhost:" + server.getAddress().getPort())));
        private volatile boolean down;

        WebhookFixture() throws IOException {
            server.createContext("/", request -> {
                String id = request.getRequestHeaders().getFirst("Idempotency-Key");
                int status = down ? 503 : refused.contains(id) ? 400 : 204;
                if (status == 204) {
                    arrived.add(id);
                }
                request.sendResponseHeaders(status, -1);
                request.close();
            });
            server.start();
        }

        @Override
        public BatchDestination destination() {
            return destination;
        }

        @Override
        public List<String> arrived() {
            return arrived;
        }

        @Override
        public void breakDown() {
            down = true;
        }

        @Override
        public void repair() {
            down = false;
        }

        @Override
        public boolean refuse(String messageId) {
            return refused.add(messageId);
        }

        @Override
        public void closeDestination() {
            // an HttpClient has nothing to close
        }

        @Override
        public void close() {
            server.stop(0);
        }
    }
}
