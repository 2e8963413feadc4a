//! Records beside the objects of JSON.

use std::fs;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use finecomb_scan::{Inputs, ScanOptions, Width};
use finecomb_symbols::records::{FoundSymbol, RecordText, SymbolRecord, SymbolRecords};
use finecomb_symbols::{Kind, SymbolsFormat, SymbolsOptions, SymbolsQuery, symbols};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Each write to the output.
#[derive(Default)]
struct Writes(Vec<Vec<u8>>);

impl std::io::Write for Writes {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.push(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Writes of a list of a directory.
fn list(directory: &Path, options: &SymbolsOptions, width: usize) -> Vec<Vec<u8>> {
    let mut out = Writes::default();
    let query = SymbolsQuery::new(options).expect("a valid expression");
    let scan = ScanOptions::default().width(Width::Fixed(width)).into();
    symbols(&Inputs::new([directory]), &scan, &query, &mut out);
    out.0
}

/// The members of JSON.
fn object(path: &[u8], found: &FoundSymbol<'_>) -> Value {
    let lossy = |text: RecordText<'_>| String::from_utf8_lossy(text.bytes).into_owned();
    let mut object = json!({
        "path": String::from_utf8_lossy(path),
        "language": found.language.name(),
        "kind": found.label(),
        "name": lossy(found.name),
        "scope": found.scope.map(lossy),
        "scope_kind": found.scope_kind.map(Kind::name),
        "line": found.line,
        "column": found.column,
        "end_line": found.end_line,
        "start_byte": found.start_byte,
        "end_byte": found.end_byte,
        "signature": lossy(found.signature),
        "parameters": found.parameters.map(lossy),
    });
    if found.has_errors {
        object["has_errors"] = true.into();
    }
    if std::str::from_utf8(found.name.bytes).is_err() {
        object["name_base64"] = STANDARD.encode(found.name.bytes).into();
    }
    object
}

/// The records of some writes. Each write holds whole records.
fn objects(writes: &[Vec<u8>]) -> Vec<Value> {
    let (mut path, mut objects): (Vec<u8>, _) = (Vec::new(), Vec::new());
    for bytes in writes {
        let mut records = SymbolRecords::new(bytes);
        for record in records.by_ref() {
            match record {
                SymbolRecord::Path(bytes) => path = bytes.to_vec(),
                SymbolRecord::Symbol(found) => objects.push(object(&path, &found)),
            }
        }
        assert_eq!(records.position(), bytes.len());
    }
    objects
}

/// Sources of all languages, in pieces.
fn samples() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/languages");
    let files = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut samples: Vec<_> = files
        .filter(|path| path.is_file())
        .map(|path| {
            let extension = path.extension().expect("an extension").to_string_lossy().into_owned();
            (extension, fs::read(&path).expect("a file"))
        })
        .collect();
    samples.sort();
    samples
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn records_are_the_members_of_json(
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 0.0..1.0, 0.0..1.0, 0..4_usize), 1..12),
        kinds in prop::sample::subsequence(Kind::ALL.to_vec(), 0..3),
        name in prop::option::of(prop::sample::select(vec!["^[a-m]", "e", "(?-u)\\xFF"])),
        reference in prop::option::weighted(0.3, prop::sample::select(vec!["^[a-m]", "int"])),
        thorough: bool,
    ) {
        let samples = samples();
        let directory = tempfile::tempdir().expect("a directory");
        for (number, (sample, from, to, damage)) in cuts.iter().enumerate() {
            let (extension, text) = sample.get(&samples);
            let place = |part: &f64| (text.len() as f64 * part) as usize;
            let (from, to) = (place(from).min(place(to)), place(from).max(place(to)));
            let mut text = if *damage == 0 { text.clone() } else { text[from..to].to_vec() };
            if *damage == 1 {
                text.iter_mut().filter(|byte| **byte == b'e').for_each(|byte| *byte = 0xFF);
            }
            fs::write(directory.path().join(format!("{number}.{extension}")), text).expect("a file");
        }
        let [name, reference] = [name, reference].map(|name| name.map(str::to_owned));
        let json = SymbolsOptions::default().kinds(kinds).name(name).reference(reference).thorough(thorough).format(SymbolsFormat::Json);
        let expected = list(directory.path(), &json, 1).concat();
        let expected: Vec<Value> =
            serde_json::Deserializer::from_slice(&expected).into_iter().map(|object| object.expect("an object")).collect();
        for width in [1, 3] {
            let writes = list(directory.path(), &json.clone().format(SymbolsFormat::Records), width);
            prop_assert_eq!(&objects(&writes), &expected);
        }
    }
}

#[test]
fn a_file_is_written_in_parts() {
    let directory = tempfile::tempdir().expect("a directory");
    let scope = "s".repeat(2000);
    let members: String = (0..1000).map(|number| format!("def m{number}(): pass\n    ")).collect();
    fs::write(directory.path().join("a.py"), format!("class {scope}:\n    {members}\n")).expect("a file");
    let options = SymbolsOptions::default().format(SymbolsFormat::Records);
    let writes = list(directory.path(), &options, 1);
    assert!(writes.len() > 10 && writes.iter().all(|bytes| bytes.len() < 100_000));
    assert_eq!(objects(&writes).len(), 1001);
}
