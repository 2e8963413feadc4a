//! Amdahl's law and the Universal Scalability Law.

use super::Law;

/// T(n) = a + b/n: a part of the work is serial, and the rest is divided among n processors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Amdahl {
    /// Seconds of the serial part.
    serial: f64,
    /// Seconds of the rest on one processor.
    divided: f64,
}

impl Amdahl {
    /// Share of the serial part in the time of one processor, from 0 to 1.
    pub(crate) fn serial_fraction(&self) -> f64 {
        self.serial / (self.serial + self.divided)
    }
}

impl Law<2> for Amdahl {
    fn terms(width: f64) -> [f64; 2] {
        [1.0, 1.0 / width]
    }

    fn new([serial, divided]: [f64; 2]) -> Option<Self> {
        (serial + divided > 0.0).then_some(Self { serial, divided })
    }

    fn coefficients(&self) -> [f64; 2] {
        [self.serial, self.divided]
    }
}

/// T(n) = T1 (1/n + σ (n − 1)/n + κ (n − 1)).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Usl {
    /// T1: seconds with one thread.
    one: f64,
    /// T1 σ.
    contention: f64,
    /// T1 κ.
    coherency: f64,
}

impl Usl {
    /// σ: share of the work for which threads queue for a shared resource.
    pub(crate) fn contention(&self) -> f64 {
        self.contention / self.one
    }

    /// κ: cost of coherency between two threads, as a share of the work, per other thread.
    pub(crate) fn coherency(&self) -> f64 {
        self.coherency / self.one
    }

    /// The fastest width, √((1 − σ)/κ), at least 1; infinite if more threads never make the job slower.
    pub(crate) fn peak(&self) -> f64 {
        match (1.0 - self.contention(), self.coherency()) {
            (gain, cost) if cost > 0.0 => (gain / cost).max(1.0).sqrt(),
            (gain, _) if gain > 0.0 => f64::INFINITY,
            _ => 1.0,
        }
    }
}

impl Law<3> for Usl {
    fn terms(width: f64) -> [f64; 3] {
        [1.0 / width, (width - 1.0) / width, width - 1.0]
    }

    fn new([one, contention, coherency]: [f64; 3]) -> Option<Self> {
        (one > 0.0).then_some(Self { one, contention, coherency })
    }

    fn coefficients(&self) -> [f64; 3] {
        [self.one, self.contention, self.coherency]
    }
}
