//! Tests of `comb-serve` started by itself. The tests of `comb` run its commands.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_comb-serve"))
}

#[test]
fn it_has_its_commands_and_no_others() {
    let output = program().args(["grep", "x"]).output().expect("comb-serve");
    let expected = "comb: comb-serve has the commands serve, cgi, mcp; use comb for others\n";
    assert_eq!((String::from_utf8_lossy(&output.stderr).as_ref(), output.status.code()), (expected, Some(2)));
}

#[test]
fn the_page_of_a_job_has_its_states_until_the_pipe_is_closed() {
    let mut command = program();
    command.args(["page-of-job", "127.0.0.1:0"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = command.spawn().expect("comb-serve");
    let (mut input, mut said) =
        (process.stdin.take().expect("a pipe"), process.stdout.take().expect("a pipe"));
    let mut line = Vec::new();
    while line.last() != Some(&b'\n') {
        let mut byte = [0];
        said.read_exact(&mut byte).expect("a line");
        line.push(byte[0]);
    }
    let line = String::from_utf8(line).expect("text");
    let address: SocketAddr = line["listening ".len()..].trim_end().parse().expect("an address");
    // No update is the last one, the state has 2 bytes, and the answer 8.
    input.write_all(b"\0\x02\0\0\0\x08\0\0\0{}[\"this\"").expect("an update");
    input.flush().expect("an update");
    let mut client = TcpStream::connect(address).expect("a connection");
    client.write_all(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("a request");
    let mut clients = [0];
    said.read_exact(&mut clients).expect("news of the client");
    assert_eq!(clients[0] & 1, 1);
    // A part of an update ends the job as well.
    input.write_all(b"\x01\xFF").expect("a part");
    drop(input);
    let mut answer = Vec::new();
    client.read_to_end(&mut answer).expect("the states");
    assert!(String::from_utf8_lossy(&answer).contains("data: {}"));
    assert!(process.wait().expect("the end").success());
}

#[test]
fn a_page_that_cannot_be_served_is_said_in_a_line() {
    let output = program().args(["page-of-job", "192.0.2.1:1"]).output().expect("comb-serve");
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(out.starts_with("failed --listen: cannot listen on 192.0.2.1:1: "), "{out}");
    let output = program().args(["page-of-job", "here"]).output().expect("comb-serve");
    assert_eq!((output.stdout.len(), output.status.code()), (0, Some(2)));
}
