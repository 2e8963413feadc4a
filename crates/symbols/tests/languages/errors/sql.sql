CREATE TABLE before (a int);
CREATE TABLE broken (a int, b (;
CREATE TABLE middle (a int);
CREATE TABLE 'no name';
CREATE FUNCTION f() AS BEGIN BEGIN END;
CREATE TABLE after (a text DEFAULT 'open);
