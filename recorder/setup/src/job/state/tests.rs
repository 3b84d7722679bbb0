use super::*;
use crate::Environment;

fn state(statuses: &[Option<i64>]) -> State {
    let environment = Environment::default();
    let mut state = State::new(Resolved::default(), &environment);
    state.kernels = Some(Setup::new(Backend::Cuda, &environment));
    let entry = |(n, status): (usize, &Option<i64>)| Entry {
        id: n.to_string(),
        kind: Kind::Env,
        status: *status,
        unrecorded: 0,
        unrecorded_python: 0,
    };
    state.sessions = statuses.iter().enumerate().map(entry).collect();
    state
}

fn with_python(mut state: State) -> State {
    state.python = Some(Setup::new(Backend::Python, &Environment::default()));
    state
}

/// The sidecar of one recorder.
fn sidecar(state: &State, part: Part) -> SidecarDocument {
    let mut sidecars = state.sidecars().into_iter();
    sidecars.find(|(found, _)| *found == part).unwrap().1
}

fn kernels(state: &State) -> SidecarDocument {
    sidecar(state, Part::Kernels)
}

#[test]
fn a_job_has_ended_when_all_of_it_has() {
    for (statuses, expected) in [
        (&[][..], None),
        (&[Some(0)], Some(0)),
        (&[Some(0), None], None),
        (&[Some(7), None], None),
        (&[Some(0), Some(7), Some(3)], Some(7)),
    ] {
        assert_eq!(kernels(&state(statuses)).exit_status, expected);
    }
}

#[test]
fn a_failure_said_later_replaces_a_success_and_nothing_else_changes() {
    for (said, expected) in [
        (&[Some(0), Some(0)][..], Some(0)),
        (&[Some(0), Some(5)], Some(5)),
        (&[Some(5), Some(0)], Some(5)),
        (&[Some(5), Some(6)], Some(5)),
        (&[None, Some(0)], Some(0)),
        (&[Some(0), None], Some(0)),
    ] {
        let mut state = state(&[None]);
        for status in said {
            state.end("0", *status, 0);
        }
        assert_eq!(kernels(&state).exit_status, expected, "{said:?}");
    }
}

#[test]
fn joining_never_makes_a_job_healthier() {
    let mut first = state(&[None]);
    let mut second = state(&[None]);
    let reason = Unavailable::EnvironmentTooLarge;
    second.give_up(&reason);
    first.join(&second, false);
    let sidecar = kernels(&first);
    assert_eq!(sidecar.collection_available, Some(false));
    assert_eq!(sidecar.collection_error, Some(reason.text()));
    assert_eq!(first.sessions.len(), 2);
}

#[test]
fn each_recorder_has_a_sidecar_and_neither_speaks_for_the_other() {
    let mut state = with_python(state(&[Some(3)]));
    state.sessions[0].unrecorded_python = 1;
    state
        .python
        .as_mut()
        .unwrap()
        .give_up(&Unavailable::EnvironmentTooLarge);
    let kernels = kernels(&state);
    assert_eq!(kernels.collection_available, Some(true));
    assert_eq!(
        (kernels.collection_error, kernels.unrecorded_processes),
        (None, 0)
    );
    let python = sidecar(&state, Part::Python);
    assert_eq!(python.collection_available, Some(false));
    assert_eq!(
        (python.backend, python.unrecorded_processes),
        (Some(Backend::Python), 1)
    );
    assert_eq!(
        (kernels.exit_status, python.exit_status),
        (Some(3), Some(3))
    );
}

/// A command that one recorder was not set up for leaves a gap in what that recorder knows of the job.
#[test]
fn a_recorder_that_is_not_in_every_command_is_in_none() {
    for swapped in [false, true] {
        for (is_within, available) in [(false, false), (true, !swapped)] {
            let (mut first, mut second) = (with_python(state(&[None])), state(&[None]));
            if swapped {
                std::mem::swap(&mut first, &mut second);
            }
            first.join(&second, is_within);
            assert_eq!(kernels(&first).collection_available, Some(true));
            let python = sidecar(&first, Part::Python);
            assert_eq!(python.collection_available, Some(available));
            let word = python.collection_error.unwrap_or_default();
            assert_eq!(
                word.starts_with("not-in-every-command: "),
                !available,
                "{word}"
            );
        }
    }
}

#[test]
fn the_state_reads_back() {
    for state in [state(&[Some(0), None]), with_python(state(&[]))] {
        assert_eq!(State::parse(&state.to_bytes()).unwrap(), state);
    }
    assert!(State::parse(b"{}").is_err());
}
