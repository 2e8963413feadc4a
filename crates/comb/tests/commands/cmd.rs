//! Whole commands: what is typed and what is printed, as files that a person can read.
//!
//! `TRYCMD=overwrite cargo test -p finecomb --test commands cmd::` writes what is printed now into them.

#[test]
fn commands_print_what_their_files_say() {
    trycmd::TestCases::new().case("tests/cmd/*.md");
}
