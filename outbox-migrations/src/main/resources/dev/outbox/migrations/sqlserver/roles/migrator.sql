-- Creates and changes the tables. Nobody else needs to.

GRANT CREATE TABLE TO [${role}];
GRANT ALTER, CREATE SEQUENCE, REFERENCES ON SCHEMA::[${schema}] TO [${role}];
