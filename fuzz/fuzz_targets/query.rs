//! Arbitrary text as the target of a request: gives a response, never a panic.
#![no_main]

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::LazyLock;

use finecomb_serve::{Catalog, CgiRequest, respond};
use finecomb_text_index::{BuildOptions, LoadedText};
use libfuzzer_sys::fuzz_target;

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| {
    let directory = std::env::temp_dir().join(format!("comb-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    let named =
        [("pi", &b"14159265358979323846"[..]), ("text", b"one fish\ntwo fish\n")].map(|(name, text)| {
            let path = directory.join(name);
            let text = LoadedText::new(Path::new(name), text.to_vec(), None).expect("a text");
            let options = BuildOptions::default().threads(NonZeroUsize::MIN);
            text.build(&path, &options).expect("an index");
            (name.to_owned(), path)
        });
    Catalog::open(named.into()).expect("indexes")
});

fuzz_target!(|address: &str| {
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
    let request = CgiRequest { method: "GET".to_owned(), path: path.to_owned(), query: query.to_owned() };
    let mut answer = Vec::new();
    respond(&CATALOG, &request, &mut answer).expect("writing to a vector cannot fail");
    assert!(answer.starts_with(b"Status: "));
});
