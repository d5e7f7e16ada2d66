-- Creates and changes the tables, and so owns them. Nobody else needs to.

GRANT USAGE, CREATE ON SCHEMA "${schema}" TO "${role}";
