//! The annotation of the build, and the files kept as the job's artifacts.

use super::agent::{call, command};
use crate::ci::Announcement;

pub(super) fn announce(announcement: &Announcement<'_>) -> Vec<String> {
    let style = announcement.style.word();
    let mut annotate = command(&[
        "annotate",
        "--style",
        style,
        "--context",
        announcement.context,
    ]);
    let annotated = call(&mut annotate, announcement.text.as_bytes());
    let files = announcement.files.join(";");
    let mut upload = command(&["artifact", "upload", &files]);
    // Names in the folder, so that its own path, whatever it is, is no pattern.
    let uploaded = call(upload.current_dir(announcement.folder), b"");
    [annotated, uploaded]
        .into_iter()
        .filter_map(|ended| ended.err().map(|error| error.to_string()))
        .collect()
}
