//! Measures the thread's time on a core: a machine that is busy with other work does not change the result.

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use std::time::Duration;

/// Time on a core, as the kernel's scheduler counts it.
pub(crate) struct CpuTime;

impl CpuTime {
    fn now() -> Duration {
        let text = fs_err::read_to_string("/proc/thread-self/schedstat").unwrap();
        let nanoseconds = text.split(' ').next().unwrap().parse().unwrap();
        Duration::from_nanos(nanoseconds)
    }
}

impl Measurement for CpuTime {
    type Intermediate = Duration;
    type Value = Duration;

    fn start(&self) -> Duration {
        Self::now()
    }
    fn end(&self, start: Duration) -> Duration {
        Self::now().saturating_sub(start)
    }
    fn add(&self, a: &Duration, b: &Duration) -> Duration {
        *a + *b
    }
    fn zero(&self) -> Duration {
        Duration::ZERO
    }
    fn to_f64(&self, value: &Duration) -> f64 {
        WallTime.to_f64(value)
    }
    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}
