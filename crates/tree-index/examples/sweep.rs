//! Measures the minimum cost of a search with an index, on files with known names: `stat` of every file, or opening and reading
//! them. `cargo run --release -p finecomb-tree-index --example sweep -- stat|read THREADS < NAMES`; each name ends with a NUL.
//!
//! Threads claim the next directory by a counter, and open its files relative to it. 128 KiB of each file are read. Prints
//! milliseconds.

use std::error::Error;
use std::fs::File;
use std::io::{Read, stdin};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, openat, statat};

/// A directory, and names of files in it.
type Directory<'n> = (&'n Path, Vec<&'n Path>);

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, threads] = &arguments[..] else { return Err("expected stat|read THREADS".into()) };
    let (is_read, threads) = (what == "read", threads.parse::<usize>()?);
    let mut names = Vec::new();
    stdin().read_to_end(&mut names)?;
    let mut directories: Vec<Directory<'_>> = Vec::new();
    for path in names.split(|&byte| byte == 0).filter(|name| !name.is_empty()) {
        let path = Path::new(std::ffi::OsStr::from_bytes(path));
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = Path::new(path.file_name().ok_or("a name without a file")?);
        match directories.last_mut().filter(|(last, _)| *last == parent) {
            Some((_, names)) => names.push(name),
            None => directories.push((parent, vec![name])),
        }
    }
    let (next, start) = (AtomicUsize::new(0), Instant::now());
    let work = || -> Result<(), rustix::io::Errno> {
        let mut buffer = vec![0; 128 << 10];
        while let Some(directory) = directories.get(next.fetch_add(1, Ordering::Relaxed)) {
            visit(directory, is_read, &mut buffer)?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().unwrap_or(Ok(())))
    })?;
    println!("{:.3}", start.elapsed().as_secs_f64() * 1e3);
    Ok(())
}

/// Looks at all files of a directory.
fn visit((path, names): &Directory<'_>, is_read: bool, buffer: &mut [u8]) -> Result<(), rustix::io::Errno> {
    let way = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = openat(CWD, *path, way, Mode::empty())?;
    for name in names {
        if is_read {
            let file =
                File::from(openat(&directory, *name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?);
            // A file that cannot be read takes as long.
            let _ = (&file).read(buffer);
        } else {
            statat(&directory, *name, AtFlags::SYMLINK_NOFOLLOW)?;
        }
    }
    Ok(())
}
