//! Other clients, as the forwarders report them.

use std::sync::atomic::Ordering;

use kernrec_cupti_watch::Event;

use super::{Bound, Phase, RECORDER, Recorder, ours};

/// Another client's call is about to go to CUPTI.
pub(crate) fn before(event: Event) {
    // Without a recorder in this process yet, the forwarders remember the call.
    if RECORDER.get().is_none() {
        return;
    }
    let Some(recorder) = ours() else {
        return;
    };
    match event {
        Event::CallbacksTaken | Event::Finalized => recorder.hand_over(),
        Event::KernelsDisabled | Event::GraphLevel | Event::ModeChanged => recorder.save_records(),
        Event::DropsRead | Event::Subscribed => {}
    }
}

/// The call came back.
pub(crate) fn after(event: Event, status: i32) {
    let Some(recorder) = RECORDER.get().filter(|recorder| recorder.trace.is_ours()) else {
        return;
    };
    if status == 0 {
        if event.takes_the_stream() {
            recorder.taken.store(true, Ordering::Release);
        }
        recorder.report(event);
    } else if event.takes_the_stream()
        && recorder.cupti.is_some()
        && !recorder.taken.load(Ordering::Acquire)
    {
        recorder.move_phase(Phase::Aside, Phase::Collecting);
    }
}

impl Recorder {
    /// Leaves CUPTI without a buffer of ours. One that stays would be delivered to the new owner, who
    /// does not know it and loses the records of its own that CUPTI has put in.
    fn hand_over(&self) {
        if !self.move_phase(Phase::Collecting, Phase::Aside) {
            return;
        }
        self.take_what_is_there();
    }

    /// Takes what CUPTI has, since it may lose it when kinds or modes change.
    fn save_records(&self) {
        if self.phase() == Phase::Collecting {
            self.take_what_is_there();
        }
    }

    fn take_what_is_there(&self) {
        if let Some(Bound { cupti, .. }) = &self.cupti {
            self.drain(cupti, "handover-flush");
            self.count_drops(cupti);
        }
    }
}
