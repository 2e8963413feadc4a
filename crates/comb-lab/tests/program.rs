//! Tests of `comb-lab` started by itself. The tests of `comb` run its commands.

use std::process::Command;

fn run(arguments: &[&str]) -> (String, String, Option<i32>) {
    let output = Command::new(env!("CARGO_BIN_EXE_comb-lab")).args(arguments).output().expect("comb-lab");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (text(output.stdout), text(output.stderr), output.status.code())
}

#[test]
fn it_has_its_commands_and_no_others() {
    assert_eq!(run(&["pi", "10"]), ("1415926535\n".to_owned(), String::new(), Some(0)));
    let (out, err, code) = run(&["top", "-f", "7", "log"]);
    let expected = "comb: comb-lab has the commands bench, pi; use comb for others\n";
    assert_eq!((out.as_str(), err.as_str(), code), ("", expected, Some(2)));
}
