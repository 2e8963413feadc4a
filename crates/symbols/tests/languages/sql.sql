-- CREATE TABLE commented (a int);
/* CREATE TABLE commented2 (a int); */
CREATE SCHEMA shop;
CREATE DATABASE IF NOT EXISTS other;

CREATE TABLE IF NOT EXISTS shop.orders (
    id bigint GENERATED ALWAYS AS IDENTITY (START 1, INCREMENT 1),
    "quoted name" varchar(10) DEFAULT 'it''s', -- note
    price numeric(10, 2) CHECK (price > 0 AND price < 1e6),
    tags text[],
    key text,
    index int,
    PRIMARY KEY (id),
    CONSTRAINT positive CHECK (price > 0),
    UNIQUE (price),
    FOREIGN KEY (id) REFERENCES other (id),
    INDEX (price),
    LIKE other
);
create temporary table [dbo].[with brackets] ([first] int, #second int);
CREATE TABLE 'of sqlite' ('id' INTEGER, 'key' TEXT);
CREATE TABLE copied AS SELECT 1 AS one;
INSERT INTO orders VALUES ('CREATE TABLE in_string (a int);', E'a\'b; CREATE TABLE in_escape (a int)');

CREATE OR REPLACE VIEW shop.cheap AS SELECT * FROM orders;
CREATE MATERIALIZED VIEW totals AS SELECT 1;
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS by_price ON orders (price);
CREATE INDEX ON orders (id);
CREATE TYPE color AS ENUM ('red', 'dark blue');
CREATE TYPE point AS (x int, y int);
CREATE TYPE shell;
CREATE DOMAIN email AS text CHECK (VALUE LIKE '%@%');
CREATE USER somebody;
CREATE POLICY p ON orders TO someone;
CREATE TRIGGER touched BEFORE UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION touch();

CREATE FUNCTION shop.add(a int, b int DEFAULT (1)) RETURNS int AS $body$
BEGIN
    CREATE TABLE in_body (a int);
    RETURN a + b;
END;
$body$ LANGUAGE plpgsql;
CREATE FUNCTION from_library(int) RETURNS int AS 'library', 'symbol' LANGUAGE C;

COPY orders (id) FROM stdin;
1	it's
CREATE TABLE in_rows (a int);
\.
CREATE TABLE after_rows (a int);

CREATE OR REPLACE PROCEDURE pay(amount IN NUMBER) IS
    total NUMBER := CASE WHEN 1 = 1 THEN 1 ELSE 2 END;
    CURSOR c IS SELECT 1;
BEGIN
    IF total > 0 THEN
        total := 1;
    END IF;
    LOOP
        EXIT;
    END LOOP;
    BEGIN
        NULL;
    END;
END pay;
/
CREATE OR REPLACE PACKAGE BODY billing AS
    FUNCTION tax(a NUMBER) RETURN NUMBER IS
    BEGIN
        RETURN a * 2;
    END tax;
    PROCEDURE nothing;
    PROCEDURE send IS BEGIN NULL; END;
END billing;
/
CREATE PROCEDURE dbo.batch @id int AS
BEGIN TRANSACTION
  CREATE TABLE #temporary (a int);
SELECT 1;
GO
CREATE TABLE last (a int)
