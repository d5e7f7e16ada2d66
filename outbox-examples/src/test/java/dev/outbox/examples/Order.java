package dev.outbox.examples;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;

@Entity
@Table(name = "orders")
class Order {
    @Id
    private String id;

    Order() {}

    Order(String id) {
        this.id = id;
    }
}
