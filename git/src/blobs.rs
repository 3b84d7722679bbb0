//! Reading contents, hundreds of them, from one `git cat-file --batch`.

use crate::diff::BlobId;
use crate::program::start;
use crate::{GitError, ObjectId, Repo};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// The largest content that is read: 16 MiB, far more than any source file that a person wrote.
pub const MAX_BLOB_BYTES: u64 = 16 << 20;

/// The longest line that git answers with: the question repeated, and a few words.
const MAX_ANSWER_BYTES: u64 = 64 << 10;

const ACTION: &str = "cat-file";

/// A running `git cat-file`, which ends with this value.
#[derive(Debug)]
pub struct Blobs {
    repository: PathBuf,
    child: Child,
    /// `None` only while the value is dropped.
    questions: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Blobs {
    /// Starts reading from a clone.
    pub fn open(repo: &Repo) -> Result<Self, GitError> {
        let repository = repo.dir().to_path_buf();
        // What it complains of, the answers say in their way; read by nobody, its words would fill a pipe.
        let mut child = start(&repository, &[ACTION, "--batch"], Stdio::null())?;
        let pipes = (child.stdin.take(), child.stdout.take());
        let (Some(questions), Some(answers)) = pipes else {
            return Err(failed(&repository, "it has no pipes"));
        };
        Ok(Self {
            repository,
            child,
            questions: Some(questions),
            answers: BufReader::new(answers),
        })
    }

    /// The content of an object; `None` when it is not there, is no file's content, or is larger than
    /// [`MAX_BLOB_BYTES`].
    pub fn read(&mut self, id: &BlobId) -> Result<Option<Vec<u8>>, GitError> {
        self.ask(&id.to_string())
    }

    /// The content of the file at a path in a commit; `None` as for [`Self::read`]. Of a symbolic link it is where
    /// the link leads.
    pub fn at(&mut self, commit: &ObjectId, path: &str) -> Result<Option<Vec<u8>>, GitError> {
        // git reads `./x` and `../x` from the folder that it was started in; a line feed would end the question.
        let is_plain = |part: &str| !matches!(part, "" | "." | "..");
        if path.contains(['\n', '\0']) || !path.split('/').all(is_plain) {
            return Ok(None);
        }
        self.ask(&format!("{commit}:{path}"))
    }

    fn ask(&mut self, question: &str) -> Result<Option<Vec<u8>>, GitError> {
        let answer = self.exchange(question);
        answer.map_err(|error| failed(&self.repository, &error.to_string()))
    }

    fn exchange(&mut self, question: &str) -> io::Result<Option<Vec<u8>>> {
        let questions = self.questions.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        questions.write_all(format!("{question}\n").as_bytes())?;
        questions.flush()?;
        let mut head = Vec::new();
        let mut answers = (&mut self.answers).take(MAX_ANSWER_BYTES);
        answers.read_until(b'\n', &mut head)?;
        let Some(head) = head.strip_suffix(b"\n") else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        let Some((is_file, size)) = size_of(head) else {
            return Ok(None);
        };
        let mut content = (&mut self.answers).take(size + 1);
        if !is_file || size > MAX_BLOB_BYTES {
            let skipped = io::copy(&mut content, &mut io::sink())?;
            return if skipped == size + 1 {
                Ok(None)
            } else {
                Err(io::ErrorKind::UnexpectedEof.into())
            };
        }
        let mut bytes = Vec::new();
        content.read_to_end(&mut bytes)?;
        if bytes.len() as u64 != size + 1 || bytes.pop() != Some(b'\n') {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(Some(bytes))
    }
}

impl Drop for Blobs {
    fn drop(&mut self) {
        // git ends at the end of its questions. It is waited for, or it would stay as a zombie.
        self.questions = None;
        let _ = self.child.wait();
    }
}

/// Reads `<object> <kind> <size>`: whether it is a file's content, and how long. Anything else (`<question> missing`,
/// `<question> ambiguous`) says that there is nothing.
fn size_of(head: &[u8]) -> Option<(bool, u64)> {
    let head = std::str::from_utf8(head).ok()?;
    let mut words = head.split(' ');
    let (object, kind, size) = (words.next()?, words.next()?, words.next()?);
    let is_id = matches!(object.len(), 40 | 64) && object.bytes().all(|b| b.is_ascii_hexdigit());
    if !is_id || words.next().is_some() {
        return None;
    }
    Some((kind == "blob", size.parse().ok()?))
}

fn failed(repository: &std::path::Path, message: &str) -> GitError {
    GitError::Failed {
        action: ACTION,
        repository: repository.to_path_buf(),
        message: message.to_owned(),
    }
}
