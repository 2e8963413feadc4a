//! Commands and their output in Markdown files.
//!
//! `TRYCMD=overwrite cargo test -p finecomb --test commands cmd::` updates the files with the current output.

use crate::support::tested;

#[test]
fn commands_print_the_output_in_their_files() {
    trycmd::TestCases::new().register_bin("comb", tested()).case("tests/cmd/*.md");
}
