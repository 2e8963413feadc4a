//! Messages between `comb top --listen` and the server of its page in `comb-serve`, over two pipes.
//!
//! The job writes updates, each preceded by its lengths, and closes the pipe when it ends. The server first writes a line: the
//! address that it listens on, or the reason why it does not. Then it writes a byte whenever clients arrive or the last one leaves.

use std::io::{self, ErrorKind, Read, Write};

/// First argument of `comb-serve` for the server of a page. The address and the hosts that requests may name follow.
pub const COMMAND: &str = "page-of-job";

/// Begins the line with the address.
pub const LISTENING: &str = "listening ";

/// Begins the line with the reason why there is no server.
pub const FAILED: &str = "failed ";

/// Maximum number of bytes of a state or an answer: far more than rows and buckets need.
const MAX_BYTES: u32 = 1 << 30;

/// State of a job, as JSON without line feeds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateMessage {
    /// State that the page shows.
    pub state: Vec<u8>,
    /// The answer so far, for other programs.
    pub answer: Vec<u8>,
    /// Whether no state follows.
    pub is_last: bool,
}

/// Clients of the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clients {
    /// Whether states have a reader.
    pub are_there: bool,
    /// Whether one has come.
    pub has_new: bool,
}

impl StateMessage {
    /// Writes the update.
    ///
    /// # Errors
    /// If it cannot be written, or has 4 GiB.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let length = |bytes: &[u8]| u32::try_from(bytes.len()).map_err(|_| ErrorKind::InvalidInput);
        out.write_all(&[u8::from(self.is_last)])?;
        out.write_all(&length(&self.state)?.to_le_bytes())?;
        out.write_all(&length(&self.answer)?.to_le_bytes())?;
        out.write_all(&self.state)?;
        out.write_all(&self.answer)?;
        out.flush()
    }

    /// Reads an update.
    ///
    /// # Errors
    /// If the job has ended, or it cannot be read.
    pub fn read(input: &mut impl Read) -> io::Result<Self> {
        let mut head = [0; 9];
        input.read_exact(&mut head)?;
        let [is_last, s0, s1, s2, s3, a0, a1, a2, a3] = head;
        let state = part(input, u32::from_le_bytes([s0, s1, s2, s3]))?;
        let answer = part(input, u32::from_le_bytes([a0, a1, a2, a3]))?;
        Ok(Self { state, answer, is_last: is_last != 0 })
    }
}

fn part(input: &mut impl Read, length: u32) -> io::Result<Vec<u8>> {
    if length > MAX_BYTES {
        return Err(ErrorKind::InvalidData.into());
    }
    let mut bytes = Vec::new();
    let read = input.take(u64::from(length)).read_to_end(&mut bytes)?;
    if read == length as usize { Ok(bytes) } else { Err(ErrorKind::UnexpectedEof.into()) }
}

impl Clients {
    /// Encodes it as a byte.
    pub fn to_byte(self) -> u8 {
        u8::from(self.are_there) | u8::from(self.has_new) << 1
    }

    /// Decodes the byte.
    pub fn of_byte(byte: u8) -> Self {
        Self { are_there: byte & 1 != 0, has_new: byte & 2 != 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_and_clients_are_read_as_they_were_written() {
        let first = StateMessage { state: b"{}".to_vec(), answer: Vec::new(), is_last: false };
        let last =
            StateMessage { state: vec![b'x'; 100_000], answer: b"{\"top\":[]}".to_vec(), is_last: true };
        let mut bytes = Vec::new();
        for update in [&first, &last] {
            update.write(&mut bytes).expect("a write to memory");
        }
        let mut input = &bytes[..];
        assert_eq!(StateMessage::read(&mut input).expect("the first update"), first);
        assert_eq!(StateMessage::read(&mut input).expect("the last update"), last);
        let end = StateMessage::read(&mut input).expect_err("no more updates");
        assert_eq!(end.kind(), ErrorKind::UnexpectedEof);
        let cut = StateMessage::read(&mut &bytes[..20]).map(|update| update.state);
        assert_eq!(cut.expect("the first update, which is whole"), first.state);
        assert!(StateMessage::read(&mut &bytes[11..50_000]).is_err(), "an update that is cut");
        for byte in 0..4 {
            assert_eq!(Clients::of_byte(byte).to_byte(), byte);
        }
    }
}
