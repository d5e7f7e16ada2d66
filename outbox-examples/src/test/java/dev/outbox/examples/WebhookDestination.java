package dev.outbox.examples;

import dev.outbox.PermanentFailureException;
import dev.outbox.WorkItem;
import dev.outbox.delivery.Destination;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;

/** Posts each message to a URL. What the other side calls a bad request will never be a good one. */
final class WebhookDestination implements Destination {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private final HttpClient client = HttpClient.newHttpClient();
    private final URI target;

    WebhookDestination(URI target) {
        this.target = target;
    }

    @Override
    public void deliver(WorkItem item) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(target)
                .timeout(TIMEOUT)
                .header("Idempotency-Key", item.messageId())
                .POST(HttpRequest.BodyPublishers.ofString(item.payload()))
                .build();
        int status =
                client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
        if (status / 100 == 4) {
            throw new PermanentFailureException("refused with status " + status);
        }
        if (status / 100 != 2) {
            throw new IOException("failed with status " + status);
        }
    }
}
