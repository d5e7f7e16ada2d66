package dev.outbox.quickstart;

/** @param cancelled whether the customer changes their mind before the order is committed */
record Order(String id, String customer, int cents, boolean cancelled) {
    String json() {
        return "{\"order\":\"%s\",\"customer\":\"%s\",\"cents\":%d}".formatted(id, customer, cents);
    }
}
