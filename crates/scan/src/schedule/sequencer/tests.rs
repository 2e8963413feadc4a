use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::*;
use crate::schedule::governed::Governed;
use crate::schedule::limit::Mark;

const PENDING_LIMIT: usize = 4 << 20;

struct Single;

impl Divisible for Single {
    type Part = ();

    fn claim(self) -> Claim<Self, ()> {
        Claim::Last(())
    }
}

fn chunk(bytes: usize) -> Chunk {
    Chunk { bytes: vec![b'x'; bytes], ..Chunk::default() }
}

/// Worker 0 waits for pending output to be written. The front is a task that no worker has claimed, and worker 1 is
/// parked.
#[test]
fn a_parked_worker_takes_the_front_when_others_wait_for_it() {
    let mut out = Vec::new();
    let sequencer = Sequencer::new([Single, Single], None, &mut out, (PENDING_LIMIT, None), None);
    let next = |number| sequencer.pool.next(number, &mut Meter::off());
    let (first, ()) = next(1).expect("a task");
    let (second, ()) = next(0).expect("a task");
    sequencer.pool.set_workers(1);
    assert!(sequencer.pool.is_wanted(0) && !sequencer.pool.is_wanted(1));
    drop(sequencer.finish(first, chunk(1), vec![(None, Some(Single))], &mut Vec::new()));
    let (done, all_done) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(|| {
            let (front, ()) = sequencer.pool.next(1, &mut Meter::off()).expect("the front");
            drop(sequencer.finish(front, chunk(2), Vec::new(), &mut Vec::new()));
            let _ = done.send(());
        });
        // The other thread is most probably parked by then; if not, it will not be.
        thread::sleep(Duration::from_millis(50));
        let printing = scope.spawn(|| sequencer.hand_over(second, chunk(PENDING_LIMIT + 1)));
        let is_done = all_done.recv_timeout(Duration::from_secs(10)).is_ok();
        // Turns a deadlock into a failure.
        sequencer.pool.set_workers(2);
        assert!(printing.join().is_ok());
        drop(sequencer.finish(second, chunk(0), Vec::new(), &mut Vec::new()));
        assert!(is_done, "the worker stayed parked");
    });
    assert_eq!(out.len(), 3 + PENDING_LIMIT + 1);
}

/// Two workers finish at the same time. The output of the first ends the job.
#[test]
fn nothing_is_written_after_the_end_of_a_limited_job() {
    for _ in 0..2000 {
        let mut out = Vec::new();
        let limit = Some(Limit { results: 1, ends_job: true });
        let sequencer = Sequencer::new([Single, Single], None, &mut out, (PENDING_LIMIT, limit), None);
        let slots = [0, 1].map(|number| sequencer.pool.next(number, &mut Meter::off()).expect("a task").0);
        thread::scope(|scope| {
            for slot in slots {
                let marks = vec![(1, Mark::Result), (2, Mark::End)];
                let chunk = Chunk { bytes: b"yx".to_vec(), marks, ..Chunk::default() };
                let sequencer = &sequencer;
                scope.spawn(move || drop(sequencer.finish(slot, chunk, Vec::new(), &mut Vec::new())));
            }
        });
        drop(sequencer);
        assert_eq!(out, b"yx");
    }
}
