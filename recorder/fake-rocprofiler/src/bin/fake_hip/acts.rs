//! The acts that have to do with HIP.

use std::ffi::OsStr;
use std::io;
use std::thread;

use kernrec_fake_host::{Library, number, times};

use crate::ffi;

/// Performs an act that has to do with HIP.
pub(crate) fn perform(name: &str, value: &str) -> Option<io::Result<()>> {
    Some(match name {
        // Maps the SDK with local scope, as a wheel's libraries do.
        "sdk" => ffi::load(value),
        // Maps any other library.
        "map" => Library::open(OsStr::new(value)).map(drop),
        // What the runtime does when it starts.
        "init" => ffi::start_runtime(),
        // The same of another copy of the SDK.
        "init-copy" => ffi::start_copy(value),
        // Loads a code object none of whose kernels is ever used.
        "load-code" => ffi::load_code(),
        // `NAME*COUNT` or `NAME`: kernel descriptors' names, as code objects have them, end in `.kd`.
        "launch" => {
            times(value).and_then(|(name, count)| ffi::launch(&format!("{name}.kd"), count))
        }
        "launch-as-is" => times(value).and_then(|(name, count)| ffi::launch(name, count)),
        // `KERNELS,DISPATCHES`: a graph of so many kernels, replayed.
        "graph" => graph(value),
        // `THREADS,DISPATCHES`: each thread has ten kernels of its own.
        "threads" => threads(value),
        // `NUMBER*COUNT`: whatever kernel has the number, or none.
        "dispatch" => times(value).and_then(|(id, count)| ffi::dispatch(number(id)?, count)),
        // `NUMBER,NAME`; without a name, one that the SDK does not know.
        "register" => register(value),
        "register-newline" => ffi::register(0, Some("_Z3two\n_Z5linesv")).map(drop),
        // `LENGTH`: a name of so many bytes, and `.kd`.
        "launch-long" => number(value).and_then(|n| ffi::launch(&("n".repeat(n) + ".kd"), 1)),
        "unregister" => number(value).and_then(ffi::unregister),
        // Dispatches whose records are lost, without and with the SDK counting it.
        "lose" => repeat(value, || ffi::lose(false)),
        "drop" => repeat(value, || ffi::lose(true)),
        "drop-count" => number(value).and_then(ffi::drop_count),
        // `NAME,VALUE`.
        "knob" => knob(value),
        // Another tool in this program, which is found before any other.
        "other-tool" => ffi::force_other_tool(),
        // Prints how many records the other tool got.
        "other-count" => {
            ffi::other_records().map(|count| println!("other tool got {count} records"))
        }
        // Calls a recorder's `rocprofiler_configure` from here: the SDK is then this program.
        "configure-from-here" => ffi::configure_from_here(value),
        _ => return None,
    })
}

fn pair(value: &str) -> io::Result<(usize, usize)> {
    let (first, second) = value.split_once(',').unwrap_or((value, "1"));
    Ok((number(first)?, number(second)?))
}

fn repeat(value: &str, act: impl Fn() -> io::Result<()>) -> io::Result<()> {
    (0..number(value)?).try_for_each(|_| act())
}

fn graph(value: &str) -> io::Result<()> {
    let (kernels, dispatches) = pair(value)?;
    let numbers: Vec<usize> = (0..kernels)
        .map(|node| ffi::register(0, Some(&format!("_Z4nodeILi{node}EEvv.kd"))))
        .collect::<io::Result<_>>()?;
    let replayed = numbers.iter().cycle().take(dispatches);
    replayed
        .into_iter()
        .try_for_each(|number| ffi::dispatch(*number, 1))
}

fn threads(value: &str) -> io::Result<()> {
    let (threads, dispatches) = pair(value)?;
    thread::scope(|scope| {
        for t in 0..threads {
            scope.spawn(move || {
                for k in 0..dispatches {
                    // A failing launch shows in the counts.
                    let _ = ffi::launch(&format!("_Z_thread{t}_kernel{}.kd", k % 10), 1);
                }
            });
        }
    });
    Ok(())
}

fn register(value: &str) -> io::Result<()> {
    let (id, name) = match value.split_once(',') {
        Some((id, name)) => (id, Some(name)),
        None => (value, None),
    };
    ffi::register(number(id)?, name).map(drop)
}

fn knob(value: &str) -> io::Result<()> {
    let (name, value) = value.split_once(',').unwrap_or((value, "1"));
    ffi::set_knob(name, number(value)?)
}
