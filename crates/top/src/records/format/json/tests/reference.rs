//! Reference implementation: byte by byte, with paths instead of a tree, and without shortcuts.

use crate::cells::{Span, Violation};
use crate::query::field::Step;

/// An object or array in which values are wanted.
struct Container {
    path: Vec<Step>,
    start: usize,
    is_object: bool,
    /// The keys that were met.
    keys: Vec<Vec<u8>>,
    /// Number of elements that were met.
    elements: usize,
}

pub(super) struct Reference<'t> {
    text: &'t [u8],
    at: usize,
    end: usize,
    wanted: &'t [Vec<Step>],
    /// The values that are known, `Some(None)` if it is known that there is none.
    known: Vec<Option<Option<Vec<u8>>>>,
}

/// Extracts the values at the paths `wanted` from a record.
pub(super) fn extract(
    text: &[u8],
    (at, end): Span,
    wanted: &[Vec<Step>],
) -> Result<Vec<Option<Vec<u8>>>, Violation> {
    let mut reference = Reference { text, at, end, wanted, known: vec![None; wanted.len()] };
    reference.record()?;
    Ok(reference.known.into_iter().map(Option::flatten).collect())
}

impl Reference<'_> {
    fn byte(&self) -> Option<u8> {
        (self.at < self.end).then(|| self.text[self.at])
    }

    fn space(&mut self) {
        while matches!(self.byte(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn fail<T>(&self, reason: &'static str) -> Result<T, Violation> {
        Err((self.at, reason))
    }

    fn record(&mut self) -> Result<(), Violation> {
        self.space();
        match self.byte() {
            None => return Ok(()),
            Some(b'{') => {}
            Some(_) => return self.fail("expected an object"),
        }
        let mut containers = vec![self.open(Vec::new())];
        if self.all_are_known() {
            return Ok(());
        }
        loop {
            let container = containers.last_mut().expect("a container");
            let close = if container.is_object { b'}' } else { b']' };
            let is_first = container.keys.is_empty() && container.elements == 0;
            let mut is_closed = is_first && self.byte() == Some(close);
            if !is_closed {
                let path = if container.is_object { self.member(container)? } else { container.element() };
                if let Some(path) = path.filter(|path| self.wants(path)) {
                    if self.opens(&path) {
                        containers.push(self.open(path));
                        continue;
                    }
                    self.settle_below(&path, None);
                    self.leaf(&path)?;
                    if self.all_are_known() {
                        return Ok(());
                    }
                } else {
                    self.skip()?;
                }
                is_closed = self.after_value(containers.last().expect("a container"))?;
            }
            while is_closed {
                self.at += 1;
                let container = containers.pop().expect("a container");
                self.settle_below(&container.path, None);
                self.settle(&container.path, Some(&self.text[container.start..self.at]));
                let Some(outer) = containers.last() else { return self.nothing_follows() };
                if self.all_are_known() {
                    return Ok(());
                }
                is_closed = self.after_value(outer)?;
            }
        }
    }

    /// Whether the value at a path or one below it is wanted.
    fn wants(&self, path: &[Step]) -> bool {
        self.wanted.iter().any(|wanted| wanted.starts_with(path))
    }

    fn all_are_known(&self) -> bool {
        self.known.iter().all(Option::is_some)
    }

    /// Whether a value that is not known yet may be in the container at `path`.
    fn searches(&self, path: &[Step], is_object: bool) -> bool {
        let is_inside = |wanted: &[Step]| match wanted.strip_prefix(path) {
            Some([Step::Key(_), ..]) => is_object,
            Some([Step::Index(_), ..]) => !is_object,
            _ => false,
        };
        self.wanted.iter().zip(&self.known).any(|(wanted, known)| known.is_none() && is_inside(wanted))
    }

    /// Whether the value here is a container in which a value is wanted.
    fn opens(&self, path: &[Step]) -> bool {
        match self.byte() {
            Some(b'{') => self.searches(path, true),
            Some(b'[') => self.searches(path, false),
            _ => false,
        }
    }

    fn open(&mut self, path: Vec<Step>) -> Container {
        let is_object = self.byte() == Some(b'{');
        self.settle_below(&path, Some(is_object));
        let start = self.at;
        self.at += 1;
        self.space();
        Container { path, start, is_object, keys: Vec::new(), elements: 0 }
    }

    /// Values below `path` that are not known yet are missing: all, or only values that need the other kind of container.
    fn settle_below(&mut self, path: &[Step], is_object: Option<bool>) {
        for (wanted, known) in self.wanted.iter().zip(&mut self.known) {
            let is_missing = match wanted.strip_prefix(path) {
                Some([Step::Key(_), ..]) => is_object != Some(true),
                Some([Step::Index(_), ..]) => is_object != Some(false),
                _ => false,
            };
            if is_missing && known.is_none() {
                *known = Some(None);
            }
        }
    }

    fn settle(&mut self, path: &[Step], value: Option<&[u8]>) {
        for (wanted, known) in self.wanted.iter().zip(&mut self.known) {
            if wanted == path {
                *known = Some(value.map(<[u8]>::to_vec));
            }
        }
    }

    /// Reads a key and the colon. Returns the path of the value if the key is the first of its kind.
    fn member(&mut self, container: &mut Container) -> Result<Option<Vec<Step>>, Violation> {
        if self.byte() != Some(b'"') {
            return self.fail("expected a key in double quotes");
        }
        let start = self.at + 1;
        self.skip()?;
        let key = decode(&self.text[start..self.at - 1], start)?;
        self.space();
        if self.byte() != Some(b':') {
            return self.fail("expected ':' after a key");
        }
        self.at += 1;
        self.space();
        let is_new = !container.keys.contains(&key);
        container.keys.push(key.clone());
        let path = String::from_utf8(key).ok().map(|key| [&container.path[..], &[Step::Key(key)]].concat());
        Ok(path.filter(|_| is_new))
    }

    fn leaf(&mut self, path: &[Step]) -> Result<(), Violation> {
        let start = self.at;
        self.skip()?;
        let mut value = self.text[start..self.at].to_vec();
        if value == b"null" {
            self.settle(path, None);
            return Ok(());
        }
        if value[0] == b'"' && self.wanted.iter().any(|wanted| wanted == path) {
            value = decode(&value[1..value.len() - 1], start + 1)?;
        }
        self.settle(path, Some(&value));
        Ok(())
    }

    /// Skips a value.
    fn skip(&mut self) -> Result<(), Violation> {
        let start = self.at;
        match self.byte() {
            Some(b'"') => {
                self.at += 1;
                while self.byte() != Some(b'"') {
                    self.at += if self.byte() == Some(b'\\') { 2 } else { 1 };
                    if self.at >= self.end {
                        self.at = self.end;
                        return self.fail("unclosed string");
                    }
                }
                self.at += 1;
            }
            Some(b'{' | b'[') => {
                self.at += 1;
                self.leave()?;
                self.at += 1;
            }
            _ => {
                while !matches!(self.byte(), None | Some(b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r')) {
                    self.at += 1;
                }
                if self.at == start {
                    return self.fail("expected a value");
                }
            }
        }
        Ok(())
    }

    /// Goes to the bracket that closes the container.
    fn leave(&mut self) -> Result<(), Violation> {
        let mut depth = 1;
        let mut is_in_string = false;
        while let Some(byte) = self.byte() {
            match byte {
                b'\\' if matches!(self.text.get(self.at + 1), Some(b'"' | b'\\')) => self.at += 1,
                b'"' => is_in_string = !is_in_string,
                b'{' | b'[' if !is_in_string => depth += 1,
                b'}' | b']' if !is_in_string => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Ok(());
            }
            self.at += 1;
        }
        self.at = self.end;
        self.fail("unclosed object or array")
    }

    /// Goes to the next member or element, or to the closing bracket, and returns whether it is that.
    fn after_value(&mut self, container: &Container) -> Result<bool, Violation> {
        if !self.searches(&container.path, container.is_object) {
            self.leave()?;
            return Ok(true);
        }
        self.space();
        match (self.byte(), container.is_object) {
            (Some(b','), _) => {
                self.at += 1;
                self.space();
                Ok(false)
            }
            (Some(b'}'), true) | (Some(b']'), false) => Ok(true),
            _ => self.fail("expected ',' or a closing bracket after a value"),
        }
    }

    fn nothing_follows(&mut self) -> Result<(), Violation> {
        self.space();
        match self.byte() {
            None => Ok(()),
            Some(_) => self.fail("unexpected text after the object"),
        }
    }
}

impl Container {
    /// The path of the next element.
    fn element(&mut self) -> Option<Vec<Step>> {
        self.elements += 1;
        Some([&self.path[..], &[Step::Index(self.elements - 1)]].concat())
    }
}

/// Decodes the text between the quotes of a string.
fn decode(string: &[u8], start: usize) -> Result<Vec<u8>, Violation> {
    let mut decoded = Vec::new();
    let mut units: Vec<u16> = Vec::new();
    let mut at = 0;
    loop {
        if string[at..].starts_with(b"\\u") {
            let digits = string.get(at + 2..at + 6).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
            let digits = digits.ok_or((start + at, "invalid escape in a string"))?;
            let digits = str::from_utf8(digits).expect("digits");
            units.push(u16::from_str_radix(digits, 16).expect("four digits"));
            at += 6;
            continue;
        }
        for character in char::decode_utf16(units.drain(..)) {
            decoded.extend(character.unwrap_or('\u{FFFD}').to_string().bytes());
        }
        match string.get(at) {
            None => return Ok(decoded),
            Some(b'\\') => {
                let names = b"\"\\/bfnrt";
                let name = string.get(at + 1).and_then(|name| names.iter().position(|other| other == name));
                let name = name.ok_or((start + at, "invalid escape in a string"))?;
                decoded.push(b"\"\\/\x08\x0C\n\r\t"[name]);
                at += 2;
            }
            Some(&byte) => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
}
